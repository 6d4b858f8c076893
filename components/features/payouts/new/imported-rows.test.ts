import fc from "fast-check";
import { expect, test } from "vitest";
import type { TokenInfo } from "@/components/features/swap/tokens";
import { formatAmount } from "@/lib/core/money";
import { guessSign, type DecimalSign } from "../import/amount-format";
import { COLUMNS } from "../import/column-names";
import { withColumn } from "@/components/features/file-import/layout";
import { layoutOf, limitedTo, type Layout } from "../import/columns";
import { readImport } from "@/components/features/file-import/read-import";
import { xlsxOf, type SheetCell } from "@/components/features/file-import/testing";
import { toRows } from "../import/to-rows";
import { edited, type DraftValues, PAYOUT_FILE } from "./draft-row";
import { walletRules, type WalletTarget } from "./wallet-rules";

const A = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const B = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const USDC = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

const token = (
  symbol: string,
  address: string,
  decimals: number,
  usdPegged: boolean,
): TokenInfo => ({
  ...{ symbol, address, decimals, usdPegged, name: symbol, priceUsd: null },
  ...{ chainId: 31_337, assetId: symbol, caip19: `eip155:31337/erc20:${address}` },
});

/** Pays USDC where a file names no token. */
const TARGET: WalletTarget = {
  chainId: 31_337,
  chainName: "Local 1",
  tokens: [
    token("USDC", USDC, 6, true),
    token("ETH", "native", 18, false),
    token("EURC", "0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9", 6, false),
  ],
  treasury: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  defaultToken: USDC,
};
const rules = walletRules(TARGET);

interface Answers {
  readonly sign?: DecimalSign;
  readonly columns?: (layout: Layout) => Layout;
  readonly emptyIsCoin?: boolean;
}

/** The question that a person is asked before any row is read; null where there is none. */
const questionsOf = (layout: Layout, sign: DecimalSign | null): string | null => {
  const open = Object.keys(layout.open);
  if (open.length > 0) return `asks for the column: ${open.join(", ")}`;
  return sign === null ? "asks for the file's format" : null;
};

/** The rows of a file as the page has them, or the question that it asks first. */
const rowsOf = async (
  content: string | Buffer<ArrayBuffer>,
  answers: Answers = {},
): Promise<DraftValues[] | string> => {
  const file = await readImport(new Blob([content]), PAYOUT_FILE, "2026-05-01");
  if (file.kind !== "table") throw new Error("This is no table.");
  const { table } = file;
  const layout = (answers.columns ?? ((each) => each))(
    limitedTo(layoutOf(table.rows, ["Local 1", "Local 2"]), COLUMNS),
  );
  const { amount } = layout.mapping;
  const cells =
    amount === null ? [] : table.rows.slice(layout.headed ? 1 : 0).map((row) => row[amount]);
  const sign = guessSign(cells).sign ?? answers.sign ?? null;
  const question = questionsOf(layout, sign);
  if (question !== null) return question;
  const choices = { sign: sign ?? "point", emptyIsCoin: answers.emptyIsCoin ?? false };
  return toRows(table, layout, choices).map((row) => ({ ...row, checked: true }));
};

/** `1250 USDC` for each row that would be paid, and what is wrong with each other one. */
const outcomeOf = async (
  content: string | Buffer<ArrayBuffer>,
  answers: Answers = {},
): Promise<string | string[]> => {
  const rows = await rowsOf(content, answers);
  if (typeof rows === "string") return rows;
  return rows.map((row) => {
    const money = rules.moneyOf(row);
    if (money !== null) return `${formatAmount(money.base, money.decimals)} ${money.symbol}`;
    return Object.entries(rules.problemsOf(row))
      .map(([field, message]) => `${field}: ${message}`)
      .join(" / ");
  });
};

const refused = (part: string): unknown => [expect.stringContaining(part)];

