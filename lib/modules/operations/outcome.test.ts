import { describe, expect, test } from "vitest";
import type { ChainFacts } from "@/lib/chains/shown-chain";
import { holdingsOf, nextActionOf, type LegView } from "./outcome";
import type { Operation } from "./operation";

const [ONE, TWO] = [1, 2];
const ALICE = "0x1111111111111111111111111111111111111111";
const BOB = "0x2222222222222222222222222222222222222222";
const chains: ChainFacts = {
  find: (chainId) => ({
    name: `Chain ${String(chainId)}`,
    confirmations: 1,
    nativeCurrency: { symbol: "ETH", decimals: 18 },
    tokens: [],
  }),
};

const USDC = {
  symbol: "USDC",
  name: "USDC",
  address: ALICE,
  chainId: ONE,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

const failure = (retryable: boolean) => ({ code: "not_sent", message: "It was not sent.", retryable });

const view = (owner: string, chainId: number, fields: object): LegView => {
  const token = { symbol: "ETH", address: "native", chainId, decimals: 18, assetId: null };
  const base = { amountBase: 5n, spentBase: null, receivedBase: null, refundedBase: null };
  const none = { failure: null, refundToken: null, refundTxHash: null, sourceTxHash: null, destTxHash: null };
  return {
    leg: { ...base, ...none, routeLeg: { steps: [] }, ...fields },
    source: { owner, token, amountBase: 5n },
    destination: { recipient: BOB, token },
  } as unknown as LegView;
};

const unclear = view(ALICE, ONE, { state: "failed", failure: failure(false) });
const clear = view(BOB, TWO, { state: "failed", failure: failure(true) });
const refunded = view(BOB, TWO, { state: "refunded" });
const arrived = view(BOB, TWO, { state: "completed" });

const nextOf = (status: string, views: readonly LegView[]): string =>
  nextActionOf({ status, subStatus: "full" } as Operation, views, chains);

describe("money that may have moved although its leg failed", () => {
  test("is never said to be untouched", () => {
    const partly = view(ALICE, ONE, {
      state: "failed",
      failure: failure(false),
      spentBase: 3n,
      refundedBase: 2n,
      refundToken: USDC,
    });
    for (const { note } of [...holdingsOf(unclear), ...holdingsOf(partly)])
      expect(note).toMatch(/not for certain: look at the wallet's history first/);
    expect(holdingsOf(partly)).toHaveLength(2);
    expect(holdingsOf(clear).map(({ note }) => note)).toEqual(["in the source wallet; nothing was taken"]);
  });

  test.each(["failed", "refunded", "completed"])("is to be looked for before anything is sent again (%s)", (status) => {
    const next = nextOf(status, [unclear]);
    expect(next).toContain(`${ALICE} on Chain 1`);
    expect(next).toMatch(/look at the wallet's history first, before you send anything again\.$/);
    expect(next).not.toMatch(/new quote|try again|The money is in/);
  });

  test("does not keep the money of other wallets from being sent again", () => {
    for (const other of [clear, refunded])
      expect(nextOf("refunded", [unclear, other])).toMatch(
        new RegExp(`before you send anything again\\. What is in ${BOB} on Chain 2 can be sent with a new quote\\.$`),
      );
    const sameWallet = view(ALICE, ONE, { state: "failed", failure: failure(true) });
    expect(nextOf("failed", [unclear, sameWallet])).not.toContain("new quote");
  });
});

test("money that is certainly in a wallet can be sent with a new quote", () => {
  expect(nextOf("failed", [clear])).toBe(`The money is in ${BOB} on Chain 2. Ask for a new quote to try again.`);
  expect(nextOf("completed", [arrived, clear])).toBe(
    `The rest is in ${BOB} on Chain 2; ask for a new quote to send it.`,
  );
  expect(nextOf("completed", [arrived])).toBe("Nothing to do: everything arrived.");
});
