import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { testLedger } from "@/lib/dev/testing/ledger";

const { url, database } = await testDatabase();
const reader = sqlOn(database.pool);
const { ledger, projectId, open } = testLedger(url);
const other = testLedger(url);

const unfit = async (source: string, ids: readonly string[]) =>
  Object.fromEntries(
    (await ledger.payer(reader, projectId, { sourceId: source, accountIds: ids })).unfit,
  );

const setStatus = (accountId: string, status: "active" | "frozen") =>
  ledger.changeAccount({ projectId, accountId, to: { status } });

test("recipients are refused with the reason, however often they were looked at before", async () => {
  const [source, fit, foreign, dai] = [
    await open("usdc", 0n),
    await open("usdc", 0n),
    await other.open("usdc", 0n),
    await open("dai", 0n),
  ];
  const missing = newId("globalAccount");
  const expected = {
    [foreign]: "missing",
    [dai]: "currency",
    [missing]: "missing",
    "not an id": "missing",
  };
  for (let time = 0; time < 3; time += 1)
    expect(await unfit(source, [fit, foreign, dai, missing, "not an id"])).toEqual(expected);
  // The other project reads the same accounts through the same service.
  const others = await ledger.payer(reader, other.projectId, {
    sourceId: foreign,
    accountIds: [fit, foreign],
  });
  expect(Object.fromEntries(others.unfit)).toEqual({ [fit]: "missing" });
  for (const none of [newId("globalAccount"), "not an id", foreign])
    await expect(unfit(none, [fit])).rejects.toMatchObject({ code: "not_found" });
});

test("an account that is frozen after it was looked at is refused, and fit again when it is unfrozen", async () => {
  const [source, account] = [await open("usdc", 0n), await open("usdc", 0n)];
  expect(await unfit(source, [account])).toEqual({});
  await setStatus(account, "frozen");
  expect(await unfit(source, [account])).toEqual({ [account]: "frozen" });
  await setStatus(account, "active");
  expect(await unfit(source, [account])).toEqual({});
});

test("an account that is opened after its id was looked at is fit", async () => {
  const source = await open("usdc", 0n);
  const later = newId("globalAccount");
  expect(await unfit(source, [later])).toEqual({ [later]: "missing" });
  await database.pool.query(
    `INSERT INTO ledger_account (id, project_id, currency, kind, status, minimum, created_at, updated_at)
     VALUES ($1::uuid, $2, 'usdc', 'customer', 'active', 0, now(), now())`,
    [later.slice(3), projectId],
  );
  expect(await unfit(source, [later])).toEqual({});
});

test("in a project with thousands of closed accounts, those that are asked about are looked up", async () => {
  const [source, fit, frozen] = [
    await open("usdc", 0n),
    await open("usdc", 0n),
    await open("usdc", 0n),
  ];
  await setStatus(frozen, "frozen");
  await database.pool.query(
    `INSERT INTO ledger_account (id, project_id, currency, kind, status, minimum, created_at, updated_at)
     SELECT gen_random_uuid(), $1, 'usdc', 'customer', 'closed', 0, now(), now() FROM generate_series(1, 3000)`,
    [projectId],
  );
  expect(await unfit(source, [fit, frozen, "not an id"])).toEqual({
    [frozen]: "frozen",
    "not an id": "missing",
  });
});
