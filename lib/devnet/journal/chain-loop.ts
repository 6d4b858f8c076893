import { z } from "zod";
import { applyRecord, headOf } from "./apply";
import { createBlockRhythm } from "./block-rhythm";
import { kindOf } from "./calls";
import { createChainClock } from "./chain-clock";
import type { ChainJournal } from "./chain-journal";
import type { NodeHolder } from "./node-holder";
import { createTurns, failure } from "./chain-turns";
import { NodeGoneError, type Outcome } from "./node-client";
import type { JournalRecord, NodeCall } from "./record";
import type { RestoredNode } from "./restore";

/** Calls that one block takes at most. */
const CALLS_PER_BLOCK = 100;
/** A block of so many transactions may have left some in the pool. */
const MAY_BE_FULL = 10;
/**
 * Number of blocks that are made immediately after a restoration. A node has no state of blocks before its start, and the service reads
 * balances at final blocks, which lie a few below the latest.
 */
const BLOCKS_AT_START = 3;

interface Waiting {
  readonly call: NodeCall;
  readonly answer: (outcome: Outcome) => void;
}

export interface ChainLoop {
  /** Does one call that changes the chain; resolves when it is in the journal and in the chain. */
  submit(call: NodeCall): Promise<Outcome>;
  /** Looks whether there is something to do. */
  wake(): void;
  /** Keeps the state of a chain that is still small, in turn. */
  dumpSmall(): Promise<void>;
  /** Calls back after each block that transactions were sent for. */
  onTransactions(called: () => void): () => void;
  /** Resolves at the first time that the chain is there. @throws whatever the first start throws */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const poolStatus = z.object({ pending: z.string() });

/**
 * Makes everything that changes one chain happen one after the other: what came is written into the journal, then done by the
 * node, then answered. When the node ends meanwhile, another one is made from the journal, and answers.
 */
export const createChainLoop = (options: {
  readonly holder: NodeHolder;
  readonly journal: ChainJournal;
  readonly log: (message: string) => void;
  /** Another node has taken over. */
  readonly onNode: () => void;
}): ChainLoop => {
  const { holder, journal, log, onNode } = options;
  const clock = createChainClock();
  const rhythm = createBlockRhythm();
  const queue: (Waiting | (() => Promise<void>))[] = [];
  const listeners = new Set<() => void>();
  let head = 0;
  /** In the journal, and not answered yet. */
  let unanswered: readonly Waiting[] = [];
  let isStopped = false;
  let wakeUp: () => void = () => undefined;
  let running: Promise<void> = Promise.resolve();

  const record = async (
    { node }: RestoredNode,
    calls: readonly NodeCall[],
    makesBlock: boolean,
  ): Promise<Outcome[]> => {
    const block = makesBlock ? { number: head + 1, time: clock.next() } : null;
    const next: JournalRecord = { calls, block, clockOffset: clock.offset() };
    journal.append(next);
    if (block !== null) head = block.number;
    return applyRecord(node, next);
  };

  const answerAll = (waiting: readonly Waiting[], outcomes: readonly Outcome[]): void => {
    waiting.forEach(({ answer }, index) =>
      answer(outcomes[index] ?? failure("The local chain was restarted; look whether it took effect.")),
    );
  };

  /** Transactions and changes that wait in a row, and a block when a transaction is among them. */
  const takeCalls = async (up: RestoredNode): Promise<void> => {
    const end = queue.findIndex((item) => typeof item === "function");
    const group = queue.splice(0, Math.min(end < 0 ? queue.length : end, CALLS_PER_BLOCK)) as Waiting[];
    const transactions = group.filter(({ call }) => kindOf(call[0]) === "transaction").length;
    const calls = group.map(({ call }) => call);
    unanswered = group;
    let outcomes: Outcome[];
    try {
      outcomes = await record(up, calls, transactions > 0);
    } catch (error) {
      if (error instanceof NodeGoneError) throw error;
      unanswered = [];
      answerAll(
        group,
        group.map(() => failure(`The local chain cannot write its journal. ${String(error)}`)),
      );
      return;
    }
    unanswered = [];
    answerAll(group, outcomes);
    if (transactions === 0) return;
    rhythm.used();
    for (const called of listeners) called();
    if (transactions >= MAY_BE_FULL) await emptyPool(up);
  };

  const emptyPool = async (up: RestoredNode): Promise<void> => {
    const { pending } = poolStatus.parse(await up.node.ask("txpool_status", []));
    if (Number(pending) > 0) queue.unshift(() => record(current(), [], true).then(() => undefined));
  };

  const current = (): RestoredNode => {
    const up = holder.current();
    if (up === null) throw new NodeGoneError(null);
    return up;
  };

  /** Does `work` in its turn, between two records; again on another node when the node ends meanwhile. */
  const inTurn = (work: (up: RestoredNode) => Promise<Outcome>): Promise<Outcome> =>
    new Promise((resolve) => {
      const item = async (): Promise<void> => {
        try {
          resolve(await work(current()));
        } catch (error) {
          if (!(error instanceof NodeGoneError)) {
            resolve(failure(error instanceof Error ? error.message : String(error)));
            return;
          }
          queue.unshift(item);
          throw error;
        }
      };
      queue.push(item);
      wakeUp();
    });

  const dump = async (up: RestoredNode, isSmall: boolean): Promise<void> => {
    const { number, time } = await headOf(up.node);
    head = number;
    clock.reset({ offset: clock.offset(), last: time });
    await journal.dump(up.node, clock.offset(), isSmall);
  };

  const turns = createTurns({
    inTurn,
    clock,
    mine: (up) => record(up, [], true),
    note: (up) => record(up, [], false),
    dump,
  });

  const bringUp = async (): Promise<void> => {
    const up = await holder.replace(() => journal.restore());
    onNode();
    const { number, time } = await headOf(up.node);
    head = number;
    clock.reset({ offset: up.clockOffset, last: time });
    const waiting = unanswered;
    unanswered = [];
    answerAll(waiting, up.lastOutcomes);
    for (let made = 0; made < BLOCKS_AT_START; made += 1) await record(up, [], true);
    rhythm.made();
    for (const called of listeners) called();
  };

  const step = async (): Promise<void> => {
    const up = current();
    await journal.tend(up.node, clock.offset());
    const [first] = queue;
    if (typeof first === "function") {
      queue.shift();
      await first();
    } else if (first !== undefined) await takeCalls(up);
    if (rhythm.dueIn() > 0) return;
    rhythm.made();
    await record(up, [], true);
  };

  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      if (queue.length > 0 || isStopped) {
        resolve();
        return;
      }
      const timer = setTimeout(resolve, rhythm.dueIn());
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const hasStopped = (): boolean => isStopped;

  const run = async (): Promise<void> => {
    while (!hasStopped()) {
      try {
        if (holder.current() === null) await bringUp();
        await step();
      } catch (error) {
        if (hasStopped()) return;
        log(error instanceof Error ? error.message : String(error));
        // A node that lost its way is of no more use than one that ended.
        if (error instanceof NodeGoneError) await holder.drop();
      }
      await rest();
    }
  };

  return {
    submit: (call) => {
      const kind = kindOf(call[0]);
      if (isStopped) return Promise.resolve(failure("The local chain is stopping."));
      if (kind === "mine" || kind === "clock" || kind === "opaque") return turns[kind](call);
      return new Promise((answer) => {
        queue.push({ call, answer });
        wakeUp();
      });
    },
    wake: () => wakeUp(),
    dumpSmall: async () => {
      const outcome = await inTurn(async (up) => {
        await dump(up, true);
        return { result: null };
      });
      if ("error" in outcome) throw new Error(JSON.stringify(outcome.error));
    },
    onTransactions: (called) => {
      listeners.add(called);
      return () => void listeners.delete(called);
    },
    start: async () => {
      await bringUp();
      running = run();
    },
    stop: async () => {
      isStopped = true;
      holder.hurry();
      wakeUp();
      await running;
      await holder.stop();
      answerAll(unanswered, []);
      for (const item of queue.splice(0))
        if (typeof item !== "function") item.answer(failure("The local chain is stopping."));
      await journal.close();
    },
  };
};
