import fc from "fast-check";
import { expect, test } from "vitest";
import { createAssets } from "@/lib/chain/assets";
import { addSeconds } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { readCamt053 } from "@/lib/dev/testing/camt053";
import { testDatabase } from "@/lib/dev/testing/database";
import { testLedger } from "@/lib/dev/testing/ledger";
import { toStatementCsv } from "./serializer";
import { createGlobalAccountsService, type BookStatement } from "./service";

const START = new Date("2026-03-01T00:00:00Z");
const UNIT = 10n ** 18n;
/** 0.00001, the smallest step of camt.053. */
const STEP = 10n ** 13n;
const CURRENCY = "usdc";

const { url, database } = await testDatabase();
let time = START;
const clock = { now: () => time };
const { ledger, projectId, open } = testLedger(url, { clock });
const assets = createAssets({
  tokens: () => [
    {
      chainId: 1,
      symbol: "USDC",
      name: "USD Coin",
      address: "0x0000000000000000000000000000000000000001",
      decimals: 6,
      assetId: CURRENCY,
      usdPegged: true,
    },
  ],
});
const service = createGlobalAccountsService({
  ledger,
  assets,
  clock,
  reserves: {} as never,
  openPayouts: () => Promise.resolve(new Map()),
});

const common = () => ({ projectId, key: newId("event"), by: "test", currency: CURRENCY });

/** The sum of the account's entries before a time, from the entries themselves. */
const sumBefore = async (accountId: string, at: Date): Promise<bigint> => {
  const { rows } = await database.pool.query<{ sum: string }>(
    `SELECT coalesce(sum(amount), 0)::text AS sum FROM ledger_entry
     WHERE project_id = $1 AND account_id = $2 AND created_at < $3`,
    [projectId, accountId.slice("ga_".length), at],
  );
  return BigInt(rows[0]?.sum ?? 0);
};

const textOf = async (parts: AsyncIterable<string>): Promise<string> => {
  const all: string[] = [];
  for await (const part of parts) all.push(part);
  return all.join("");
};

const baseOf = (text: string): bigint => {
  const size = text.replace("-", "");
  const base = /[1-9]/.test(size) ? parseAmount(size, 18) : 0n;
  return text.startsWith("-") ? -base : base;
};

/** Opening, closing and the entries' amounts of both files, in ledger units. */
const filesOf = async (statement: BookStatement) => {
  const csv = (await textOf(toStatementCsv(statement, service.allEntries(statement))))
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(","));
  const xml = readCamt053(await textOf(await service.camt053(statement)));
  return [
    {
      opening: baseOf(csv[0]?.[4] ?? ""),
      closing: baseOf(csv.at(-1)?.[4] ?? ""),
      entries: csv.slice(1, -1).map((cells) => baseOf(cells[3] ?? "")),
    },
    {
      opening: baseOf(xml.opening),
      closing: baseOf(xml.closing),
      entries: xml.entries.map(({ amount }) => baseOf(amount)),
    },
  ];
};

const amounts = fc.bigInt({ min: 1n, max: 10_000_000n }).map((steps) => steps * STEP);
interface Move {
  readonly kind: "fund" | "transfer" | "withdraw" | "reverse";
  readonly amountBase: bigint;
  /** Since the move before. */
  readonly seconds: number;
}

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("fund", "transfer", "withdraw", "reverse"),
    amountBase: amounts,
    seconds: fc.integer({ min: 0, max: 3 }),
  }),
  { minLength: 3, maxLength: 14 },
);

const post = async (move: Move, accounts: readonly [string, string]): Promise<void> => {
  const [first, second] = accounts;
  const { amountBase } = move;
  if (move.kind === "transfer")
    await ledger.transfer({ ...common(), from: first, to: second, amountBase });
  else if (move.kind === "withdraw") {
    await ledger.post({ ...common(), kind: "withdraw", from: first, amountBase });
    const paidBase = (amountBase / STEP / 2n) * STEP;
    const returnedBase = amountBase - paidBase;
    await ledger.post({ ...common(), kind: "settle", to: first, paidBase, returnedBase });
  } else {
    const { transactionId } = await ledger.fund({
      ...common(),
      to: first,
      amountBase,
      liabilitiesMaxBase: null,
    });
    if (move.kind === "reverse") await ledger.reverse({ ...common(), transactionId });
  }
};

test("both files open and close with the sums of the ledger's entries, and their entries fill the difference", async () => {
  await fc.assert(
    fc.asyncProperty(
      moves,
      fc.tuple(fc.nat(1000), fc.nat(1000)),
      async (history, [one, other]) => {
        const accounts = [await open(CURRENCY, 0n), await open(CURRENCY, 0n)] as const;
        await ledger.fund({
          ...common(),
          to: accounts[0],
          amountBase: 2000n * UNIT,
          liabilitiesMaxBase: null,
        });
        const begin = time;
        for (const move of history) {
          time = addSeconds(time, move.seconds);
          await post(move, accounts);
        }
        time = addSeconds(time, 1);
        const length = (time.getTime() - begin.getTime()) / 1000;
        const cut = (share: number) => addSeconds(begin, Math.floor((share * length) / 1000));
        const query = {
          from: cut(Math.min(one, other)).toISOString(),
          to: cut(Math.max(one, other)).toISOString(),
        };
        const statements = [
          await service.statement(projectId, accounts[0], query),
          await service.statement(projectId, accounts[1], query),
          await service.reserveStatement(projectId, "USDC", query),
        ];
        for (const statement of statements) {
          const opening = await sumBefore(statement.accountId, statement.from);
          const closing = await sumBefore(statement.accountId, statement.to);
          for (const file of await filesOf(statement)) {
            expect([file.opening, file.closing]).toEqual([opening, closing]);
            expect(file.entries.reduce((sum, each) => sum + each, file.opening)).toBe(closing);
          }
        }
      },
    ),
    { numRuns: 12 },
  );
});

test("the reserve account's balance is what the accounts hold, below zero", async () => {
  const statement = await service.reserveStatement(projectId, "USDC", {
    from: START.toISOString(),
    to: addSeconds(time, 1).toISOString(),
  });
  const owed = (await ledger.liabilities(projectId)).get(CURRENCY) ?? 0n;
  expect(statement.closingBase).toBe(-owed);
  expect(owed).toBeGreaterThan(0n);
});

test("an entry finer than camt.053 allows is refused by its number, and the CSV file has it", async () => {
  const account = await open(CURRENCY, 0n);
  const fine = STEP / 10n;
  for (const amountBase of [UNIT, fine])
    await ledger.fund({ ...common(), to: account, amountBase, liabilitiesMaxBase: null });
  const query = { from: START.toISOString(), to: addSeconds(time, 1).toISOString() };
  const statement = await service.statement(projectId, account, query);
  await expect(service.camt053(statement)).rejects.toMatchObject({
    code: "amount_precision",
    message: expect.stringContaining("Entry 2 is 0.000001 USDC") as string,
  });
  const csv = await textOf(toStatementCsv(statement, service.allEntries(statement)));
  expect(csv).toContain(formatAmount(UNIT + fine, 18));
  time = addSeconds(time, 2);
  const later = await service.statement(projectId, account, { from: time.toISOString() });
  await expect(service.camt053(later)).rejects.toMatchObject({
    code: "amount_precision",
    message: expect.stringContaining("The opening balance is 1.000001 USDC") as string,
  });
});
