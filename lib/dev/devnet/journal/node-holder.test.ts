import { expect, test } from "vitest";
import { createNodeHolder } from "./node-holder";
import type { RestoredNode } from "./restore";

/** A node that never ends by itself. */
const silentNode = (): RestoredNode => ({
  anvil: {
    chainId: 1,
    rpcUrl: "",
    port: 1,
    pid: 1,
    exited: new Promise(() => undefined),
    stop: () => Promise.resolve(),
  },
  node: {
    port: 1,
    call: () => Promise.resolve({ result: null }),
    ask: () => Promise.resolve(null),
    close: () => undefined,
  },
  clockOffset: 0,
  steps: 0,
  lastOutcomes: [],
});

test("a node that ends again and again is restarted after longer and longer pauses, the last of which repeats", async () => {
  const pauses: number[] = [];
  const pause = (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const holder = createNodeHolder(() => undefined, { pause });
  for (let start = 0; start < 9; start += 1)
    await holder.replace(() => Promise.resolve(silentNode()));
  // The first node of a chain starts at once.
  expect(pauses).toEqual([0, 250, 500, 1_000, 2_000, 5_000, 5_000, 5_000]);
});

test("a start that fails counts as an end: the next one waits", async () => {
  const pauses: number[] = [];
  const pause = (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const holder = createNodeHolder(() => undefined, { pause });
  await expect(holder.replace(() => Promise.reject(new Error("no port")))).rejects.toThrow(
    "no port",
  );
  await holder.replace(() => Promise.resolve(silentNode()));
  expect(pauses).toEqual([250]);
});
