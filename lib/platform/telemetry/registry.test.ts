import { expect, test } from "vitest";
import { createMetrics, gauge, type Sampler } from "./registry";

const NAME = "test_metric_registry_value";
const FRESH_MS = 1000;
const quiet = { warn: (): void => undefined };
const clockAt = () => {
  const time = { ms: 0 };
  return { time, clock: { now: () => new Date(time.ms) } };
};
const counting = (): { readonly sampler: Sampler; taken(): number } => {
  let taken = 0;
  const sample = (): Promise<void> => {
    taken += 1;
    return Promise.resolve();
  };
  return { sampler: { sample, freshMs: FRESH_MS }, taken: () => taken };
};

test("a sample that fails, and one that does not come, keep nothing else back", async () => {
  const value = gauge({ name: NAME, help: "Of this test" });
  const warned: object[] = [];
  const samples = {
    good: () => {
      value.set(7);
      return Promise.resolve();
    },
    broken: () => Promise.reject(new Error("away")),
    silent: () => new Promise<void>(() => undefined),
  };
  const { render } = createMetrics({
    samplers: Object.fromEntries(
      Object.entries(samples).map(([name, sample]) => [name, { sample, freshMs: FRESH_MS }]),
    ),
    log: { warn: (fields) => warned.push(fields) },
    clock: clockAt().clock,
    timeoutMs: 1,
  });
  const text = await render();
  expect(text).toContain(`${NAME} 7`);
  expect(text).toContain('causeway_metrics_sampler_errors_total{sampler="broken"} 1');
  expect(text).toContain('causeway_metrics_sampler_errors_total{sampler="silent"} 1');
  expect(warned).toHaveLength(2);
});

test("readings share a sample until it is too old", async () => {
  const { sampler, taken } = counting();
  const { time, clock } = clockAt();
  const { render } = createMetrics({ samplers: { sampler }, log: quiet, clock });
  await Promise.all([render(), render(), render()]);
  time.ms += FRESH_MS - 1;
  await render();
  expect(taken()).toBe(1);
  time.ms += 1;
  await render();
  expect(taken()).toBe(2);
  time.ms -= 2 * FRESH_MS;
  await render();
  expect(taken()).toBe(3);
});

test("a sample that hangs is not started a second time", async () => {
  let started = 0;
  const sample = (): Promise<void> => {
    started += 1;
    return new Promise(() => undefined);
  };
  const { time, clock } = clockAt();
  const samplers = { hanging: { sample, freshMs: FRESH_MS } };
  const { render } = createMetrics({ samplers, log: quiet, clock, timeoutMs: 1 });
  await render();
  time.ms += FRESH_MS;
  await render();
  expect(started).toBe(1);
});

test("a failed sample is tried again by the next reading", async () => {
  let started = 0;
  const sample = (): Promise<void> => {
    started += 1;
    return started === 1 ? Promise.reject(new Error("away")) : Promise.resolve();
  };
  const { clock } = clockAt();
  const { render } = createMetrics({
    samplers: { flaky: { sample, freshMs: FRESH_MS } },
    log: quiet,
    clock,
  });
  await render();
  await render();
  await render();
  expect(started).toBe(2);
});

test("a metric that is made twice is one", () => {
  expect(gauge({ name: NAME, help: "Of this test" })).toBe(
    gauge({ name: NAME, help: "Of this test" }),
  );
});
