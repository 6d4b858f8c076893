/**
 * Payouts in a form of a later version: they are shown as far as they can be read, and hide no
 * other one.
 */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { listActivity } from "@/lib/contracts/activity";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import {
  cancelPayout,
  createAccountsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
  retryPayout,
} from "@/lib/contracts/payouts";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import {
  idOf,
  itemsOf,
  newPayer,
  pay,
  read,
  refusal,
  row,
  someone,
} from "@/lib/dev/testing/payout-requests";

// No worker runs, so that nothing moves meanwhile.
const api = await testApi({});
const { pool } = api.services.database;
const url = api.services.config.databaseUrl;
type Payer = Awaited<ReturnType<typeof newPayer>>;
let payer: Payer;
let [older, newer, between] = ["", "", ""];

const CHECKS = [
  ["payout", "payout_amounts_check"],
  ["payout", "payout_kind_check"],
  ["payout", "payout_mode_check"],
  ["payout", "payout_status_check"],
  ["payout_item", "payout_item_status_check"],
  ["wallet_payout_item", "wallet_payout_item_status_check"],
  ["wallet_payout_batch", "wallet_payout_batch_state_check"],
] as const;

beforeAll(async () => {
  // As the migration of a later version would, which knows more kinds and states.
  for (const [table, check] of CHECKS)
    await asOwner(url, `ALTER TABLE ${table} DROP CONSTRAINT ${check}`);
  payer = await newPayer(api, "100");
  const { key, person } = payer;
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [sourceAccountId, recipientAccountId] = [await open(), await open()];
  await vi.waitFor(
    () =>
      person.call(fundGlobalAccount, {
        params: { id: sourceAccountId },
        body: { amount: "50", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const transfers = [{ recipientAccountId, amount: "5", currency: "USDC" }];
  between =
    (await key.call(createAccountsPayout, { body: { sourceAccountId, transfers } })).payoutId ?? "";
  older = idOf(await pay(key, [row(someone()), row(someone(), "2")]));
  newer = idOf(await pay(key, [row(someone(), "3")]));
});

const restore: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of restore.splice(0)) await undo();
});

/** Writes the columns of one row as a later version might, until the end of the test. */
const change = async (
  table: string,
  payoutId: string,
  columns: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const where = `${table === "payout" ? "id" : "payout_id"} = $1`;
  const names = Object.keys(columns);
  const set = names.map((name, index) => `"${name}" = $${String(index + 2)}`).join(", ");
  const { rows } = await pool.query<Record<string, unknown>>(
    `SELECT * FROM ${table} WHERE ${where}`,
    [payoutId],
  );
  const write = (values: readonly unknown[]) =>
    pool.query(`UPDATE ${table} SET ${set} WHERE ${where}`, [
      payoutId,
      ...values.map((value) =>
        typeof value === "object" && value !== null ? JSON.stringify(value) : value,
      ),
    ]);
  await write(Object.values(columns));
  restore.push(() => write(names.map((name) => rows[0]?.[name])));
};

const listed = async () => (await payer.person.call(listPayouts)).data;

const csvOf = async (payoutId: string): Promise<string> => {
  const headers = { authorization: `Bearer ${payer.customer.session.accessToken}` };
  const answer = await api.fetch(`/payouts/${payoutId}/items/export`, { headers });
  expect(answer.status).toBe(200);
  return answer.text();
};

const LATER = { form: "next" };

describe("a payout in a form of a later version", () => {
  test.each([
    ["status", "payout", { status: "beamed" }],
    ["sub-status", "payout", { sub_status: "beaming" }],
    ["kind", "payout", { kind: "beams" }],
    ["mode", "payout", { mode: "entangled" }],
    ["failure", "payout", { failure: LATER }],
    ["bearing account", "payout", { currency: "beams", total_base: "1" }],
    ["payer of the fee", "wallet_payout", { fee_paid_by: "beams" }],
    ["warning", "wallet_payout", { warnings: [LATER] }],
    ["total", "wallet_payout", { totals: [LATER] }],
    ["funding", "wallet_payout", { fund_from: LATER, funding: LATER }],
  ])(
    "with an unknown %s is in the list, on its page and in the CSV, and nothing can be asked of it",
    async (_, table, columns) => {
      const others = (await listed()).filter(({ payoutId }) => payoutId !== older);
      await change(table, older, columns);
      const found = await listed();
      expect(found.map(({ payoutId }) => payoutId)).toEqual([newer, older, between]);
      expect(found.filter(({ payoutId }) => payoutId !== older)).toEqual(others);
      const { key, person } = payer;
      const shown = await read(person, older);
      expect(found[1]).toEqual(shown);
      expect(shown).toMatchObject({
        payoutId: older,
        may: { approve: false, cancel: false, retry: false },
        failure: { code: "not_readable", retryable: false },
      });
      expect(shown.nextAction).toContain("newest version");
      expect(await itemsOf(person, older)).toHaveLength(2);
      expect((await csvOf(older)).split("\r\n")).toHaveLength(4);
      const params = { id: older };
      expect(await refusal(key.call(cancelPayout, { params }))).toMatchObject({
        code: "invalid_state",
      });
      expect(await refusal(key.call(retryPayout, { params }))).toMatchObject({
        code: "invalid_state",
      });
      expect((await person.call(listActivity)).data.map(({ id }) => id)).toContain(newer);
    },
  );

  test("with an unknown status between accounts is shown like one to wallets", async () => {
    await change("payout", between, { status: "beamed" });
    expect((await listed()).map(({ payoutId }) => payoutId)).toEqual([newer, older, between]);
    expect(await read(payer.person, between)).toMatchObject({
      status: "processing",
      failure: { code: "not_readable" },
    });
    expect(await csvOf(between)).toContain("5,USDC");
  });

  test("of which nothing can be shown takes no other one out of the list, and its page says why", async () => {
    await change("wallet_payout", newer, { from_address: "nowhere" });
    const page = await payer.person.call(listPayouts, { query: { limit: 1 } });
    expect(page.data).toEqual([]);
    const next = await payer.person.call(listPayouts, {
      query: { limit: 1, cursor: page.nextCursor ?? "" },
    });
    expect(next.data.map(({ payoutId }) => payoutId)).toEqual([older]);
    expect((await listed()).map(({ payoutId }) => payoutId)).toEqual([older, between]);
    const params = { id: newer };
    const refused = { status: 409, code: "invalid_state" };
    expect(await refusal(payer.person.call(getPayout, { params }))).toMatchObject(refused);
    expect(await refusal(payer.person.call(listPayoutItems, { params }))).toMatchObject(refused);
  });

  test.each([
    ["row", "wallet_payout_item", { status: "beamed" }],
    ["batch", "wallet_payout_batch", { state: "beamed" }],
  ])(
    "whose %s has an unknown state shows the row as unknown, which is neither paid nor failed",
    async (_, table, columns) => {
      await change(table, newer, columns);
      expect(await itemsOf(payer.person, newer)).toMatchObject([
        { status: "unknown", failure: null },
      ]);
      expect(await itemsOf(payer.person, newer, "unknown")).toHaveLength(1);
      expect(await csvOf(newer)).toContain(",unknown,");
      expect((await read(payer.person, newer)).may.retry).toBe(false);
    },
  );
});
