import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { addSeconds } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { withinRequestTime } from "@/lib/core/request-time";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { testLedger } from "@/lib/dev/testing/ledger";

const { url, database } = await testDatabase();
let time = new Date("2026-01-01T00:00:00Z");
const clock = { now: () => time };
const { ledger, projectId, open, verify } = testLedger(url, { clock });
const other = testLedger(url, { clock });
const by = "test";
const currency = "usdc";

const key = (): string => newId("event");
const transfer = (from: string, to: string, amountBase: bigint) => ({
  projectId,
  key: key(),
  by,
  from,
  to,
  amountBase,
  currency,
});
const balanceOf = async (id: string): Promise<bigint> =>
  (await ledger.account(projectId, id)).postedBase;

describe("a request whose time is over", () => {
  const BUDGET_MS = 300;
  const LATE_MS = 400;

  test("moves nothing, and transfers of other requests go on", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const late = withinRequestTime(1, async () => {
      await sleep(LATE_MS);
      return ledger.transfer(transfer(from, to, 10n));
    });
    const [, { status }] = await Promise.allSettled([
      late,
      withinRequestTime(60_000, () => ledger.transfer(transfer(from, to, 5n))),
    ]);
    expect(status).toBe("fulfilled");
    await expect(late).rejects.toMatchObject({ code: "service_unavailable" });
    expect(await balanceOf(to)).toBe(5n);
  });

  test("commits the rest when its transfer was posted, also in a batch that another request began", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const first = withinRequestTime(60_000, () => ledger.transfer(transfer(from, to, 1n)));
    const second = withinRequestTime(BUDGET_MS, async () => {
      await ledger.transfer(transfer(from, to, 10n));
      await sleep(LATE_MS);
      await database.transaction((tx) => tx.$queryRaw`SELECT 1`);
    });
    const [, { status }] = await Promise.allSettled([first, second]);
    // On a loaded machine the second transfer may be refused; then nothing of it may be posted.
    expect(await balanceOf(to)).toBe(status === "fulfilled" ? 11n : 1n);
  });
});

describe("funding", () => {
  const fund = (to: string, amountBase: bigint, liabilitiesMaxBase: bigint | null) => ({
    projectId,
    key: key(),
    by,
    to,
    amountBase,
    currency: "dai",
    liabilitiesMaxBase,
  });

  test("never lets liabilities exceed the limit, however many come at once on two instances", async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => open("dai", 0n)));
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 === 0 ? ledger : other.ledger).fund(fund(accounts[at % 5] ?? "", 10n, 105n)),
      ),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    for (const result of results)
      if (result.status === "rejected")
        expect(result.reason).toMatchObject({ code: "insufficient_reserves" });
    expect((await ledger.liabilities(projectId)).get("dai")).toBe(100n);
  });

  test("waits while a transaction of the app holds the liabilities still", async () => {
    const account = await open("weth", 0n);
    const before = await database.transaction(async (tx) => {
      const owed = await owedUnderLock(tx);
      const funding = ledger.fund({ ...fund(account, 10n, null), currency: "weth" });
      const raced = await Promise.race([funding, waiting("ledger_account")]);
      expect(raced).toBe("waiting");
      expect(await owedUnderLock(tx)).toBe(owed);
      return { owed, funding };
    });
    await before.funding;
    expect(await ledger.liabilities(projectId)).toEqual(
      new Map([...(await ledger.liabilities(projectId)), ["weth", (before.owed ?? 0n) + 10n]]),
    );
  });

  const owedUnderLock = async (tx: Tx): Promise<bigint | undefined> => {
    const [owed] = await ledger.lockLiabilities(sqlOf(tx), projectId, ["weth"]);
    return owed;
  };

  /** Resolves once a connection waits for a lock in a statement on this table. */
  const waiting = async (table: string): Promise<"waiting"> => {
    for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
      const { rowCount } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1 AND datname = current_database()",
        [`%${table}%`],
      );
      if (rowCount) return "waiting";
    }
    throw new Error("Nothing waited.");
  };
});

