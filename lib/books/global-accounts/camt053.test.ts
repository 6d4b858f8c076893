import { expect, test } from "vitest";
import type { Asset } from "@/lib/chain/assets";
import { readCamt053, textAt } from "@/lib/dev/testing/camt053";
import type { EntryRecord } from "@/lib/books/ledger/service";
import { camtCurrency, toCamt053 } from "./camt053";
import type { BookStatement } from "./statements";

const UNIT = 10n ** 18n;
const ACCOUNT = "ga_01980000-0000-7000-8000-0123456789ab";
const TRANSACTION = "ltx_01980000-0000-7000-8000-000000000072";
const FROM = new Date("2026-11-01T00:00:00.000Z");
const TO = new Date("2026-12-01T00:00:00.000Z");

const asset = (symbol: string, usdPegged: boolean): Asset => ({
  assetId: symbol.toLowerCase(),
  symbol,
  decimals: 6,
  tokens: [
    {
      chainId: 1,
      symbol,
      name: symbol,
      address: "0x0000000000000000000000000000000000000001",
      decimals: 6,
      assetId: symbol.toLowerCase(),
      usdPegged,
    },
  ],
});

const statementOf = (change: Partial<BookStatement> = {}): BookStatement => ({
  projectId: "prj_1",
  accountId: ACCOUNT,
  owner: "customer",
  name: "Tom & Söhne <GmbH>",
  assetId: "usdc",
  asset: asset("USDC", true),
  from: FROM,
  to: TO,
  openingBase: 10n * UNIT,
  closingBase: 9n * UNIT + UNIT / 100n,
  inBase: UNIT / 100n,
  outBase: UNIT,
  firstSeq: 4n,
  endSeq: 6n,
  ...change,
});

const entryOf = (change: Partial<EntryRecord>): EntryRecord => ({
  seq: 4n,
  transactionId: TRANSACTION,
  kind: "transfer",
  amountBase: -UNIT,
  balanceAfterBase: 9n * UNIT,
  currency: "usdc",
  createdAt: new Date("2026-11-21T10:11:12.345Z"),
  data: null,
  counterpartyId: null,
  counterpartyName: null,
  reversesId: null,
  reversedById: null,
  ...change,
});

const fileOf = async (
  statement: BookStatement,
  entries: readonly EntryRecord[],
): Promise<string> => {
  const parts: string[] = [];
  const file = toCamt053(
    statement,
    (async function* () {
      yield* await Promise.resolve(entries);
    })(),
    { currency: camtCurrency(statement), madeAt: TO },
  );
  for await (const part of file) parts.push(part);
  return parts.join("");
};

test("a statement fits the schema of camt.053.001.08 and says what the ledger says", async () => {
  const xml = await fileOf(statementOf(), [
    entryOf({
      data: { reference: "Invoice 7 & 8" },
      counterpartyId: "ga_01980000-0000-7000-8000-000000000001",
      counterpartyName: "Anna",
    }),
    entryOf({ seq: 5n, amountBase: UNIT / 100n, reversesId: TRANSACTION, kind: "reverse" }),
  ]);
  const { statement, opening, closing, entries } = readCamt053(xml);
  expect([opening, closing]).toEqual(["10", "9.01"]);
  expect(entries.map(({ amount }) => amount)).toEqual(["-1", "0.01"]);
  expect(textAt(statement, "Acct/Id/Othr/Id")).toBe("019800000000700080000123456789ab");
  expect(textAt(statement, "Acct/Tp/Prtry")).toBe("USDC");
  expect(textAt(statement, "Acct/Ccy")).toBe("USD");
  expect(textAt(statement, "Acct/Nm")).toBe("Tom & Söhne <GmbH>");
  expect(textAt(statement, "TxsSummry/TtlNtries/NbOfNtries")).toBe("2");
  expect(textAt(statement, "TxsSummry/TtlNtries/TtlNetNtry/Amt")).toBe("0.99");
  const [sent, returned] = entries.map(({ node }) => node);
  if (sent === undefined || returned === undefined) throw new Error("There are no entries.");
  expect(textAt(sent, "AcctSvcrRef")).toBe("80000123456789ab-4");
  expect(textAt(sent, "BookgDt/DtTm")).toBe("2026-11-21T10:11:12.345Z");
  expect(textAt(sent, "NtryDtls/TxDtls/Refs/EndToEndId")).toBe("Invoice 7 & 8");
  expect(textAt(sent, "NtryDtls/TxDtls/RmtInf/Ustrd")).toBe("Invoice 7 & 8");
  expect(textAt(sent, "NtryDtls/TxDtls/RltdPties/Cdtr/Pty/Nm")).toBe("Anna");
  expect(textAt(sent, "RvslInd")).toBe("false");
  expect(textAt(returned, "RvslInd")).toBe("true");
  expect(textAt(returned, "NtryDtls/TxDtls/Refs/EndToEndId")).toBe("NOTPROVIDED");
});

test("the dates of the balances are the first and the last day of the period", async () => {
  const { statement } = readCamt053(await fileOf(statementOf(), []));
  const [opening, closing] = statement.children.filter(({ name }) => name === "Bal");
  expect(opening && textAt(opening, "Dt/Dt")).toBe("2026-11-01");
  expect(closing && textAt(closing, "Dt/Dt")).toBe("2026-11-30");
});

test("a reference longer than an id of the standard stands whole in the remittance text", async () => {
  const reference = `${"😀".repeat(90)} end`;
  const xml = await fileOf(statementOf(), [entryOf({ data: { reference } })]);
  const [entry] = readCamt053(xml).entries;
  const details = entry?.node.children.find(({ name }) => name === "NtryDtls")?.children[0];
  expect(details && textAt(details, "Refs/EndToEndId")).toBe("NOTPROVIDED");
  const remittance = details?.children.find(({ name }) => name === "RmtInf");
  expect(remittance?.children.map(({ text }) => text).join("")).toBe(reference);
  expect(remittance?.children).toHaveLength(2);
});

test("a balance below zero is a debit", async () => {
  const xml = await fileOf(statementOf({ owner: "reserve", openingBase: -5n * UNIT }), []);
  expect(readCamt053(xml).opening).toBe("-5");
});

test("an asset without an ISO 4217 code is refused by the name of the field", () => {
  expect(() => camtCurrency(statementOf({ asset: asset("ETH", false) }))).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      details: [
        {
          path: "currency",
          message:
            "camt.053 needs an ISO 4217 currency, and ETH has none. Download CSV or PDF instead.",
        },
      ],
    }),
  );
});

test("a sum with more digits than the standard allows is refused", () => {
  const largest = statementOf({ closingBase: 10n ** 31n - 1n });
  expect(camtCurrency(largest)).toBe("USD");
  expect(() => camtCurrency(statementOf({ closingBase: 10n ** 31n }))).toThrow(
    expect.objectContaining({ code: "amount_precision" }),
  );
});

test.each([
  ["an element out of order", "<Sts><Cd>BOOK</Cd></Sts>", ""],
  ["a currency that is no code", 'Ccy="USD"', 'Ccy="USDC"'],
  ["an amount with 6 decimals", ">1</Amt>", ">1.000001</Amt>"],
])("the strict reader refuses %s", async (_, from, to) => {
  const xml = await fileOf(statementOf(), [entryOf({})]);
  expect(() => readCamt053(xml)).not.toThrow();
  expect(() => readCamt053(xml.replace(from, to))).toThrow("does not fit the schema");
});
