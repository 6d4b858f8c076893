import { describe, expect, test } from "vitest";
import type { ChainFacts } from "@/lib/chain/shown-chain";
import { isFinal, TRANSITIONS, type Status } from "@/lib/core/status";
import { FUNDING_FAILED } from "./errors";
import { outcomeOf } from "./outcome";
import type { PayoutView } from "./payout-view";
import type { BatchGroup } from "./wallets/read-repository";
import { REPLACED } from "./wallets/batches/failures";

const TREASURY = "0x1111111111111111111111111111111111111111";
const ACCOUNT = "ga_payer";
const CHAIN_ID = 7;
const chains: ChainFacts = {
  find: () => ({
    name: "Chain 7",
    confirmations: 1,
    nativeCurrency: { symbol: "ETH", decimals: 18 },
    tokens: [],
  }),
};
const USDC = {
  symbol: "USDC",
  name: "USDC",
  address: "0x2222222222222222222222222222222222222222",
  chainId: CHAIN_ID,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

const failure = (code: string) => ({ code, message: "It was not paid.", retryable: true });

/** Numbers of rows by state; each row is 5 base units. */
type Rows = Partial<Record<BatchGroup["status"] | "doubt", number>>;

const ROW_BASE = 5n;

const group = (status: BatchGroup["status"], rows: number, doubts = 0): BatchGroup => ({
  payoutId: "po_1",
  token: USDC.address,
  status,
  batches: 1,
  rows,
  amountBase: BigInt(rows) * ROW_BASE,
  gasCostWei: 0n,
  mayStop: status === "queued",
  mayRetry: status === "failed",
  doubts:
    doubts === 0 ? [] : [{ batch: 0, rows: doubts, amountBase: BigInt(doubts) * ROW_BASE }],
});

const groupsOf = ({ failed = 0, doubt = 0, ...others }: Rows): BatchGroup[] => [
  ...Object.entries(others).map(([status, rows]) =>
    group(status as BatchGroup["status"], rows),
  ),
  ...(failed + doubt === 0 ? [] : [group("failed", failed + doubt, doubt)]),
];

interface Case {
  readonly status: Status;
  readonly subStatus?: string;
  readonly failure?: object | null;
  readonly isRetried?: boolean;
  /** Rows that failed separately, beside those of the batches. */
  readonly setAside?: number;
}

const KINDS = ["accounts", "treasury", "withdrawal"] as const;
type Kind = (typeof KINDS)[number];

const viewOf = (
  kind: Kind,
  rows: Rows,
  more: Case & { own?: object; total?: number },
): PayoutView => {
  const { own, setAside = 0, isRetried = false, total: given, ...state } = more;
  const sum = Object.values(rows).reduce((all, count) => all + count, setAside);
  const { paid = 0, failed = 0, doubt = 0 } = rows;
  const total = given ?? sum;
  const totalBase = BigInt(total) * ROW_BASE;
  const payout = {
    subStatus: "full",
    failure: null,
    itemsTotal: total,
    itemsCompleted: paid,
    itemsFailed: failed + doubt + setAside,
    sourceAccountId: kind === "treasury" ? null : ACCOUNT,
    currency: kind === "treasury" ? null : "usdc",
    totalBase,
    paidBase: BigInt(paid) * ROW_BASE,
    failedBase: BigInt(failed + setAside) * ROW_BASE,
    evaluationId: "evl_1",
    ...state,
  };
  const view = { payout, usd: null, isRetried };
  return (kind === "accounts"
    ? { ...view, kind: "global_accounts", asset: null }
    : {
        ...view,
        kind: "wallets",
        chains,
        coinUsd: null,
        groups: groupsOf(rows),
        own: {
          chainId: CHAIN_ID,
          fromAddress: TREASURY,
          totals: [{ token: USDC, amountBase: totalBase, rows: total }],
          fundedBy: null,
          gasWaits: [],
          ...own,
        },
      }) as unknown as PayoutView;
};

const outcome = (kind: Kind, rows: Rows, more: Parameters<typeof viewOf>[2]) =>
  outcomeOf(viewOf(kind, rows, more));

/** Where money is that was not paid, in words. */
const PLACES: Readonly<Record<Kind, string>> = {
  accounts: `in the account ${ACCOUNT}`,
  treasury: `in the treasury ${TREASURY} on Chain 7`,
  withdrawal: `in the account ${ACCOUNT}`,
};

/** A payout of three rows, by its state and the cause of its end. */
const CASES = [
  {
    what: "awaits approval",
    rows: { queued: 3 },
    state: { status: "pending", subStatus: "awaiting_approval" },
    says: "3 rows to pay once this is approved.",
    next: /^It waits for its approval: .* Nothing was paid\.$/,
  },
  {
    what: "is about to be paid",
    rows: { queued: 3 },
    state: { status: "pending", subStatus: "queued" },
    says: "0 of 3 rows paid, 3 queued.",
    next: /^Nothing to do: it is about to be paid\./,
  },
  {
    what: "runs",
    rows: { paid: 1, queued: 2 },
    state: { status: "processing", subStatus: "queued" },
    says: "1 of 3 rows paid, 2 queued.",
    next: /^Nothing to do: it (is being paid|goes on by itself)/,
  },
  {
    what: "is paid",
    rows: { paid: 3 },
    state: { status: "completed" },
    says: "3 of 3 rows paid.",
    next: /^Nothing to do: every row was paid\.$/,
  },
  {
    what: "is partly paid",
    rows: { paid: 1, failed: 2 },
    state: { status: "partially_completed", subStatus: "partial" },
    says: "1 of 3 rows paid, 2 failed.",
    next: /^1 row was paid\. The money of the other 2 rows is PLACE\. Retry pays the failed rows alone\.$/,
  },
  {
    what: "is partly paid, and its failed rows are tried again already",
    rows: { paid: 2, failed: 1 },
    state: { status: "partially_completed", subStatus: "partial", isRetried: true },
    says: "2 of 3 rows paid, 1 failed.",
    next: /^2 rows were paid\. The money of the other 1 row is PLACE\.$/,
  },
  {
    what: "failed",
    rows: { failed: 3 },
    state: { status: "failed", failure: failure("insufficient_balance") },
    says: "0 of 3 rows paid, 3 failed.",
    next: /^Nothing was paid; the money is PLACE\. Retry pays the failed rows alone\.$/,
  },
  {
    what: "was refused after its approval",
    rows: { cancelled: 3 },
    state: {
      status: "failed",
      subStatus: "awaiting_approval",
      failure: failure("policy_violation"),
    },
    says: "Approved, and refused when it was to start: none of 3 rows was paid.",
    next: /^Nothing was paid; the money is PLACE\. Create it again once the reason is gone\.$/,
  },
  {
    what: "was cancelled",
    rows: { cancelled: 3 },
    state: { status: "cancelled" },
    says: "Cancelled: none of 3 rows was paid.",
    next: /^Nothing was paid; the money is PLACE\.$/,
  },
  {
    what: "was approved by nobody in time",
    rows: { cancelled: 3 },
    state: { status: "expired", subStatus: "awaiting_approval" },
    says: "Not approved in time: none of 3 rows was paid.",
    next: /^Nothing was paid; the money is PLACE\.$/,
  },
] as const;

describe.each(KINDS)("a payout of the kind %s", (kind) => {
  test.each(CASES)(
    "that $what says so, and where its money is",
    ({ rows, state, says, next }) => {
      const { sentence, nextAction } = outcome(kind, rows, state);
      expect(sentence).toBe(says);
      expect(nextAction).toMatch(new RegExp(next.source.replace("PLACE", PLACES[kind])));
      if ("paid" in rows) expect(nextAction).not.toMatch(/Nothing was paid/);
    },
  );

  test("has words for every state, and says nothing of a retry while it may not be retried", () => {
    for (const status of Object.keys(TRANSITIONS) as Status[])
      for (const subStatus of ["created", "awaiting_approval", "queued", "bridging", "full"]) {
        const rows: Rows = isFinal(status) ? { cancelled: 2 } : { queued: 2 };
        const { sentence, nextAction } = outcome(kind, rows, { status, subStatus });
        expect(`${sentence} ${nextAction}`).not.toMatch(/undefined|null|Retry/);
        expect(sentence).toMatch(/\.$/);
      }
  });
});

const notesOf = (kind: Kind, rows: Rows, more: Parameters<typeof viewOf>[2]) =>
  outcome(kind, rows, more).holdings.map(({ wallet, amountBase, note }) => [
    wallet,
    amountBase,
    note,
  ]);

describe("the money of a payout to wallets", () => {
  test("is held in the treasury until it is sent, and the recipients' once it is mined", () => {
    const running = { status: "processing", subStatus: "queued" } as const;
    expect(
      notesOf("treasury", { paid: 1, confirmed: 1, sent: 2, unknown: 1, queued: 3 }, running),
    ).toEqual([
      ["the recipients", 5n, "received"],
      ["the recipients", 5n, "received, waiting for confirmations"],
      [TREASURY, 10n, "held until the transaction that was sent is mined"],
      [TREASURY, 5n, "offered to the chain and not seen yet: it is paid once, or stays there"],
      [TREASURY, 15n, "held until it is sent"],
    ]);
  });

  test("is the account's before a withdrawal is approved and after it was returned", () => {
    const awaiting = { status: "pending", subStatus: "awaiting_approval" } as const;
    expect(notesOf("withdrawal", { queued: 2 }, awaiting)).toEqual([
      [ACCOUNT, 10n, "until somebody approves"],
    ]);
    expect(notesOf("treasury", { queued: 2 }, awaiting)).toEqual([
      [TREASURY, 10n, "until somebody approves"],
    ]);
    const ended = { status: "partially_completed", setAside: 1 } as const;
    expect(notesOf("withdrawal", { paid: 1, failed: 1, cancelled: 1 }, ended)).toEqual([
      ["the recipients", 5n, "received"],
      [ACCOUNT, 10n, "not paid"],
      [ACCOUNT, 5n, "not sent"],
    ]);
  });

  test("that another operation may have paid is nobody's for certain, and is not to be paid again", () => {
    const doubtful = { status: "failed", failure: REPLACED } as const;
    for (const kind of ["treasury", "withdrawal"] as const) {
      const { sentence, holdings, nextAction } = outcome(kind, { doubt: 2 }, doubtful);
      expect(sentence).toBe("0 of 2 rows paid, 2 in doubt.");
      expect(holdings).toMatchObject([
        {
          wallet: TREASURY,
          amountBase: 10n,
          note: expect.stringMatching(/not certain/) as string,
        },
      ]);
      expect(nextAction).toMatch(
        /^This payout paid nothing itself\. Another operation .* 2 rows/,
      );
      expect(nextAction).not.toMatch(/Nothing was paid/);
    }
    expect(outcome("withdrawal", { doubt: 2 }, doubtful).nextAction).toContain(
      `0.00000000000000001 stays in transit and is not in the account ${ACCOUNT} again`,
    );
    const partly = outcome(
      "treasury",
      { paid: 1, failed: 1, doubt: 1 },
      {
        status: "partially_completed",
      },
    );
    expect(partly.sentence).toBe("1 of 3 rows paid, 1 failed, 1 in doubt.");
    expect(partly.nextAction).toMatch(
      /^1 row was paid\. The money of the other 1 row is in the treasury .* may have paid 1 row: do not pay them again .* Retry pays the other failed rows alone\.$/,
    );
  });

  test("is on its way while an operation brings it, and where that left it when it failed", () => {
    const own = { fundedBy: "op_1" };
    for (const state of [
      { status: "pending", subStatus: "prepared" },
      { status: "processing", subStatus: "bridging" },
    ] as const) {
      const { holdings, nextAction } = outcome("treasury", { queued: 2 }, { ...state, own });
      expect(holdings[0]?.note).toMatch(/on its way there/);
      expect(nextAction).toMatch(/the missing part is on its way/);
    }
    const failed = outcome(
      "treasury",
      { failed: 2 },
      { status: "failed", failure: failure(FUNDING_FAILED), own },
    );
    expect(failed.nextAction).toMatch(
      /^Nothing was paid\. The money that the operation op_1 was to bring is where its record says; the rest is in the treasury/,
    );
    expect(failed.holdings[0]?.note).toMatch(
      /where the operation that was to bring it left it/,
    );
  });

  test("waits for a lower network fee, and says so while rows are to be sent", () => {
    const own = {
      gasWaits: [{ chainId: CHAIN_ID, pricePerGas: 2n, capPerGas: 1n, since: new Date() }],
    };
    const running = { status: "processing", subStatus: "queued", own } as const;
    expect(outcome("treasury", { queued: 1 }, running).nextAction).toMatch(/network fee falls/);
    expect(outcome("treasury", { confirmed: 1 }, running).nextAction).toMatch(
      /goes on by itself/,
    );
  });
});

test("says how far a payout is, in the order of what people look for, with separators", () => {
  const running = { status: "processing", subStatus: "queued" } as const;
  expect(
    outcome("treasury", { paid: 812, failed: 3, sent: 100, queued: 85 }, running).sentence,
  ).toBe("812 of 1,000 rows paid, 3 failed, 100 sent, 85 queued.");
  expect(outcome("treasury", { paid: 812, unknown: 1 }, running).sentence).toBe(
    "812 of 813 rows paid, 1 being checked.",
  );
});

test("the money of a payout between accounts is on no chain", () => {
  expect(outcome("accounts", { paid: 1 }, { status: "completed" }).holdings).toEqual([]);
});
