import { describe, expect, test } from "vitest";
import type { Leg, Operation } from "@/components/features/operations/operation";
import { operationFlow } from "./operation-flow";

const WETH = { symbol: "WETH", assetId: "weth", decimals: 18 };
const USDC = { symbol: "USDC", assetId: "usdc", decimals: 6 };
const words = {
  chainName: (id: number) => `Chain ${String(id)}`,
  addressName: (address: string) => (address === "0x1" ? "Treasury" : "Ada"),
  events: [],
  nowMs: 0,
};

const legOf = (change: Partial<Leg>): Leg =>
  ({
    id: "leg_1",
    state: "completed",
    kind: "bridge",
    chainId: 1,
    walletAddress: "0x1",
    sent: { amount: "120", token: USDC },
    minimum: { amount: "0.04" },
    txHash: "0xaa",
    destination: { txHash: "0xbb" },
    refund: null,
    failure: null,
    confirmations: 2,
    confirmationsNeeded: 2,
    route: {
      estimatedSeconds: 4,
      steps: [
        { kind: "bridge", venue: "Across" },
        { kind: "transfer", venue: "Wallet" },
      ],
    },
    ...change,
  }) as unknown as Leg;

const operationOf = (change: Record<string, unknown>): Operation =>
  ({
    status: "processing",
    subStatus: "bridging",
    createdAt: "2026-01-01T00:00:00Z",
    legs: [],
    quoted: {
      from: [{ address: "0x1", chainId: 1, amount: "120", token: USDC }],
      to: { address: "0x2", chainId: 3, amount: "0.0666", minAmount: "0.0662", token: WETH },
    },
    actual: { received: { amount: "0", token: WETH } },
    ...change,
  }) as unknown as Operation;

describe("operationFlow", () => {
  test("names sources and recipient, and leaves plain transfers out of the hops", () => {
    const { legs, to } = operationFlow(operationOf({ legs: [legOf({})] }), words);
    expect(legs[0]).toMatchObject({
      from: { name: "Treasury", chainName: "Chain 1" },
      hops: [{ kind: "bridge", venue: "Across" }],
      transactions: [
        { label: "Sent", hash: "0xaa" },
        { label: "Delivered", hash: "0xbb" },
      ],
    });
    expect(to).toMatchObject({ name: "Ada", chainName: "Chain 3" });
  });

  test("shows what has arrived so far beside the minimum while parts are under way", () => {
    const legs = [legOf({}), legOf({ id: "leg_2", state: "bridging" })];
    const { to } = operationFlow(
      operationOf({ legs, actual: { received: { amount: "0.04", token: WETH } } }),
      words,
    );
    expect(to).toMatchObject({ amount: "0.04", suffix: "so far", minimum: "0.0662" });
  });

  test("shows what arrived, and no promise, once it is final", () => {
    const actual = { received: { amount: "0.0665", token: WETH } };
    const { to } = operationFlow(
      operationOf({ status: "completed", legs: [legOf({})], actual }),
      words,
    );
    expect(to).toMatchObject({ amount: "0.0665", suffix: null, minimum: null });
  });

  test("an operation that was cancelled is drawn as it was asked for, with nothing sent", () => {
    const { legs, to } = operationFlow(operationOf({ status: "cancelled" }), words);
    expect(legs).toMatchObject([
      { look: "planned", fill: 0, coin: null, sentence: "Nothing was sent" },
    ]);
    expect(to).toMatchObject({ amount: "0", minimum: null });
  });
});
