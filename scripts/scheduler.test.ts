import { expect, test } from "vitest";
import { performAll, type Task } from "./scheduler.mjs";

const passed = { passed: 1, failed: 0 };

/** Runs the tasks; each ends one turn of the event loop after it began. @returns what was seen, in order */
const seenOf = async (tasks: readonly Task[], cores: number) => {
  const seen: string[] = [];
  let load = 0;
  let loadMax = 0;
  const performOne = async ({ name, cores: needed = 1 }: Task) => {
    seen.push(`${name} begins`);
    load += needed;
    loadMax = Math.max(loadMax, load);
    await new Promise((resolve) => setImmediate(resolve));
    load -= needed;
    seen.push(`${name} ends`);
    return name === "failing" ? { passed: 0, failed: 1 } : passed;
  };
  const totals = await performAll(tasks, { cores, performOne });
  return { seen, loadMax, totals };
};

test("a task begins after the tasks that it waits for, also when one of them failed", async () => {
  const { seen, totals } = await seenOf([{ name: "last", after: ["failing"] }, { name: "failing" }], 2);
  expect(seen).toEqual(["failing begins", "failing ends", "last begins", "last ends"]);
  expect(totals).toEqual({ passed: 1, failed: 1 });
});

test("tasks run side by side up to the number of cores, and a task that wants more than all runs alone", async () => {
  const tasks = [{ name: "a" }, { name: "b" }, { name: "c" }, { name: "wide", cores: 9 }];
  const { seen, loadMax, totals } = await seenOf(tasks, 2);
  expect(seen.slice(0, 2)).toEqual(["a begins", "b begins"]);
  expect(seen.indexOf("wide begins")).toBeGreaterThan(seen.indexOf("c ends"));
  expect([loadMax, totals.passed]).toEqual([9, 4]);
});

test("a task that waits for an unknown one is an error before any task begins", async () => {
  const begun: string[] = [];
  const performOne = ({ name }: Task) => {
    begun.push(name);
    return Promise.resolve(passed);
  };
  const tasks = [{ name: "first" }, { name: "a", after: ["nothing"] }];
  await expect(performAll(tasks, { cores: 2, performOne })).rejects.toThrow("Tasks wait for unknown ones: nothing.");
  expect(begun).toEqual([]);
});

test("tasks that wait for each other are an error, not an endless wait", async () => {
  const tasks = [
    { name: "a", after: ["b"] },
    { name: "b", after: ["a"] },
  ];
  await expect(seenOf(tasks, 2)).rejects.toThrow("No task can start: a, b.");
});
