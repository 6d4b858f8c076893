import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { resultWithin, withDeadline } from "./deadline";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DEADLINE = { timeoutMs: 1000, message: "There was no answer." };

test("work that ends in time gives its result or its error, and no timer stays", async () => {
  await expect(withDeadline(Promise.resolve(7), DEADLINE)).resolves.toBe(7);
  await expect(withDeadline(Promise.reject(new Error("refused")), DEADLINE)).rejects.toThrow(
    "refused",
  );
  expect(vi.getTimerCount()).toBe(0);
});

test("work that is late is an error with the caller's message, after the deadline and not before", async () => {
  let outcome = "open";
  const late = withDeadline(new Promise(() => undefined), DEADLINE).catch((error: unknown) => {
    outcome = String(error);
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(outcome).toBe("open");
  await vi.advanceTimersByTimeAsync(1);
  await late;
  expect(outcome).toBe("Error: There was no answer.");
});

test("the caller chooses the error of work that is late", async () => {
  const errorOf = (message: string) => new RangeError(message);
  const late = withDeadline(new Promise(() => undefined), { ...DEADLINE, errorOf });
  const outcome = expect(late).rejects.toThrow(new RangeError("There was no answer."));
  await vi.advanceTimersByTimeAsync(1000);
  await outcome;
});

test("the result of work that is late is null, its error before that is the work's, and no timer stays", async () => {
  await expect(resultWithin(Promise.resolve(7), 1000)).resolves.toBe(7);
  await expect(resultWithin(Promise.reject(new Error("refused")), 1000)).rejects.toThrow(
    "refused",
  );
  expect(vi.getTimerCount()).toBe(0);
  let outcome: unknown = "open";
  const late = resultWithin(new Promise<number>(() => undefined), 1000).then(
    (result) => (outcome = result),
  );
  await vi.advanceTimersByTimeAsync(999);
  expect(outcome).toBe("open");
  await vi.advanceTimersByTimeAsync(1);
  await late;
  expect(outcome).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});
