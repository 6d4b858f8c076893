import { expect, test, vi } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import { askChain, DEFAULT_TUNING } from "./chain-access";

test("a call that hangs ends at its deadline as an unavailable chain, and leaves no timer", async () => {
  vi.useFakeTimers();
  try {
    const registry = {
      get: () => ({ name: "Slow" }),
      client: () => ({}),
    } as unknown as ChainRegistry;
    const { signal } = new AbortController();
    const tuning = { ...DEFAULT_TUNING, callTimeoutMs: 1000 };
    const late = askChain({ registry, tuning }, 1, signal, () => new Promise(() => undefined));
    const outcome = expect(late).rejects.toMatchObject({
      code: "chain_unavailable",
      message: "Slow did not answer within 1000 ms. Nothing was sent; try again shortly.",
    });
    await vi.advanceTimersByTimeAsync(1000);
    await outcome;
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
