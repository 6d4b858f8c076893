import { expect, test } from "vitest";
import { createBlockWaits } from "./heads";

const LONG_MS = 3_600_000;
const never = new AbortController().signal;

/** A chain whose block number the test sets. `asked` counts the requests. */
const chainOf = (number: bigint | null) => {
  const chain = { number, asked: 0 };
  const head = () => {
    chain.asked += 1;
    return chain.number === null
      ? Promise.reject(new Error("No answer."))
      : Promise.resolve({ number: chain.number, timestamp: 1n });
  };
  return { chain, head };
};

test("a new block wakes everything that waits for its chain, and one loop asks for all", async () => {
  const { chain, head } = chainOf(1n);
  const { wait } = createBlockWaits({ head, pollIntervalMs: () => 1 });
  await Promise.all(Array.from({ length: 50 }, () => wait([1], LONG_MS, never)));
  expect(chain.asked).toBe(1);
  let woken = 0;
  const waits = Array.from({ length: 50 }, () =>
    wait([1, 2], LONG_MS, never).then(() => (woken += 1)),
  );
  await Promise.resolve();
  expect(woken).toBe(0);
  chain.number = 2n;
  await Promise.all(waits);
  expect(woken).toBe(50);
});

test("a wait ends by itself when the chain does not answer, and when the worker stops", async () => {
  const { head } = chainOf(null);
  const { wait } = createBlockWaits({ head, pollIntervalMs: () => 1 });
  await wait([1], 5, never);
  const controller = new AbortController();
  const waiting = wait([1], LONG_MS, controller.signal);
  controller.abort();
  await waiting;
  await wait([1], LONG_MS, controller.signal);
});
