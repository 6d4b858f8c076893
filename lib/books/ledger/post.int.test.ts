import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { emptyDatabase, testDatabase } from "@/lib/dev/testing/database";
import { testLedger } from "@/lib/dev/testing/ledger";
import type { TransferRow } from "./commands";
import { createLedgerRepository } from "./repository";
import type { Outcome } from "./snapshot";

const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));
const { url, database } = await testDatabase({ role: "owner" });
const clock = { now: () => new Date("2026-01-01T00:00:00Z") };
const { ledger, projectId, open, verify } = testLedger(url, { clock });
const other = testLedger(url, { clock });
const by = "test";
const currency = "usdc";

const key = (): string => newId("event");
const row = (from: string, to: string, amountBase: bigint): TransferRow => ({
  from,
  to,
  amountBase,
  currency,
});
const transfer = (from: string, to: string, amountBase: bigint) => ({
  projectId,
  key: key(),
  by,
  ...row(from, to, amountBase),
});
const balanceOf = async (id: string): Promise<bigint> =>
  (await ledger.account(projectId, id)).postedBase;

const TAMPERING = ["ledger_entry", "ledger_transaction"].flatMap((table) => [
  `UPDATE ${table} SET created_at = now()`,
  `DELETE FROM ${table}`,
  `TRUNCATE ${table}`,
]);

describe("what was posted stays", () => {
  const refused = async (run: (sql: string) => Promise<unknown>): Promise<void> => {
    for (const sql of TAMPERING)
      await expect(run(sql), sql).rejects.toThrow(/permission denied|append-only/);
  };

  test("UPDATE, DELETE and TRUNCATE are refused through the ledger's own connections, by privilege", async () => {
    await open(currency, 5n);
    const repository = createLedgerRepository(url, { poolSize: 1 });
    const [role] = await repository.query<{ current_user: string }>("SELECT current_user", []);
    expect(role?.current_user).toBe("causeway_ledger");
    for (const sql of TAMPERING)
      await expect(repository.query(sql, []), sql).rejects.toThrow("permission denied");
    for (const sql of [
      "DELETE FROM ledger_account",
      "UPDATE ledger_account SET currency = 'eth'",
    ])
      await expect(repository.query(sql, []), sql).rejects.toThrow("permission denied");
    await repository.close();
  });

  test("and through every other connection of the app, by triggers, even those of the owner while it replicates", async () => {
    await refused((sql) => database.pool.query(sql));
    await refused((sql) => database.prisma.$executeRawUnsafe(sql));
    await refused((sql) =>
      ledger.together({ prepare: (tx) => tx.change(sql, []).then(() => []), also: nothing }),
    );
    const client = await database.pool.connect();
    await client.query("SET session_replication_role = replica");
    await refused((sql) => client.query(sql));
    client.release(true);
    expect((await verify()).violations).toEqual([]);
  });

  test("on a server whose user may not create roles the triggers stand alone, and the ledger works", async () => {
    const owner = `owner_${randomBytes(6).toString("hex")}`;
    const { url: empty } = await emptyDatabase();
    const name = new URL(empty).pathname.slice(1);
    await database.pool.query(`CREATE ROLE ${owner} LOGIN PASSWORD 'plain'`);
    await database.pool.query(`ALTER DATABASE ${name} OWNER TO ${owner}`);
    const plain = new URL(empty);
    plain.username = owner;
    plain.password = "plain";
    await migrateDeploy(plain.href, MIGRATIONS);
    const poor = testLedger(plain.href);
    await poor.open(currency, 5n);
    const repository = createLedgerRepository(plain.href, { poolSize: 1 });
    await refused((sql) => repository.query(sql, []));
    await repository.close();
    expect((await poor.verify()).violations).toEqual([]);
  });
});

const nothing = (): Promise<void> => Promise.resolve();

