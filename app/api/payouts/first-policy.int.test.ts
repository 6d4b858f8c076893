import { expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { testApi } from "@/lib/dev/testing/api";
import { newPayer, refusal } from "@/lib/dev/testing/payout-requests";
import { putRules } from "@/lib/dev/testing/policies";

const WAIT = { timeout: 20_000, interval: 50 };

const api = await testApi({});

test("the first policy of a project bounds a payout that was waiting for the daily cap when the policy was stored", async () => {
  const { key, customer, person } = await newPayer(api, "100");
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, to] = [await open(), await open()];
  const body = { amount: "50", currency: "USDC" };
  await vi.waitFor(
    () => person.call(fundGlobalAccount, { params: { id: source }, body }),
    WAIT,
  );
  const send = (reference: string) => {
    const transfers = [{ recipientAccountId: to, amount: "5", currency: "USDC", reference }];
    return key.call(createAccountsPayout, { body: { sourceAccountId: source, transfers } });
  };
  await send("The project has no policy");

  const { pool } = api.services.database;
  const holder = await pool.connect();
  try {
    await holder.query("BEGIN");
    const { rows } = await holder.query("SELECT 1 FROM project_spend FOR UPDATE");
    expect(rows).toHaveLength(1);
    const sent = refusal(send("It waits"));
    await vi.waitFor(async () => {
      const waiting = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%project_spend%'`;
      expect((await pool.query(waiting)).rows).toHaveLength(1);
    }, WAIT);
    await putRules(customer.session, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "1" } },
    });
    await holder.query("COMMIT");
    expect(await sent).toMatchObject({ code: "policy_violation" });
  } finally {
    holder.release();
  }
  expect(await refusal(send("Afterwards"))).toMatchObject({ code: "policy_violation" });
});