test.each<[string, unknown]>([
  ["12 50,USDC", refused('amount: "12 50" was not understood')],
  ["12'50,USDC", refused(`amount: "12'50" was not understood`)],
  ["1 250,USDC", ["1250 USDC"]],
  ['"1,250",USDC', "asks for the file's format"],
  ["1.250,USDC", "asks for the file's format"],
  ['"1,250.00",USDC', ["1250 USDC"]],
  ["1E+3,USDC", ["1000 USDC"]],
  ['"$1,250.00",USDC', ["1250 USDC"]],
  [
    '"$1,250.00",ETH',
    refused(
      'The file says 1250.00 in "$", but the row pays ETH, which is not pegged to the dollar.',
    ),
  ],
  ['"$1,250.00",EURC', refused("not pegged to the dollar")],
  ["1250 USDC,USDC", ["1250 USDC"]],
  ["1250 USDC,ETH", refused('The file says 1250 in "USDC", but the row pays ETH.')],
  ["1250 EUR,USDC", refused('The file says 1250 in "EUR", but the row pays USDC.')],
  ["€5,EURC", refused('in "€"')],
  ['"1,00,000.50",USDC', ["100000.5 USDC"]],
  ["007,USDC", refused('"007" was not understood: an amount does not begin with zeros.')],
  ["5k,USDC", refused('"5k" was not understood')],
  ["1.23457E+09,USDC", refused("a spreadsheet may have shortened it")],
  ["0,USDC", refused("The amount is zero")],
  [",USDC", refused("amount: Enter an amount.")],
  ["-5,USDC", refused('"-5" was not understood: a payout cannot pay a negative amount.')],
  ["0.0000001,USDC", refused("USDC has 6 digits after the point, no more.")],
  ["5,", refused("token: The cell is empty.")],
  ["5,ABC", refused('Local 1 has no token "ABC".')],
  [`5,native`, ["5 ETH"]],
  [`5,0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`, ["5 ETH"]],
])("a row with the cells %s", async (cells, outcome) => {
  const result = await outcomeOf(`address,amount,token\n${A},${cells}\n`);
  expect(result).toEqual(outcome);
  // The page never says what to enter without saying what was not understood.
  expect(JSON.stringify(result)).not.toContain("above zero");
});

test("the file's format is asked for once, and holds for all its rows", async () => {
  const file = `address;amount;token\n${A};1,250;USDC\n${B};7;USDC\n${A};1,5;USDC\n`;
  // One amount of the file tells how all are written.
  expect(await outcomeOf(file)).toEqual(["1.25 USDC", "7 USDC", "1.5 USDC"]);
  const unclear = `address;amount;token\n${A};1.250;USDC\n${B};2,500;USDC\n`;
  expect(await outcomeOf(unclear)).toBe("asks for the file's format");
  expect(await outcomeOf(unclear, { sign: "point" })).toEqual(["1.25 USDC", "2500 USDC"]);
  expect(await outcomeOf(unclear, { sign: "comma" })).toEqual(["1250 USDC", "2.5 USDC"]);
  const mixed = `address;amount;token\n${A};12.5;USDC\n${B};12,5;USDC\n`;
  expect(await outcomeOf(mixed)).toBe("asks for the file's format");
  expect(await outcomeOf(mixed, { sign: "comma" })).toEqual([
    'amount: "12.5" was not understood: its decimal sign is a point where a comma is expected.',
    "12.5 USDC",
  ]);
});

test("of two columns of amounts the person chooses", async () => {
  const file = `Name,Wallet,Amount,Token,Amount\nAda,${A},5000,USDC,50\n`;
  expect(await outcomeOf(file)).toBe("asks for the column: amount");
  expect(
    await outcomeOf(file, { columns: (layout) => withColumn(layout, "amount", 4) }),
  ).toEqual(["50 USDC"]);
});