describe("one key", () => {
  test("200 equal requests at once over two instances have one effect and equal answers", async () => {
    const [from, to] = [await open(currency, 1000n), await open(currency, 0n)];
    const command = transfer(from, to, 7n);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        (at % 2 === 0 ? ledger : other.ledger).transfer(command),
      ),
    );
    expect(
      new Set(answers.map(({ transactionId, at }) => `${transactionId} ${at.toISOString()}`))
        .size,
    ).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await balanceOf(to)).toBe(7n);
  });

  test("a refusal is kept: the key stays refused when money has come", async () => {
    const [from, to] = [await open(currency, 0n), await open(currency, 0n)];
    const command = transfer(from, to, 7n);
    await expect(ledger.transfer(command)).rejects.toMatchObject({
      code: "insufficient_balance",
    });
    await ledger.fund({
      projectId,
      key: key(),
      by,
      to: from,
      amountBase: 50n,
      currency,
      liabilitiesMaxBase: null,
    });
    await expect(ledger.transfer(command)).rejects.toMatchObject({
      code: "insufficient_balance",
    });
    await ledger.transfer({ ...command, key: key() });
    expect(await balanceOf(to)).toBe(7n);
  });

  test("for another request it is refused: at once, later, and on another instance at the same moment", async () => {
    const accounts = await Promise.all(Array.from({ length: 8 }, () => open(currency, 1000n)));
    const [a = "", b = "", c = "", d = ""] = accounts;
    const rounds = 20;
    let mismatches = 0;
    for (let round = 0; round < rounds; round += 1) {
      const shared = { projectId, key: key(), by };
      // The commands use different accounts, so they share no lock, only the key.
      const results = await Promise.allSettled([
        ledger.transfer({ ...shared, ...row(a, b, 1n) }),
        other.ledger.transfer({ ...shared, ...row(c, d, 1n) }),
        ledger.transfer({ ...shared, ...row(a, b, 2n) }),
      ]);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results)
        if (result.status === "rejected") {
          expect(result.reason).toMatchObject({ code: "idempotency_mismatch" });
          mismatches += 1;
        }
    }
    expect(mismatches).toBe(2 * rounds);
    expect((await verify()).violations).toEqual([]);
  });

  test("opens one account", async () => {
    const account = { projectId, currency, name: "Till", key: key(), by };
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 === 0 ? ledger : other.ledger).openAccount(account),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    await expect(ledger.openAccount({ ...account, name: "Other" })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect(await ledger.account(projectId, ids[0] ?? "")).toMatchObject({
      name: "Till",
      status: "active",
      version: 0n,
    });
  });
});

describe("a batch of transfers", () => {
  test("10,000 rows are posted as one transaction, or none of them", async () => {
    const source = await open(currency, 10_000n);
    const targets = await Promise.all(Array.from({ length: 100 }, () => open(currency, 0n)));
    const rows = Array.from({ length: 10_000 }, (_, at) =>
      row(source, targets[at % 100] ?? "", 1n),
    );
    const tooMuch = rows.map((each, at) => (at === 9_999 ? { ...each, amountBase: 2n } : each));
    await expect(
      ledger.transferBatch({ projectId, key: key(), by, rows: tooMuch }),
    ).rejects.toMatchObject({
      code: "insufficient_balance",
    });
    expect(await balanceOf(source)).toBe(10_000n);
    await ledger.transferBatch({ projectId, key: key(), by, rows });
    expect(await balanceOf(source)).toBe(0n);
    expect(await balanceOf(targets[99] ?? "")).toBe(100n);
    const [debit] = await ledger.entries(projectId, source, { limit: 1 });
    expect(debit).toMatchObject({ kind: "batch", amountBase: -10_000n, counterpartyId: null });
  });

  test("every bad row is named by index, and nothing is posted", async () => {
    const [from, to, eth, frozen] = [
      await open(currency, 100n),
      await open(currency, 0n),
      await open("eth", 0n),
      await open(currency, 0n),
    ];
    await ledger.changeAccount({ projectId, accountId: frozen, to: { status: "frozen" } });
    const foreign = await other.open(currency, 0n);
    const rows = [
      row(from, to, 1n),
      row(from, newId("globalAccount"), 1n),
      row(from, eth, 1n),
      row(from, frozen, 1n),
      row(from, from, 1n),
      row(from, foreign, 1n),
      row(from, to, 0n),
      row(from, "nonsense", 1n),
    ];
    const error: unknown = await ledger
      .transferBatch({ projectId, key: key(), by, rows })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "invalid_request",
      details: [
        { path: "transfers.1", code: "unknown_account" },
        { path: "transfers.2", code: "wrong_currency" },
        { path: "transfers.3", code: "account_frozen" },
        { path: "transfers.4", code: "same_account" },
        { path: "transfers.5", code: "unknown_account" },
        { path: "transfers.6", code: "invalid_amount" },
        { path: "transfers.7", code: "unknown_account" },
      ],
    });
    expect(await balanceOf(from)).toBe(100n);
  });

  test("more rows than a batch may have are refused before anything is read", async () => {
    const rows = Array.from({ length: 10_001 }, () => row("a", "b", 1n));
    await expect(
      ledger.transferBatch({ projectId, key: key(), by, rows }),
    ).rejects.toMatchObject({
      code: "batch_too_large",
    });
  });
});

