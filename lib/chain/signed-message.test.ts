import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifySignedMessage } from "./signed-message";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const signed = {
  address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  chainId: 31337,
  message: "hello",
  signature: "0x1234",
} as const;

test("a chain that never answers is given up after its deadline", async () => {
  const never = () => new Promise<never>(() => undefined);
  const call = vi.fn(never);
  const outcome = verifySignedMessage(signed, { client: () => ({ call, getChainId: never }) });
  const refused = expect(outcome).rejects.toMatchObject({ code: "chain_unavailable" });
  await vi.waitFor(() => expect(call).toHaveBeenCalledOnce(), 8_000);
  await vi.advanceTimersByTimeAsync(5_000);
  await refused;
});

test("the call names no target and bounds its gas", async () => {
  const call = vi.fn(() => Promise.resolve({ data: "0x01" as const }));
  const chains = { client: () => ({ call, getChainId: () => Promise.resolve(31337) }) };
  expect(await verifySignedMessage(signed, chains)).toBe("contract");
  expect(call).toHaveBeenCalledExactlyOnceWith({
    data: expect.stringMatching(/^0x/) as string,
    gas: 3_000_000n,
  });
});

test.each(["0x00", "0x02", `0x1626ba7e${"00".repeat(28)}`] as const)(
  "an answer of %s is no yes",
  async (data) => {
    const call = () => Promise.resolve({ data });
    const chains = { client: () => ({ call, getChainId: () => Promise.resolve(31337) }) };
    expect(await verifySignedMessage(signed, chains)).toBeNull();
  },
);
