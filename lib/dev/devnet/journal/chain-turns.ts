import { z } from "zod";
import { plainName } from "./calls";
import type { ChainClock } from "./chain-clock";
import type { Outcome } from "./node-client";
import type { NodeCall } from "./record";
import type { RestoredNode } from "./restore";

const mineOptions = z.union([
  z.object({ timestamp: z.number().optional(), blocks: z.number().optional() }),
  z.null(),
]);

export const failure = (message: string): Outcome => ({ error: { code: -32603, message } });

interface TurnsDeps {
  /** Runs work between two records, and repeats it on another node when the node ends during it. */
  readonly inTurn: (work: (up: RestoredNode) => Promise<Outcome>) => Promise<Outcome>;
  readonly clock: ChainClock;
  /** Makes a block. */
  readonly mine: (up: RestoredNode) => Promise<unknown>;
  /** Writes the clock to the journal. */
  readonly note: (up: RestoredNode) => Promise<unknown>;
  /** Stores the node's own state. */
  readonly dump: (up: RestoredNode, isSmall: boolean) => Promise<void>;
}

type Turn = (call: NodeCall) => Promise<Outcome>;

/**
 * Creates the functions that run calls which cannot share a journal record with other calls: calls
 * that make blocks, move the clock, or need a dump.
 */
export const createTurns = ({
  inTurn,
  clock,
  mine,
  note,
  dump,
}: TurnsDeps): Record<"mine" | "clock" | "opaque", Turn> => {
  const mineBlocks = (
    blocks: number,
    before: (index: number) => void,
    result: unknown,
  ): Promise<Outcome> => {
    let made = 0;
    return inTurn(async (up) => {
      while (made < blocks) {
        before(made);
        made += 1;
        await mine(up);
      }
      return { result };
    });
  };

  return {
    mine: ([method, params]) => {
      if (plainName(method) === "mine" && !method.startsWith("evm_")) {
        const [blocks = 1, interval = 0] = params.map(Number);
        return mineBlocks(blocks, (index) => clock.increase(index > 0 ? interval : 0), null);
      }
      const own = mineOptions.safeParse(
        typeof params[0] === "number" ? { timestamp: params[0] } : (params[0] ?? null),
      );
      if (!own.success)
        return Promise.resolve(failure("evm_mine takes {timestamp, blocks}, both numbers."));
      const { timestamp, blocks = 1 } = own.data ?? {};
      const setTime = (index: number): void => {
        if (timestamp !== undefined && index === 0)
          clock.follow(["evm_setNextBlockTimestamp", [timestamp]]);
      };
      return mineBlocks(blocks, setTime, "0x0");
    },

    clock: (call) =>
      inTurn(async (up) => {
        const outcome = await up.node.call(...call);
        if ("error" in outcome) return outcome;
        clock.follow(call);
        await note(up);
        return outcome;
      }),

    opaque: (call) =>
      inTurn(async (up) => {
        const outcome = await up.node.call(...call);
        if (!("error" in outcome)) await dump(up, false);
        return outcome;
      }),
  };
};
