import { expect, test } from "vitest";
import { createKeyedQueue } from "./keyed-queue";

const gate = () => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
};

test("work of one key runs in order, also after a failure, and work of another key does not wait", async () => {
  const queue = createKeyedQueue();
  const seen: string[] = [];
  const first = gate();
  const failing = queue.run("a", async () => {
    await first.opened;
    seen.push("a1");
    throw new Error("a1 failed");
  });
  const second = queue.run("a", () => Promise.resolve(seen.push("a2")));
  await queue.run("b", () => Promise.resolve(seen.push("b1")));
  expect(seen).toEqual(["b1"]);
  first.open();
  await expect(failing).rejects.toThrow("a1 failed");
  await second;
  expect(seen).toEqual(["b1", "a1", "a2"]);
});

test("two callers that need the same keys in another order do not wait for each other", async () => {
  const queue = createKeyedQueue();
  let active = 0;
  const work = async (): Promise<void> => {
    active += 1;
    expect(active).toBe(1);
    await Promise.resolve();
    active -= 1;
  };
  await Promise.all([
    queue.runAll(["a", "b"], work),
    queue.runAll(["b", "a"], work),
    queue.runAll(["a", "a"], work),
  ]);
});

test("callers above the limit of a key are refused, and a key without work is forgotten", async () => {
  const queue = createKeyedQueue({ waitingMax: 2, onFull: () => new Error("full") });
  const first = gate();
  const kept = [queue.run("a", () => first.opened), queue.run("a", () => Promise.resolve())];
  await expect(queue.run("a", () => Promise.resolve())).rejects.toThrow("full");
  expect(queue.size()).toBe(1);
  first.open();
  await Promise.all(kept);
  expect(queue.size()).toBe(0);
  await expect(queue.run("a", () => Promise.resolve(1))).resolves.toBe(1);
});

test("at most `atOnceMax` callers of a key run at once, and the next one begins when any of them has ended", async () => {
  const queue = createKeyedQueue({ atOnceMax: 2 });
  const began: number[] = [];
  const gates = [gate(), gate(), gate(), gate()];
  const runs = gates.map(({ opened }, index) =>
    queue.run("a", () => {
      began.push(index);
      return opened;
    }),
  );
  expect(began).toEqual([0, 1]);
  gates[1]?.open();
  await runs[1];
  expect(began).toEqual([0, 1, 2]);
  gates[2]?.open();
  await runs[2];
  expect(began).toEqual([0, 1, 2, 3]);
  gates[0]?.open();
  gates[3]?.open();
  await Promise.all(runs);
  expect(queue.size()).toBe(0);
});
