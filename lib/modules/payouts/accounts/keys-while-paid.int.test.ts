import { beforeEach, expect, test } from "vitest";
import { releasePayout } from "@/lib/testing/account-payouts";
import { testApi } from "@/lib/testing/api";

const api = await testApi({ devnet: false });
const { services } = api;
const { database, ledger } = services;
const { pool } = database;
const session = await api.signIn();
const key = await api.createKey(session);
const actor = await services.apiKeys.verify(key.secret);
const { projectId } = actor;
const open = (name: string): Promise<string> =>
  ledger.openAccount({ projectId, currency: "usdc", name, key: name, by: "test" });
const [payer, one, two] = [await open("payer"), await open("one"), await open("two")];
const funding = { projectId, to: payer, amountBase: 100n * 10n ** 18n, currency: "usdc", liabilitiesMaxBase: null };
await ledger.fund({ ...funding, key: "fund", by: "test" });

let month = 0;
beforeEach(() => {
  month += 1;
});

const create = async (recipients: readonly string[]): Promise<string> => {
  const reference = `month ${String(month)}`;
  const rest = { amount: "1", currency: "USDC", reference };
  const transfers = recipients.map((recipientAccountId) => ({ recipientAccountId, ...rest }));
  const options = { mode: "atomic", validateOnly: false, allowDuplicates: false, key: null } as const;
  return (await services.payouts.createBetweenAccounts(actor, { sourceAccountId: payer, transfers, ...options })).payout
    .id;
};
const run = async (id: string): Promise<void> => {
  await releasePayout(services, actor, id);
  await services.payoutRunner.run(id, new AbortController().signal);
};
const statusOf = async (id: string): Promise<string | undefined> =>
  (await services.payouts.get(projectId, id)).payout.status;
/** How many of a payout's keys wait to be indexed, and how many are. */
const keysOf = async (id: string): Promise<readonly [waiting: number, indexed: number]> => {
  const { rows } = await pool.query<{ waiting: number; indexed: number }>(
    `SELECT coalesce((SELECT sum(cardinality(keys)) FROM payout_new_keys WHERE project_id = $1 AND payout_id = $2), 0)::int AS waiting,
       (SELECT count(*)::int FROM payout_row_key WHERE project_id = $1 AND payout_id = $2) AS indexed`,
    [projectId, id],
  );
  return [rows[0]?.waiting ?? -1, rows[0]?.indexed ?? -1];
};

test("the keys of a payout are moved to their index while it is paid, and find a repeated payment before and after", async () => {
  const id = await create([one, two]);
  expect(await keysOf(id)).toEqual([2, 0]);
  await expect(create([two])).rejects.toMatchObject({ code: "duplicate_payout" });
  await run(id);
  expect(await statusOf(id)).toBe("completed");
  expect(await keysOf(id)).toEqual([0, 2]);
  await expect(create([two])).rejects.toMatchObject({ code: "duplicate_payout" });
});

test("a payout whose keys cannot be moved is paid all the same, and they are found and moved later", async () => {
  const id = await create([one, two]);
  await pool.query(`
    CREATE FUNCTION refuse_keys() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no room'; END $$;
    CREATE TRIGGER refuse_keys BEFORE INSERT ON payout_row_key FOR EACH ROW EXECUTE FUNCTION refuse_keys()`);
  try {
    await run(id);
    expect(await statusOf(id)).toBe("completed");
    expect(await keysOf(id)).toEqual([2, 0]);
    await expect(create([two])).rejects.toMatchObject({ code: "duplicate_payout" });
  } finally {
    await pool.query("DROP TRIGGER refuse_keys ON payout_row_key; DROP FUNCTION refuse_keys()");
  }
  await services.indexPayoutKeys();
  expect(await keysOf(id)).toEqual([0, 2]);
});

test("the keys of a payout are moved once, however many move them", async () => {
  const id = await create([one, two]);
  await Promise.all([services.indexPayoutKeys(), run(id), services.indexPayoutKeys()]);
  expect(await statusOf(id)).toBe("completed");
  expect(await keysOf(id)).toEqual([0, 2]);
});