test.each<[string, string, Answers, unknown]>([
  [
    "Safe, new",
    `token_type,token_address,receiver,amount\nnative,,${A},1\nerc20,${USDC},${B},2\n`,
    {},
    ["1 ETH", "2 USDC"],
  ],
  [
    "Safe, an empty token",
    `token_type,token_address,receiver,amount,id\nerc20,,${A},1,\n`,
    {},
    refused("token: The cell is empty."),
  ],
  [
    "Safe, an NFT",
    `token_type,token_address,receiver,amount,id\nnft,${B},${A},,42\n`,
    {},
    refused("The row sends an NFT"),
  ],
  [
    "Safe, a coin with a token",
    `token_type,token_address,receiver,amount\nnative,${USDC},${A},1\n`,
    {},
    refused("The type says native, but the row names the token"),
  ],
  [
    "Safe, a chain's prefix",
    `token_type,token_address,receiver,value\nnative,,eth:${A},1\n`,
    {},
    refused('row: The file says "eth" for the chain of this row'),
  ],
  [
    "Safe, old",
    `token_address,receiver,amount,decimals\n${USDC},${A},1,6\n,${B},2,\n`,
    {},
    ["1 USDC", expect.stringContaining("token: The cell is empty.")],
  ],
  [
    "Safe, old, coins confirmed",
    `token_address,receiver,amount\n${USDC},${A},1\n,${B},2\n`,
    { emptyIsCoin: true },
    ["1 USDC", "2 ETH"],
  ],
  ["Disperse with spaces", `${A} 5\n${B} 12.5\n`, {}, ["5 USDC", "12.5 USDC"]],
  ["Disperse with equals signs", `${A}=5\n${B}=12.5\n`, {}, ["5 USDC", "12.5 USDC"]],
  ["Disperse with commas", `${A},5\n${B},12.5\n`, {}, ["5 USDC", "12.5 USDC"]],
  ["Disperse with unclear numbers", `${A} 1,250\n`, {}, "asks for the file's format"],
  ["a multisender with tokens", `${USDC},${A},5\n`, {}, "asks for the column: recipient"],
  [
    "a bank's sheet",
    `Beneficiary name;Beneficiary account;Amount;Currency;Payment reference\nAda;${A};"1.250,00";USDC;May\n`,
    {},
    ["1250 USDC"],
  ],
  [
    "a bank's sheet with an IBAN",
    `Beneficiary name,IBAN,Amount,Currency\nAda,DE89370400440532013000,5,USDC\n`,
    {},
    refused("recipient: This is not an address"),
  ],
])("%s", async (_, file, answers, outcome) => {
  expect(await outcomeOf(file, answers)).toEqual(outcome);
});

test.each<[string, unknown]>([
  ["Local 1", ["5 USDC"]],
  ["local-1", ["5 USDC"]],
  ["31337", ["5 USDC"]],
  ["eip155:31337", ["5 USDC"]],
  [
    "Local 2",
    refused(
      'row: The file says "Local 2" for the chain of this row, but this payout pays on Local 1.',
    ),
  ],
  ["Polygon", refused('row: The file says "Polygon"')],
  ["1", refused('row: The file says "1"')],
  ["TRC20", refused('row: The file says "TRC20"')],
  ["constructor", refused('row: The file says "constructor"')],
  ["", refused('row: The file says "(no chain)"')],
])("a row whose chain is %j", async (chain, outcome) => {
  expect(await outcomeOf(`address,amount,token,network\n${A},5,USDC,${chain}\n`)).toEqual(
    outcome,
  );
});

test("without a heading a chain is recognised by what is in the column", async () => {
  expect(await outcomeOf(`${A},5,USDC,Polygon\n${A},5,USDC,Local 1\n`)).toEqual([
    expect.stringContaining('row: The file says "Polygon"'),
    "5 USDC",
  ]);
});

