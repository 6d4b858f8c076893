import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex } from "viem";
import { rpc, rpcBatch } from "./json-rpc";

const CHECK_INTERVAL_MS = 1_000;
/** A save may take this share of the time at most, so that a long history does not slow the chain down. */
const REST_PER_SAVE = 10;
/** More new blocks than this are not looked at one by one: they count as changed. */
const BLOCKS_CHECKED_MAX = 50;

interface SaverOptions {
  readonly rpcUrl: string;
  readonly save: () => Promise<void>;
  readonly log: (message: string) => void;
}

export interface Saver {
  stop(): Promise<void>;
}

const hasTransactions = async (rpcUrl: string, from: number, to: number): Promise<boolean> => {
  if (to - from > BLOCKS_CHECKED_MAX) return true;
  const calls = Array.from({ length: Math.max(0, to - from) }, (_, index) => ({
    method: "eth_getBlockTransactionCountByNumber",
    params: [numberToHex(from + 1 + index)],
  }));
  return (await rpcBatch(rpcUrl, calls)).some((count) => Number(count) > 0);
};

/**
 * Saves a chain within about a second of each block that holds a transaction. Blocks without any are not worth a save: after
 * a kill the chain makes others like them.
 */
export const startSaver = ({ rpcUrl, save, log }: SaverOptions): Saver => {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    let seen: number | null = null;
    let changed = false;
    while (!stopped.signal.aborted) {
      let restMs = CHECK_INTERVAL_MS;
      try {
        const latest = Number(await rpc(rpcUrl, "eth_blockNumber"));
        changed ||= seen !== null && (await hasTransactions(rpcUrl, seen, latest));
        seen = latest;
        if (changed) {
          const before = performance.now();
          await save();
          changed = false;
          restMs = Math.max(restMs, (performance.now() - before) * REST_PER_SAVE);
        }
      } catch (error) {
        log(`Saving the chain at ${rpcUrl} has to wait: ${error instanceof Error ? error.message : "unknown"}`);
      }
      await sleep(restMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
    }
  };
  const done = run();
  return {
    stop: async () => {
      stopped.abort();
      await done;
    },
  };
};
