import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testDatabase } from "@/lib/dev/testing/database";
import { entryFile } from "@/lib/dev/testing/entry";
import { testLedger, type TestLedger } from "@/lib/dev/testing/ledger";
import { bare } from "./sql";

const ROOT = join(import.meta.dirname, "../../..");
const currency = "usdc";
const by = "test";

/** A ledger with every kind of transaction. */
const busyLedger = async (): Promise<
  TestLedger & { url: string; from: string; to: string }
> => {
  const { url } = await testDatabase({ role: "owner" });
  const made = testLedger(url, { poolSize: 1 });
  const { ledger, projectId, open } = made;
  const [from, to] = [await open(currency, 1000n), await open(currency, 0n)];
  const common = () => ({ projectId, key: newId("event"), by });
  const { transactionId } = await ledger.transfer({
    ...common(),
    from,
    to,
    amountBase: 10n,
    currency,
  });
  await ledger.transfer({ ...common(), from, to, amountBase: 20n, currency });
  await ledger.reverse({ ...common(), transactionId });
  await ledger
    .transfer({ ...common(), from, to, amountBase: 5000n, currency })
    .catch(() => undefined);
  return { ...made, url, from, to };
};

/** Changes rows without triggers and constraints, as only the owner of the tables can. */
const tamper = async ({ pool }: TestLedger, sql: string): Promise<void> => {
  const tables = ["ledger_account", "ledger_transaction", "ledger_entry"];
  await pool.query(
    [
      ...tables.map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`),
      "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_minimum_check",
      "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_counts_check",
      sql,
    ].join("; "),
  );
};

const reversal = "(SELECT id FROM ledger_transaction WHERE kind = 'reverse')";
/** The tampering, its SQL, and a word from the rule that it violates. */
const TAMPERINGS = [
  [
    "an amount that was changed",
    "UPDATE ledger_entry SET amount = 11 WHERE amount = 10",
    "sum to 0",
  ],
  [
    "a balance that was changed",
    "UPDATE ledger_account SET balance = balance + 1 WHERE minimum = 0",
    "sum of its",
  ],
  ["an entry that was taken away", "DELETE FROM ledger_entry WHERE seq = 2", "no gap"],
  [
    "a last entry that was taken away",
    "DELETE FROM ledger_entry WHERE seq = 4",
    "last entry's balance_after",
  ],
  [
    "a running balance that was changed",
    "UPDATE ledger_entry SET balance_after = 9 WHERE amount = 10",
    "before it",
  ],
  [
    "a time that runs backwards",
    "UPDATE ledger_entry SET created_at = 'epoch' WHERE seq = 3",
    "backwards",
  ],
  [
    "a minimum that is not kept",
    "UPDATE ledger_account SET minimum = 100000 WHERE minimum = 0",
    "minimum",
  ],
  [
    "a reversal of another amount",
    `UPDATE ledger_entry SET amount = amount * 2 WHERE transaction_id = ${reversal}`,
    "mirrors",
  ],
  [
    "a key that was changed",
    "UPDATE ledger_transaction SET idempotency_key = 'x' WHERE kind = 'reverse'",
    "hash",
  ],
  [
    "a transaction that vanished",
    "DELETE FROM ledger_transaction WHERE kind = 'reverse'",
    "belongs to",
  ],
  [
    "a refusal with entries",
    "UPDATE ledger_transaction SET rejection = '{}' WHERE kind = 'transfer'",
    "refused",
  ],
  [
    "an opening without account",
    "UPDATE ledger_transaction SET project_id = 'x' WHERE kind = 'open'",
    "opened",
  ],
] as const;

const untouched = await busyLedger();
const forCommand = await busyLedger();
const victims: TestLedger[] = [];
while (victims.length < TAMPERINGS.length) victims.push(await busyLedger());

describe("the checker", () => {
  test("finds no violation in an unchanged ledger, and reports its figures", async () => {
    const { figures, violations } = await untouched.verify();
    expect(violations).toEqual([]);
    expect(figures).toEqual({
      accounts: 2,
      transactions: 7,
      rejected: 1,
      entries: 8,
      reversals: 1,
      liabilities: { usdc: "1000" },
    });
  });

  test.each(TAMPERINGS.map((tampering, at) => [...tampering, at] as const))(
    "names %s",
    async (_, sql, rule, at) => {
      const victim = victims[at] ?? untouched;
      await tamper(victim, sql);
      const { violations } = await victim.verify();
      expect(violations.join("\n")).toContain(rule);
    },
  );

  test("exits with code 1 and names the violation", async () => {
    const made = forCommand;
    const run = () =>
      spawnSync(process.execPath, [entryFile("causeway"), "ledger:verify"], {
        cwd: ROOT,
        encoding: "utf8",
        env: { PATH: dirname(process.execPath), DATABASE_URL: made.url, NODE_ENV: "test" },
      });
    const whole = run();
    expect([whole.status, whole.stdout]).toEqual([
      0,
      expect.stringContaining("The ledger is whole"),
    ]);
    await tamper(made, `UPDATE ledger_account SET balance = 1 WHERE id = '${bare(made.to)}'`);
    const broken = run();
    expect(broken.status).toBe(1);
    expect(broken.stderr).toContain(bare(made.to));
  });
});
