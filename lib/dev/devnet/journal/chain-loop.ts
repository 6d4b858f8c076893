import { z } from "zod";
import { applyRecord, headOf } from "./apply";
import { createBlockRhythm, type BlockRhythm } from "./block-rhythm";
import { kindOf } from "./calls";
import { createChainClock, type ChainClock } from "./chain-clock";
import type { ChainJournal } from "./chain-journal";
import type { NodeHolder } from "./node-holder";
import { createTurns, failure } from "./chain-turns";
import { NodeGoneError, type Outcome } from "./node-client";
import type { JournalRecord, NodeCall } from "./record";
import type { RestoredNode } from "./restore";

/** Maximum number of calls in one block. */
const CALLS_PER_BLOCK = 100;
/**
 * After a block with at least this many transactions, the loop checks whether some are left in the
 * pool.
 */
const MAY_BE_FULL = 10;
/**
 * Number of blocks that are made immediately after a restoration. A node has no state of blocks
 * before its start, but the service reads balances at final blocks, a few below the latest.
 */
const BLOCKS_AT_START = 3;

interface Waiting {
  readonly call: NodeCall;
  readonly answer: (outcome: Outcome) => void;
}

export interface ChainLoop {
  /**
   * Runs one call that changes the chain; resolves when the call is in the journal and in the
   * chain.
   */
  submit(call: NodeCall): Promise<Outcome>;
  /** Makes the loop look for work immediately. */
  wake(): void;
  /** Stores the state of a chain that is still small, between two records. */
  dumpSmall(): Promise<void>;
  /** Calls back after each block for which transactions were sent. */
  onTransactions(called: () => void): () => void;
  /** Resolves when the first node runs. @throws the error of the first start */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const poolStatus = z.object({ pending: z.string() });

interface LoopOptions {
  readonly holder: NodeHolder;
  readonly journal: ChainJournal;
  readonly log: (message: string) => void;
  /** Called when a different node has taken over. */
  readonly onNode: () => void;
}

/** The state of one loop. */
interface Loop extends LoopOptions {
  readonly clock: ChainClock;
  readonly rhythm: BlockRhythm;
  readonly queue: (Waiting | (() => Promise<void>))[];
  readonly listeners: Set<() => void>;
  /** Number of the latest block. */
  head: number;
  /** Calls in the journal that are not answered yet. */
  unanswered: readonly Waiting[];
  isStopped: boolean;
  wakeUp: () => void;
}

/** @throws NodeGoneError while no node runs */
const currentNode = ({ holder }: Loop): RestoredNode => {
  const up = holder.current();
  if (up === null) throw new NodeGoneError(null);
  return up;
};

/** Writes calls (and a block) to the journal, then sends them to the node. */
const record = async (
  loop: Loop,
  { node }: RestoredNode,
  { calls, makesBlock }: { readonly calls: readonly NodeCall[]; readonly makesBlock: boolean },
): Promise<Outcome[]> => {
  const block = makesBlock ? { number: loop.head + 1, time: loop.clock.next() } : null;
  const next: JournalRecord = { calls, block, clockOffset: loop.clock.offset() };
  loop.journal.append(next);
  if (block !== null) loop.head = block.number;
  return applyRecord(node, next);
};

const mineBlock = (loop: Loop, up: RestoredNode): Promise<Outcome[]> =>
  record(loop, up, { calls: [], makesBlock: true });

const answerAll = (waiting: readonly Waiting[], outcomes: readonly Outcome[]): void => {
  waiting.forEach(({ answer }, index) =>
    answer(
      outcomes[index] ?? failure("The local chain was restarted; look whether it took effect."),
    ),
  );
};

const tellListeners = ({ listeners }: Loop): void => {
  for (const called of listeners) called();
};

/** Queues another block when the last block left transactions in the pool. */
const emptyPool = async (loop: Loop, up: RestoredNode): Promise<void> => {
  const { pending } = poolStatus.parse(await up.node.ask("txpool_status", []));
  if (Number(pending) > 0)
    loop.queue.unshift(() => mineBlock(loop, currentNode(loop)).then(() => undefined));
};

/**
 * Takes the calls at the front of the queue, and makes a block when a transaction is among them.
 */
const takeCalls = async (loop: Loop, up: RestoredNode): Promise<void> => {
  const { queue, rhythm } = loop;
  const end = queue.findIndex((item) => typeof item === "function");
  const group = queue.splice(
    0,
    Math.min(end < 0 ? queue.length : end, CALLS_PER_BLOCK),
  ) as Waiting[];
  const transactions = group.filter(({ call }) => kindOf(call[0]) === "transaction").length;
  const calls = group.map(({ call }) => call);
  loop.unanswered = group;
  let outcomes: Outcome[];
  try {
    outcomes = await record(loop, up, { calls, makesBlock: transactions > 0 });
  } catch (error) {
    if (error instanceof NodeGoneError) throw error;
    loop.unanswered = [];
    const failed = failure(`The local chain cannot write its journal. ${String(error)}`);
    answerAll(
      group,
      group.map(() => failed),
    );
    return;
  }
  loop.unanswered = [];
  answerAll(group, outcomes);
  if (transactions === 0) return;
  rhythm.used();
  tellListeners(loop);
  if (transactions >= MAY_BE_FULL) await emptyPool(loop, up);
};

/**
 * Runs `work` between two journal records. Repeats it on the next node when the node ends during
 * it.
 */
const inTurn = (loop: Loop, work: (up: RestoredNode) => Promise<Outcome>): Promise<Outcome> =>
  new Promise((resolve) => {
    const item = async (): Promise<void> => {
      try {
        resolve(await work(currentNode(loop)));
      } catch (error) {
        if (!(error instanceof NodeGoneError)) {
          resolve(failure(error instanceof Error ? error.message : String(error)));
          return;
        }
        loop.queue.unshift(item);
        throw error;
      }
    };
    loop.queue.push(item);
    loop.wakeUp();
  });

const dump = async (loop: Loop, up: RestoredNode, isSmall: boolean): Promise<void> => {
  const { clock, journal } = loop;
  const { number, time } = await headOf(up.node);
  loop.head = number;
  clock.reset({ offset: clock.offset(), last: time });
  await journal.dump(up.node, clock.offset(), isSmall);
};

/**
 * Starts another node from the journal, and answers the calls that the previous one left
 * unanswered.
 */
const bringUp = async (loop: Loop): Promise<void> => {
  const { holder, journal, clock, rhythm } = loop;
  const up = await holder.replace(() => journal.restore());
  loop.onNode();
  const { number, time } = await headOf(up.node);
  loop.head = number;
  clock.reset({ offset: up.clockOffset, last: time });
  const waiting = loop.unanswered;
  loop.unanswered = [];
  answerAll(waiting, up.lastOutcomes);
  for (let made = 0; made < BLOCKS_AT_START; made += 1) await mineBlock(loop, up);
  rhythm.made();
  tellListeners(loop);
};

const step = async (loop: Loop): Promise<void> => {
  const { queue, rhythm } = loop;
  const up = currentNode(loop);
  await loop.journal.tend(up.node, loop.clock.offset());
  const [first] = queue;
  if (typeof first === "function") {
    queue.shift();
    await first();
  } else if (first !== undefined) await takeCalls(loop, up);
  if (rhythm.dueIn() > 0) return;
  rhythm.made();
  await mineBlock(loop, up);
};

/** Resolves when there is work: a call, a due block, or the end. */
const rest = (loop: Loop): Promise<void> =>
  new Promise((resolve) => {
    if (loop.queue.length > 0 || loop.isStopped) {
      resolve();
      return;
    }
    const timer = setTimeout(resolve, loop.rhythm.dueIn());
    loop.wakeUp = () => {
      clearTimeout(timer);
      resolve();
    };
  });

const hasStopped = (loop: Loop): boolean => loop.isStopped;

const run = async (loop: Loop): Promise<void> => {
  while (!hasStopped(loop)) {
    try {
      if (loop.holder.current() === null) await bringUp(loop);
      await step(loop);
    } catch (error) {
      if (hasStopped(loop)) return;
      loop.log(error instanceof Error ? error.message : String(error));
      // A node that does not answer is replaced like one that ended.
      if (error instanceof NodeGoneError) await loop.holder.drop();
    }
    await rest(loop);
  }
};

/**
 * Serialises all changes of one chain: a call is written to the journal, then run by the node, then
 * answered. When the node ends meanwhile, another one is restored from the journal, and its results
 * are returned.
 */
export const createChainLoop = (options: LoopOptions): ChainLoop => {
  const clock = createChainClock();
  const loop: Loop = {
    ...options,
    clock,
    rhythm: createBlockRhythm(),
    queue: [],
    listeners: new Set(),
    head: 0,
    unanswered: [],
    isStopped: false,
    wakeUp: () => undefined,
  };
  const { queue, listeners } = loop;
  let running: Promise<void> = Promise.resolve();
  const turns = createTurns({
    inTurn: (work) => inTurn(loop, work),
    clock,
    mine: (up) => mineBlock(loop, up),
    note: (up) => record(loop, up, { calls: [], makesBlock: false }),
    dump: (up, isSmall) => dump(loop, up, isSmall),
  });

  return {
    submit: (call) => {
      const kind = kindOf(call[0]);
      if (loop.isStopped) return Promise.resolve(failure("The local chain is stopping."));
      if (kind === "mine" || kind === "clock" || kind === "opaque") return turns[kind](call);
      return new Promise((answer) => {
        queue.push({ call, answer });
        loop.wakeUp();
      });
    },
    wake: () => loop.wakeUp(),
    dumpSmall: async () => {
      const outcome = await inTurn(loop, async (up) => {
        await dump(loop, up, true);
        return { result: null };
      });
      if ("error" in outcome) throw new Error(JSON.stringify(outcome.error));
    },
    onTransactions: (called) => {
      listeners.add(called);
      return () => void listeners.delete(called);
    },
    start: async () => {
      await bringUp(loop);
      running = run(loop);
    },
    stop: async () => {
      loop.isStopped = true;
      loop.holder.hurry();
      loop.wakeUp();
      await running;
      await loop.holder.stop();
      answerAll(loop.unanswered, []);
      for (const item of queue.splice(0))
        if (typeof item !== "function") item.answer(failure("The local chain is stopping."));
      await loop.journal.close();
    },
  };
};
