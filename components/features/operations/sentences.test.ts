import { describe, expect, test } from "vitest";
import type { Leg, Operation } from "./operation";
import { legSentence, operationTitle, statusSentence } from "./sentences";

const name = (chainId: number): string => `Local ${chainId}`;

const leg = (change: Partial<Leg>): Leg =>
  ({
    chainId: 1,
    via: "user_operation",
    confirmations: 1,
    confirmationsNeeded: 2,
    status: "processing",
    state: "bridging",
    failure: null,
    destination: null,
    refund: null,
    ...change,
  }) as Leg;
const operation = (legs: Leg[], change: Partial<Operation> = {}): Operation =>
  ({
    status: "processing",
    subStatus: "bridging",
    quoted: { to: { chainId: 3 } },
    legs,
    ...change,
  }) as Operation;

describe("an operation under way", () => {
  test("says how deep it is, where confirmations are counted", () => {
    expect(statusSentence(operation([leg({ state: "source_seen" })]), name)).toBe(
      "In a block on Local 1, 1 of 2 confirmations.",
    );
    const destination = { confirmations: 1, confirmationsNeeded: 1 } as Leg["destination"];
    expect(legSentence(leg({ state: "filled_seen", destination }), 3, name)).toBe(
      "Delivered on Local 3, 1 of 1 confirmation",
    );
  });

  test("is as far as its slowest leg, and counts what arrived", () => {
    const legs = [
      leg({ state: "completed", status: "completed" }),
      leg({ state: "filled_seen" }),
      leg({ state: "submitted", chainId: 2 }),
    ];
    expect(statusSentence(operation(legs), name)).toBe(
      "1 of 3 parts arrived. Slowest: sent to Local 2, not in a block yet.",
    );
  });

  test("says so when it is late or on its way back", () => {
    expect(statusSentence(operation([leg({})], { subStatus: "delayed" }), name)).toBe(
      "On the way from Local 1 to Local 3, 1 of 2 confirmations on Local 1. It takes longer than usual.",
    );
    const legs = [leg({ state: "submitted" }), leg({ state: "refunding" })];
    expect(statusSentence(operation(legs, { subStatus: "refunding" }), name)).toMatch(
      /not delivered in time/,
    );
  });

  test("says whose transaction it waits for, and who uses a permit", () => {
    expect(legSentence(leg({ state: "submitted", via: "transaction" }), 3, name)).toMatch(
      /the wallet's own transaction/,
    );
    expect(legSentence(leg({ state: "queued", via: "permit" }), 3, name)).toMatch(
      /treasury .* permit/,
    );
  });

  test("whose source was refused is not called delivered", () => {
    const failure = { code: "source_reverted", message: "", retryable: true };
    expect(legSentence(leg({ state: "source_seen", failure }), 3, name)).toMatch(
      /^Refused by Local 1/,
    );
  });
});

test.each([
  ["completed", "full"],
  ["failed", "full"],
  ["refunded", "partial"],
  ["expired", "awaiting_approval"],
  ["cancelled", "prepared"],
  ["pending", "awaiting_approval"],
  ["pending", "awaiting_signature"],
] as const)("an operation that is %s, %s is described by the service", (status, subStatus) => {
  const outcome = { sentence: "The service's own words.", holds: [], nextAction: "" };
  const legs = [leg({ state: "queued" })];
  expect(statusSentence(operation(legs, { status, subStatus, outcome }), name)).toBe(
    outcome.sentence,
  );
});

test("of a leg whose money may have moved all the same, the sentence does not say where it is", () => {
  const failure = { code: "not_sent", message: "", retryable: false };
  const unclear = leg({ state: "failed", status: "failed", failure });
  expect(legSentence(unclear, 3, name)).toBe(
    "Failed; whether the money left the wallet on Local 1 is not certain",
  );
});

const token = (symbol: string, decimals: number) => ({
  symbol,
  assetId: symbol.toLowerCase(),
  decimals,
});
const words = { addressName: () => "Ada", hidden: false, locale: "en" };

const operationOf = (change: {
  status?: string;
  received?: string;
  out?: string;
}): Operation => {
  const to = change.out === "USDC" ? token("USDC", 6) : token("WETH", 18);
  return {
    status: change.status ?? "processing",
    quoted: {
      from: [
        { amount: "120", token: token("USDC", 6) },
        { amount: "80", token: token("USDC", 6) },
      ],
      to: { amount: "0.066630215", token: to, address: "0x1" },
    },
    actual: { received: { amount: change.received ?? "0" } },
    deposit: null,
  } as unknown as Operation;
};

test("a swap is named by what is sent and what is expected", () => {
  expect(operationTitle(operationOf({}), words)).toBe("200.00 USDC → 0.0666302 WETH");
});

test("a completed swap is named by what arrived", () => {
  const completed = operationOf({ status: "completed", received: "0.0701" });
  expect(operationTitle(completed, words)).toBe("200.00 USDC → 0.0701 WETH");
});

test("a cancelled swap does not say that nothing arrived in its title", () => {
  expect(operationTitle(operationOf({ status: "cancelled" }), words)).toBe(
    "200.00 USDC → 0.0666302 WETH",
  );
});

test("a transfer is named by its recipient", () => {
  expect(operationTitle(operationOf({ out: "USDC" }), words)).toBe("200.00 USDC → Ada");
});

test("a deposit of coins, which has no sources, is named by what came into which wallet", () => {
  const coins = { received: { amount: "1.5", token: token("ETH", 18) }, walletAddress: "0x1" };
  const deposit = {
    ...operationOf({}),
    quoted: { from: [] },
    deposit: coins,
  } as unknown as Operation;
  expect(operationTitle(deposit, words)).toBe("1.5 ETH → Ada");
  expect(operationTitle(deposit, { ...words, hidden: true })).toBe("ETH → Ada");
});

test("hidden amounts are not in the title", () => {
  expect(operationTitle(operationOf({}), { ...words, hidden: true })).toBe("USDC → WETH");
});