describe("a reversal", () => {
  test("mirrors its source once, is shown beside it, and is not reversed", async () => {
    const [from, to] = [await open(currency, 100n), await open(currency, 0n)];
    const { transactionId } = await ledger.transfer(transfer(from, to, 30n));
    const results = await Promise.allSettled(
      [ledger, other.ledger, ledger].map((each) =>
        each.reverse({ projectId, key: key(), by, transactionId }),
      ),
    );
    const [done, ...more] = results.filter(({ status }) => status === "fulfilled");
    expect(more).toEqual([]);
    const reversal = done?.status === "fulfilled" ? done.value.transactionId : "";
    expect([await balanceOf(from), await balanceOf(to)]).toEqual([100n, 0n]);
    const [last, first] = await ledger.entries(projectId, to, { limit: 5 });
    expect(last).toMatchObject({
      transactionId: reversal,
      kind: "reverse",
      reversesId: transactionId,
      amountBase: -30n,
    });
    expect(first).toMatchObject({
      transactionId,
      reversedById: reversal,
      counterpartyId: from,
    });
    await expect(
      ledger.reverse({ projectId, key: key(), by, transactionId: reversal }),
    ).rejects.toMatchObject({
      code: "invalid_state",
    });
  });

  test("of money that was spent is refused", async () => {
    const [a, b, c] = [
      await open(currency, 10n),
      await open(currency, 0n),
      await open(currency, 0n),
    ];
    const { transactionId } = await ledger.transfer(transfer(a, b, 10n));
    await ledger.transfer(transfer(b, c, 1n));
    await expect(
      ledger.reverse({ projectId, key: key(), by, transactionId }),
    ).rejects.toMatchObject({
      code: "insufficient_balance",
    });
  });
});

describe("a statement", () => {
  test("opens with what was there, lists what happened in between, page by page, and closes with the rest", async () => {
    const [from, to] = [await open(currency, 1000n), await open(currency, 0n)];
    const start = time;
    for (let minute = 0; minute < 10; minute += 1) {
      time = addSeconds(start, minute * 60);
      await ledger.transfer({ ...transfer(from, to, BigInt(minute + 1)), data: { minute } });
    }
    const range = { from: addSeconds(start, 120), to: addSeconds(start, 420) };
    const statement = await ledger.statement(projectId, to, range);
    const sums = { openingBase: 3n, closingBase: 28n, inBase: 25n, outBase: 0n };
    expect(statement).toEqual({ ...sums, firstSeq: 3n, endSeq: 8n });
    const page = await ledger.entriesBetween(
      { projectId, accountId: to },
      { ...statement, limit: 3 },
    );
    expect(
      page.map(({ amountBase, balanceAfterBase }) => [amountBase, balanceAfterBase]),
    ).toEqual([
      [3n, 6n],
      [4n, 10n],
      [5n, 15n],
    ]);
    const rest = await ledger.entriesBetween(
      { projectId, accountId: to },
      { ...statement, firstSeq: 6n, limit: 3 },
    );
    expect(rest.map(({ data }) => data)).toEqual([{ minute: 5 }, { minute: 6 }]);
    expect(await ledger.statement(projectId, from, range)).toMatchObject({
      inBase: 0n,
      outBase: 25n,
    });
    const empty = await ledger.statement(projectId, to, {
      from: addSeconds(start, -10),
      to: start,
    });
    expect(empty).toEqual({
      openingBase: 0n,
      closingBase: 0n,
      inBase: 0n,
      outBase: 0n,
      firstSeq: 1n,
      endSeq: 1n,
    });
  });

  test("a clock that lags puts no entry before the one that it follows", async () => {
    const [from, to] = [await open(currency, 10n), await open(currency, 0n)];
    await ledger.transfer(transfer(from, to, 1n));
    const now = time;
    time = addSeconds(now, -3600);
    await ledger.transfer(transfer(from, to, 1n));
    time = now;
    const [last, first] = await ledger.entries(projectId, to, { limit: 2 });
    expect(last?.createdAt).toEqual(first?.createdAt);
  });
});

test("another project's accounts and transactions do not exist", async () => {
  const [mine, theirs] = [await open(currency, 10n), await other.open(currency, 10n)];
  const foreign = { projectId: other.projectId, key: key(), by };
  await expect(ledger.account(other.projectId, mine)).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(ledger.entries(other.projectId, mine, { limit: 1 })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(ledger.account(projectId, "ga_nonsense")).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(ledger.transfer(transfer(mine, theirs, 1n))).rejects.toMatchObject({
    code: "not_found",
  });
  const { transactionId } = await ledger.transfer(transfer(mine, await open(currency, 0n), 1n));
  await expect(ledger.reverse({ ...foreign, transactionId })).rejects.toMatchObject({
    code: "not_found",
  });
  const pages = await ledger.accounts(projectId, { limit: 3 });
  expect(pages).toHaveLength(3);
  const [next] = await ledger.accounts(projectId, { limit: 1, before: pages[2]?.id ?? "" });
  expect(next?.id.localeCompare(pages[2]?.id ?? "")).toBe(-1);
  expect((await verify()).violations).toEqual([]);
});
