import { expect, test } from "vitest";
import type { ActivityRow } from "./activity-entry";
import { activityPdf } from "./activity-pdf";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const SENT = "123456789.123456789012345678";

const amount = (symbol: string, decimals: number, value: string) => ({
  amount: value,
  token: { symbol, decimals, chainId: 1, assetId: symbol.toLowerCase() },
});

const EMPTY: ActivityRow = {
  ...{
    id: "op_1",
    kind: "transfer",
    status: "completed",
    subStatus: "full",
    createdAt: "2026-11-25T10:00:00.000Z",
  },
  ...{
    sent: [],
    received: null,
    minimum: null,
    source: null,
    counterparty: null,
    reference: null,
    transferId: null,
  },
  ...{ usd: null, memo: "", tags: [], createdBy: "usr_1" },
};

const fileOf = (...rows: readonly Partial<ActivityRow>[]): string =>
  activityPdf({
    ...{
      rows: rows.map((row) => ({ ...EMPTY, ...row })),
      filters: { from: null, to: null },
      cut: false,
    },
    ofAddress: (address) => (address === ADA ? "Ada" : undefined),
    madeAt: new Date("2026-11-25T12:00:00.000Z"),
  });

const linesOf = (file: string): string[] =>
  [...file.matchAll(/\(((?:[^()\\]|\\.)*)\) Tj/g)].map(([, line]) => line ?? "");

test("each amount is whole, with its token beside it, and the worth has cents", () => {
  const lines = linesOf(
    fileOf({
      ...{ kind: "swap_and_transfer", status: "partially_completed", usd: "7.509" },
      sent: [amount("WETH", 18, SENT), amount("USDC", 6, "20000000.000001")],
      received: amount("DAI", 18, "7.5"),
      counterparty: { type: "address", address: BOB },
    }),
  );
  const at = lines.findIndex((line) => line.startsWith("2026-11-25 10:00"));
  const [first = "", second = "", third = ""] = lines.slice(at, at + 3);
  expect(first).toContain("Swap and transfer  Partly completed");
  expect(first).toContain(`${SENT.slice(0, 20)}  WETH  `);
  expect(first).toContain(` 7.5  DAI           7.50  ${BOB}`);
  expect(second.trim()).toBe(SENT.slice(20));
  expect(third).toMatch(/^ +20000000\.000001 {2}USDC /);
});

test("the file names a recipient that has a name, with its address, and gives the whole address of any other", () => {
  const to = (address: `0x${string}`) =>
    ({ counterparty: { type: "address", address } }) as const;
  const file = fileOf(to(ADA), to(BOB));
  expect(file).toContain("Ada 0x7099");
  expect(file).not.toContain(ADA);
  expect(file).toContain(BOB);
});

test("a payout is called by its reference, a withdrawal by its account, and an account without a name by its short id", () => {
  const unnamed = { accountId: "ga_0198c2b4-1111-7222-8333-444455556666", name: null };
  const lines = linesOf(
    fileOf(
      { kind: "payout_to_wallets", reference: "Contractors, May" },
      {
        kind: "payout_to_wallets",
        source: { type: "account", accountId: "ga_1", name: "Rent" },
      },
      { kind: "funding", counterparty: { type: "account", ...unnamed } },
    ),
  ).join("\n");
  // Between words, so that a name can still be read.
  expect(lines).toMatch(
    /Payout to {10}Completed[^]*\n {18}wallets: {2}[^]*\n {18}Contractors, May /,
  );
  expect(lines).toMatch(/Withdrawal from {4}Completed[^]*\n {18}Rent /);
  expect(lines).toContain("Account ga_0198c");
  expect(lines).not.toContain(unnamed.accountId);
});

test("accounts and payouts are named, and an unknown worth is a dash, not zero", () => {
  const account = { type: "account", accountId: "ga_1", name: "Rent" } as const;
  const file = fileOf(
    { kind: "funding", counterparty: account },
    { kind: "funding_reversal", source: account },
    { kind: "payout_to_wallets", counterparty: { type: "recipients", count: 12 } },
  );
  for (const text of ["Account funding", "Rent > reserves", "12 recipients", "\\226"])
    expect(file).toContain(text);
  expect(file).not.toContain("0.00 ");
});
