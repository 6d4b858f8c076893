import { expect, test } from "vitest";
import { createMetrics, gauge } from "./metric-registry";

const NAME = "test_metric_registry_value";

test("a sample that fails, and one that does not come, keep nothing else back", async () => {
  const value = gauge({ name: NAME, help: "Of this test" });
  const warned: object[] = [];
  const { render } = createMetrics({
    samplers: {
      good: () => {
        value.set(7);
        return Promise.resolve();
      },
      broken: () => Promise.reject(new Error("away")),
      silent: () => new Promise(() => undefined),
    },
    log: { warn: (fields) => warned.push(fields) },
    timeoutMs: 1,
  });
  const text = await render();
  expect(text).toContain(`${NAME} 7`);
  expect(text).toContain('causeway_metrics_failures_total{sampler="broken"} 1');
  expect(text).toContain('causeway_metrics_failures_total{sampler="silent"} 1');
  expect(warned).toHaveLength(2);
});

test("readers at the same time share one sample, and the next one takes a new one", async () => {
  let taken = 0;
  const { render } = createMetrics({
    samplers: {
      count: () => {
        taken += 1;
        return Promise.resolve();
      },
    },
    log: { warn: () => undefined },
  });
  await Promise.all([render(), render(), render()]);
  expect(taken).toBe(1);
  await render();
  expect(taken).toBe(2);
});

test("a metric that is made twice is one", () => {
  expect(gauge({ name: NAME, help: "Of this test" })).toBe(gauge({ name: NAME, help: "Of this test" }));
});
