import { expect, test } from "vitest";
import { createReadinessService } from "./readiness";

const counting = () => {
  const probe = {
    name: "database",
    asked: 0,
    check: (): Promise<string> => {
      probe.asked += 1;
      return Promise.resolve(`answer ${String(probe.asked)}`);
    },
  };
  return probe;
};

test("a flood asks each part once a second", async () => {
  let nowMs = 0;
  const probe = counting();
  const service = createReadinessService([probe], { monotonicMs: () => nowMs });
  await Promise.all(Array.from({ length: 100 }, () => service.check()));
  nowMs = 999;
  const { parts } = await service.check();
  expect([probe.asked, parts[0]?.detail]).toEqual([1, "answer 1"]);
  nowMs = 1_000;
  await Promise.all([service.check(), service.check()]);
  expect(probe.asked).toBe(2);
});

test("a part that does not answer is named after its deadline, and the others are told of", async () => {
  const silent = { name: "chain:1", check: () => new Promise<string>(() => undefined) };
  const service = createReadinessService([counting(), silent], { timeoutMs: 5 });
  expect(await service.check()).toMatchObject({
    status: "unavailable",
    parts: [
      { name: "database", ok: true },
      { name: "chain:1", ok: false, detail: "no answer in time" },
    ],
  });
});

test("an optional part that fails is named, and the service is ready", async () => {
  const wrong = {
    name: "clock",
    optional: true,
    check: () => Promise.reject(new Error("an hour ahead")),
  };
  expect(await createReadinessService([counting(), wrong]).check()).toMatchObject({
    status: "ready",
    parts: [{ ok: true }, { name: "clock", ok: false, detail: "an hour ahead" }],
  });
});