test.each([
  ["Amount (USD)", "USDC", ["5 USDC"]],
  ["Amount (USD)", "ETH", refused('The file says 5 in "USD", but the row pays ETH')],
  ["Amount ($)", "ETH", refused('in "$"')],
  ["€ amount", "USDC", refused('in "€"')],
  ["Amount [USDC]", "USDC", ["5 USDC"]],
  ["amount_wei", "ETH", refused('The file says 5 in "wei"')],
  ["Amount in thousands", "USDC", refused('in "thousands"')],
  ["Amount EUR", "USDC", refused('in "EUR"')],
  ["AMOUNT USD", "ETH", refused('in "USD"')],
  ["AMOUNT DUE", "USDC", ["5 USDC"]],
  ["Amount (gross)", "USDC", "asks for the column: amount"],
])("under the heading %s, 5 of %s", async (heading, symbol, outcome) => {
  expect(await outcomeOf(`address,${heading},token\n${A},5,${symbol}\n`)).toEqual(outcome);
});

test("the heading of a column that the person chose states the unit too", async () => {
  const chosen = { columns: (layout: Layout) => withColumn(layout, "amount", 1) };
  expect(await outcomeOf(`address,Lohn (EUR),token\n${A},5,USDC\n`, chosen)).toEqual(
    refused('in "EUR"'),
  );
  expect(await outcomeOf(`address,NET SALARY,token\n${A},5,USDC\n`, chosen)).toEqual([
    "5 USDC",
  ]);
});

test("a number of a spreadsheet with more digits than are kept is a bad row that names the cell", async () => {
  const sheet = (...cells: SheetCell[]): Buffer<ArrayBuffer> =>
    xlsxOf([["address", "amount"], ...cells.map((cell) => [A, cell])]);
  expect(
    await outcomeOf(
      sheet(
        { xml: "<c><v>1234567890123456789</v></c>" },
        { xml: "<c><v>0.30000000000000004</v></c>" },
        1250,
      ),
    ),
  ).toEqual([
    expect.stringMatching(
      /^amount: Cell B2: "1234567890123456789" has more digits than a spreadsheet's number keeps\./,
    ),
    "0.3 USDC",
    "1250 USDC",
  ]);
});

test("a field that is entered again is no longer what the file said; the others still are", async () => {
  const rows = await rowsOf(`address,amount,token\n${A},12 50,\n`);
  if (typeof rows === "string") throw new Error(rows);
  const [row] = rows;
  if (row === undefined) throw new Error("There is no row.");
  const amended = { ...row, ...edited(row, "amount", "1250") };
  expect(rules.problemsOf(amended)).toEqual({
    token: "The cell is empty. Enter the token that this row pays.",
  });
  expect(rules.moneyOf(amended)).toBeNull();
  expect(rules.problemsOf({ ...amended, ...edited(amended, "token", "USDC") })).toEqual({});
});

test("a file that names a token, a chain or a type never gets one from the page", async () => {
  const cell = (values: readonly string[]) => fc.constantFrom(...values);
  const row = fc.record({
    name: cell(["USDC", "native", "", " ", "ABC"]),
    chain: cell(["Local 1", "31337", "Polygon", ""]),
    type: cell(["native", "erc20", "", "nft"]),
    amount: cell(["5", "", "5 ETH", "12 50"]),
  });
  /**
   * The token that the two cells name together; null where they name none, or contradict each
   * other.
   */
  const symbolOf = (type: string, name: string): string | null => {
    if (type === "native") return ["", " ", "native"].includes(name) ? "ETH" : null;
    if (name === "USDC" && type !== "nft") return "USDC";
    return name === "native" && type === "" ? "ETH" : null;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
      const lines = rows.map(
        ({ name, chain, type, amount }) => `${A},${amount},${name},${chain},${type}`,
      );
      const outcome = await outcomeOf(
        `address,amount,token,chain,token_type\n${lines.join("\n")}\n`,
      );
      if (typeof outcome === "string") throw new Error(outcome);
      rows.forEach(({ name, chain, type, amount }, index) => {
        const symbol = symbolOf(type, name);
        const isPaid =
          symbol !== null &&
          ["Local 1", "31337"].includes(chain) &&
          (amount === "5" || (amount === "5 ETH" && symbol === "ETH"));
        if (isPaid) expect(outcome[index]).toBe(`5 ${symbol}`);
        else expect(outcome[index]).toMatch(/^(row|recipient|amount|token): /);
      });
    }),
    { numRuns: 200 },
  );
});