describe("one that cannot be posted", () => {
  test("fails alone, though PostgreSQL refuses the whole statement", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        ledger.transfer({
          ...transfer(from, to, 1n),
          data: { memo: at === 7 ? "\0" : "fine" },
        }),
      ),
    );
    expect(results.map(({ status }) => status).indexOf("rejected")).toBe(7);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(19);
    expect(await balanceOf(to)).toBe(19n);
  });
});

describe("rows of the caller's own", () => {
  const mail = (id: string): [string, unknown[]] => [
    `INSERT INTO dev_mail (id, "to", subject, text, created_at) VALUES ($1, 'a@example.test', 's', 't', now())`,
    [id],
  ];
  const mails = async (id: string): Promise<number> =>
    database.prisma.devMail.count({ where: { id } });

  test("are committed with the posting, refusals included, and not written again on a replay", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const commands = [transfer(from, to, 60n), transfer(from, to, 60n)].map((each) => ({
      ...each,
      kind: "transfer" as const,
    }));
    const ids = [key(), key()];
    const run = (id: string): Promise<readonly Outcome[]> =>
      ledger.together({
        prepare: () => Promise.resolve(commands),
        also: async (sql) => {
          await sql.change(...mail(id));
        },
      });
    const first = await run(ids[0] ?? "");
    expect(first.map(({ posted }) => posted)).toEqual([true, false]);
    const again = await run(ids[1] ?? "");
    expect(again.map(({ replayed, transactionId }) => [replayed, transactionId])).toEqual(
      first.map(({ transactionId }) => [true, transactionId]),
    );
    expect([await mails(ids[0] ?? ""), await mails(ids[1] ?? "")]).toEqual([1, 0]);
  });

  test("undo the posting when they cannot be written", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const id = key();
    const command = { ...transfer(from, to, 60n), kind: "transfer" as const };
    const run = ledger.together({
      prepare: () => Promise.resolve([command]),
      also: async (sql) => {
        await sql.change(...mail(id));
        throw new Error("no");
      },
    });
    await expect(run).rejects.toThrow("no");
    expect([await mails(id), await balanceOf(to)]).toEqual([0, 0n]);
    // The key is still free, because nothing was stored.
    await ledger.transfer(command);
    expect(await balanceOf(to)).toBe(60n);
  });
});

test("the database itself refuses NaN, nothing, too much and less than the minimum", async () => {
  const account = (await open(currency, 5n)).slice(3);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const entry = (amount: string, after: string): Promise<unknown> =>
    client.query(
      `INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
       VALUES ('prj', $1, 99, $1, 'usdc', $2, $3, now())`,
      [account, amount, after],
    );
  for (const [amount, after] of [
    ["NaN", "1"],
    ["1", "NaN"],
    ["0", "1"],
    [String(2n ** 256n), "1"],
    ["1", String(-(2n ** 256n))],
  ] as const)
    await expect(entry(amount, after)).rejects.toThrow("violates check constraint");
  for (const change of [
    "balance = -1",
    "held = 6",
    "held = -1",
    "balance = 'NaN'",
    "status = 'gone'",
    "last_seq = 9",
  ])
    await expect(
      client.query(`UPDATE ledger_account SET ${change} WHERE id = $1`, [account]),
      change,
    ).rejects.toThrow("violates check constraint");
  await client.end();
});
