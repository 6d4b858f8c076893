import { afterEach, expect, test } from "vitest";
import { currentTraceparent, inSpan, isTracing, setTracing, tracedService } from "./tracing";

afterEach(() => setTracing(null));

test("without tracing the work runs directly, and a service stays the same object", () => {
  const service = { add: (a: number, b: number) => a + b };
  expect(isTracing()).toBe(false);
  expect(currentTraceparent()).toBeNull();
  expect(inSpan("step", {}, (span) => (span.set({ a: 1 }), 7))).toBe(7);
  expect(tracedService("sums", service)).toBe(service);
});

test("with tracing each function of a service is a span with the service's name, and values stay", () => {
  const names: string[] = [];
  setTracing({
    span: (name, _options, work) => {
      names.push(name);
      return work({ set: () => undefined });
    },
    current: () => "00-1-2-01",
  });
  const traced = tracedService("sums", { add: (a: number, b: number) => a + b, limit: 9 });
  expect([traced.add(2, 3), traced.limit]).toEqual([5, 9]);
  expect(names).toEqual(["sums.add"]);
  expect(currentTraceparent()).toBe("00-1-2-01");
});
