import { z } from "zod";
import { rpc, rpcBatch } from "./json-rpc";
import { freeStuckTransactions } from "./stuck";

const LOOK_INTERVAL_MS = 250;
const BLOCK_INTERVAL_MS = 1_000;
const REST_INTERVAL_MS = 5_000;
const REST_AFTER_MS = 300_000;
/** Timers may fire slightly early. */
const TIMER_TOLERANCE_MS = 100;

const poolStatus = z.object({ queued: z.string() });

/**
 * Makes a block each second, so that confirmations and deadlines advance without transactions, and frees stuck
 * transactions. After five minutes without a transaction it makes a block every five seconds until the next one: each
 * block makes anvil larger and slower (80 MB and 5 ms per block after ten thousand), and a chain should be able to run
 * for days.
 */
export const startBlocks = (rpcUrl: string): { stop: () => void } => {
  let expected = -1;
  let minedAt = 0;
  let usedAt = performance.now();
  const look = async (): Promise<void> => {
    const [number, status] = await rpcBatch(rpcUrl, [{ method: "eth_blockNumber" }, { method: "txpool_status" }]);
    if (Number(poolStatus.parse(status).queued) > 0) await freeStuckTransactions(rpcUrl);
    const latest = Number(number);
    const now = performance.now();
    // A block that we did not request contains a transaction.
    if (latest !== expected) usedAt = now;
    expected = latest;
    const interval = now - usedAt > REST_AFTER_MS ? REST_INTERVAL_MS : BLOCK_INTERVAL_MS;
    if (now - minedAt < interval - TIMER_TOLERANCE_MS) return;
    await rpc(rpcUrl, "evm_mine");
    minedAt = now;
    expected = latest + 1;
  };
  let busy = false;
  const done = (): void => {
    busy = false;
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look().then(done, done);
  }, LOOK_INTERVAL_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
};
