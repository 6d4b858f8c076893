import { expect, test } from "vitest";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { EMPTY_ROW, repeatsOf, totalsOf, type DraftRow, type DraftValues } from "./draft-row";
import { walletRules, walletTransfers, type WalletTarget } from "./wallet-rules";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const TREASURY = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
const USDC = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

const token = (symbol: string, address: string, decimals: number): TokenInfo => ({
  ...{ symbol, address, decimals, name: symbol, priceUsd: null, usdPegged: symbol === "USDC" },
  ...{ chainId: 31_337, assetId: symbol, caip19: `eip155:31337/erc20:${address}` },
});

const TARGET: WalletTarget = {
  chainId: 31_337,
  chainName: "Local 1",
  tokens: [
    token("USDC", USDC, 6),
    token("ETH", "native", 18),
    token("TWIN", ADA, 18),
    token("TWIN", BOB, 18),
  ],
  treasury: TREASURY,
  defaultToken: USDC,
};
const PAYEE = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const rules = walletRules(TARGET);
const row = (part: Partial<DraftValues>, key = 1): DraftRow => ({
  ...EMPTY_ROW,
  ...{ recipient: PAYEE, amount: "12.5", key },
  ...part,
});

test("a row that is right has no problems, whichever way its token is named", () => {
  for (const name of [
    "",
    "USDC",
    "usdc",
    USDC,
    USDC.toLowerCase(),
    `eip155:31337/erc20:${USDC}`,
    "native",
    "ETH",
  ])
    expect(rules.problemsOf(row({ token: name })), name).toEqual({});
});

test.each([
  [{ recipient: "" }, { recipient: "Enter an address." }],
  [
    { recipient: "ada.eth" },
    { recipient: "This is not an address: it needs 0x and 40 digits from 0 to f." },
  ],
  [
    { recipient: PAYEE.slice(0, -1) },
    { recipient: "This is not an address: it needs 0x and 40 digits from 0 to f." },
  ],
  [
    { recipient: PAYEE.replace("d34A", "D34a") },
    { recipient: "The checksum is wrong: a character was changed. Copy the address again." },
  ],
  [
    { recipient: `0x${"0".repeat(40)}` },
    { recipient: "Nobody owns the zero address; money sent there is lost." },
  ],
  [{ recipient: TREASURY.toLowerCase() }, { recipient: "This is the treasury, which pays." }],
  [
    { recipient: USDC },
    { recipient: "This is the contract of USDC; money sent there is lost." },
  ],
  [{ recipient: BOB }, { recipient: "This is the contract of a token, not a wallet." }],
  [{ amount: "0.0000001" }, { amount: "USDC has 6 digits after the point, no more." }],
  [{ amount: "" }, { amount: "Enter an amount." }],
  [{ amount: "0" }, { amount: "The amount is zero. Enter what to pay, or remove the row." }],
  [
    { amount: "-5" },
    { amount: '"-5" was not understood: a payout cannot pay a negative amount.' },
  ],
  ...["=1+1", "+5", "@5", "1\t5", "5%", "2026-05-01", "٣"].map(
    (amount) =>
      [
        { amount },
        {
          amount: `"${amount.trim()}" was not understood: write digits only, such as 1250.50.`,
        },
      ] as const,
  ),
  [{ amount: "1e3" }, { amount: "Enter an amount such as 1250.50." }],
  [
    { amount: "9".repeat(80) },
    { amount: "The number has more digits than any token can hold." },
  ],
  [
    { amount: "5", units: ["EUR"] },
    { amount: 'The file says 5 in "EUR", but the row pays USDC. Enter the amount in USDC.' },
  ],
  [{ amount: "5", units: ["$", "usdc"] }, {}],
  [
    { amount: "5", units: ["$"], token: "ETH" },
    {
      amount:
        'The file says 5 in "$", but the row pays ETH, which is not pegged to the dollar. Enter the amount in ETH.',
    },
  ],
  [{ refusals: { token: "No." } }, { token: "No." }],
  [{ chains: ["Local 1", "eip155:31337"] }, {}],
  [
    { chains: ["Local 1", "Base"] },
    {
      row: 'The file says "Base" for the chain of this row, but this payout pays on Local 1. Remove the row, or choose its chain above.',
    },
  ],
  [{ token: "ABC" }, { token: 'Local 1 has no token "ABC".' }],
  [{ token: "TWIN" }, { token: 'Local 1 has no token "TWIN".' }],
  [{ reference: "x".repeat(141) }, { reference: "At most 140 characters; this has 141." }],
  [
    { note: "a\u0000b" },
    { note: "This has characters that cannot be stored, such as line ends. Remove them." },
  ],
  [{ refusals: { amount: "Not understood." } }, { amount: "Not understood." }],
] as const)("%j is named at its cell", (part, problems) => {
  expect(rules.problemsOf(row(part))).toEqual(problems);
});

test("a formula in a reference is text like any other", () => {
  expect(rules.problemsOf(row({ reference: "=HYPERLINK(1)" }))).toEqual({});
});

test("totals add up exactly for each token, without rows that have any error", () => {
  const rows = [
    row({ amount: "0.1" }),
    row({ amount: "0.2" }),
    row({ amount: "x" }),
    row({ amount: "7", recipient: "ada" }),
    row({ amount: "7", chains: ["Base"] }),
    row({ amount: "7", refusals: { token: "The cell is empty." } }),
    row({ amount: "7", reference: "x".repeat(141) }),
    row({ amount: "1", token: "ETH" }),
  ];
  expect(
    totalsOf(rows, rules).map(({ symbol, base, rows: count }) => [symbol, base, count]),
  ).toEqual([
    ["USDC", 300_000n, 2],
    ["ETH", 10n ** 18n, 1],
  ]);
});

test("rows repeat each other when recipient, token, amount and reference are the same, however they are written", () => {
  const rows = [
    row({}, 1),
    row({ recipient: PAYEE.toLowerCase(), amount: "12.50", token: "usdc" }, 2),
    row({ reference: "other" }, 3),
    row({ amount: "12.51" }, 4),
    row({ recipient: "", amount: "" }, 5),
    row({ recipient: "", amount: "" }, 6),
  ];
  expect([...repeatsOf(rows, rules)]).toEqual([[2, 1]]);
});

test("tokens are sent by address, and empty texts not at all", () => {
  expect(walletTransfers([row({ token: " usdc ", reference: " Invoice 7 " })], TARGET)).toEqual(
    [{ address: PAYEE, amount: "12.5", token: USDC, reference: "Invoice 7" }],
  );
});
