import { expect, vi } from "vitest";
import type { TestSession } from "./api";
import {
  attackFixture,
  call,
  endpointOf,
  keyOf,
  scheduleOf,
  secretsGiven,
  theApi,
  transferBody,
} from "./token-attacks";
import type { WebhookReceiver } from "./webhook-receiver";

const WAIT = { timeout: 20_000, interval: 50 };

const each = (tables: string, does: string): Readonly<Record<string, string>> =>
  Object.fromEntries(tables.split(/\s+/).map((table) => [table, does]));

/**
 * For each table, the effect that its rows still have once every session of the thief has ended.
 * Tables to which a stolen token can add rows must be listed here. `checkAfterlife` checks the
 * rows that read, receive, sign or run by themselves.
 */
export const AFTERLIFE: Readonly<Record<string, string>> = {
  ...each("session api_key", "Signs in: checked by use."),
  ...each(
    "webhook_endpoint webhook_secret webhook_lane webhook_delivery webhook_attempt",
    "Receives: checked by use.",
  ),
  ...each(
    "payout_schedule payout_schedule_run",
    "Runs: checked by state; a schedule runs once a person proved it.",
  ),
  ...each(
    "notification_channel notification_channel_message",
    "Receives: made with a proof only, checked by state.",
  ),
  ...each(
    "push_subscription",
    "Receives while its session lasts: the test of push ends the session.",
  ),
  ...each("invitation", "Lets somebody join: made with a proof only, checked by state."),
  ...each(
    `approval otp email_code code_limit decision_request decision_vote totp_factor passkey passkey_challenge recovery_code siwe_nonce`,
    "Asks for a proof, or is one that only its person can give; the attacks put factors here past the API.",
  ),
  ...each(
    `quote operation operation_leg operation_event payout payout_rows payout_item wallet_payout wallet_payout_item wallet_payout_batch
    payout_row_key privacy_quote privacy_transfer privacy_step privacy_slot privacy_wallet policy_evaluation
    policy_recipient policy_usage policy_spend project_spend`,
    "Waits for a proof and moves nothing by itself; the test of the attacks reads the balances.",
  ),
  ...each(
    `app_user project membership wallet wallet_link contact annotation managed_key account_deployment ledger_account
    ledger_transaction ledger_entry sponsor_budget sponsor_usage policy notification_preference token_key`,
    "A record of the person's own project: whoever reads or uses it needs a session or a key.",
  ),
  ...each(
    `audit_event audit_link audit_head audit_seal audit_seal_head audit_anchor audit_unlinked mail_outbox dev_mail api_request event event_outbox event_counter job notification
    notification_box notification_due balance_snapshot balance_hold balance_guard reserve_reading chain_transaction signer_nonce
    bundler_queue bundle_operation chain_head periodic_task rpc_budget rate_window idempotency_key instance deposit deposit_scan deposit_coins deposit_dust
    screening_record export export_chunk gas_alert privacy_pool_segment signing_state`,
    "Says what happened, or is the service's own; goes to people of the project.",
  ),
};

/** Number of rows of each table. */
export const countRows = async (): Promise<ReadonlyMap<string, number>> => {
  const { pool } = theApi().services.database;
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '\\_prisma%'`);
  const counts = tables.map(
    ({ name }) => `SELECT '${name}' AS name, (SELECT count(*)::int FROM "${name}") AS count`,
  );
  const { rows } = await pool.query<{ name: string; count: number }>(
    counts.join(" UNION ALL "),
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
};

/** Tables that have more rows now and are not classified. */
export const unclassified = async (before: ReadonlyMap<string, number>): Promise<string[]> =>
  [...(await countRows())].flatMap(([name, count]) =>
    count > (before.get(name) ?? 0) && !(name in AFTERLIFE) ? [name] : [],
  );

const callByKey = async (secret: string, method: string, path: string, body?: object) => {
  const response = await theApi().fetch(path, {
    method,
    headers: { "x-api-key": secret, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

/**
 * Creates one object of each kind with the token, and another one with a key that the token
 * created. All of these objects work at that time.
 */
export const settleIn = async (thief: WebhookReceiver): Promise<void> => {
  const { url, received } = thief;
  await keyOf();
  await endpointOf(url);
  await scheduleOf(attackFixture());
  const secret = secretsGiven.at(-1) ?? "";
  expect(
    (await callByKey(secret, "POST", "/webhook-endpoints", { url, events: ["*"] })).status,
  ).toBe(201);
  const schedule = {
    chainId: 31337,
    transfers: [{ address: attackFixture().eve, amount: "1", token: "USDC" }],
    startsAt: new Date(Date.now() + 60_000).toISOString(),
  };
  expect((await callByKey(secret, "POST", "/payouts/schedules", schedule)).status).toBe(201);
  const before = received.length;
  await keyOf();
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(before), WAIT);
  // Proves that the key's endpoint works; the other endpoint subscribes only to events about keys.
  expect((await call("POST", "/transfers", transferBody(attackFixture()))).status).toBe(201);
  await vi.waitFor(() => expect(transfersTo(thief)).toBeGreaterThan(0), WAIT);
};

/**
 * Deliveries about transfers, which endpoints of API keys receive too. Events about keys go only to
 * endpoints of people.
 */
const transfersTo = ({ received }: WebhookReceiver): number =>
  received.filter(({ body }) => String(body.type).startsWith("transfer.")).length;

/**
 * Creates a key and a transfer, three times, and waits until `own` has received both each time. By
 * then another endpoint would have received its events too.
 * @returns the ids of the keys and the transfers
 */
const makeHappen = async (
  { accessToken }: TestSession,
  own: WebhookReceiver,
): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const [received, transfers] = [own.received.length, transfersTo(own)];
    const key = await call(
      "POST",
      "/auth/api-keys",
      { name: `Turn ${String(turn)}` },
      accessToken,
    );
    expect(key.status).toBe(201);
    const transfer = await call(
      "POST",
      "/transfers",
      transferBody(attackFixture()),
      accessToken,
    );
    expect(transfer.status).toBe(201);
    ids.push(String(key.body.id), String(transfer.body.transferId));
    await vi.waitFor(() => expect(transfersTo(own)).toBeGreaterThan(transfers), WAIT);
    await vi.waitFor(() => expect(own.received.length).toBeGreaterThan(received + 1), WAIT);
  }
  return ids;
};

/**
 * Checks that nothing created with a token can read, receive, sign or run, once the victim has
 * ended the sessions.
 */
export const checkAfterlife = async (
  victim: TestSession,
  { thief, own }: { readonly thief: WebhookReceiver; readonly own: WebhookReceiver },
): Promise<void> => {
  const stolen = attackFixture().customer.session;
  const secrets = [...secretsGiven];
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of secrets)
    await vi.waitFor(
      async () =>
        expect(await callByKey(secret, "GET", "/auth/whoami")).toMatchObject({ status: 401 }),
      WAIT,
    );
  await vi.waitFor(
    async () =>
      expect((await call("GET", "/me", undefined, stolen.accessToken)).status).toBe(401),
    WAIT,
  );
  const refreshed = await theApi().fetch("/auth/refresh", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ refreshToken: stolen.refreshToken }),
  });
  expect(refreshed.status).toBe(401);

  await call("POST", "/webhook-endpoints", { url: own.url, events: ["*"] }, victim.accessToken);
  // A delivery that was on its way at the end of the sessions may still arrive, so the events are
  // told apart by their objects.
  const ids = await makeHappen(victim, own);
  const texts = (receiver: WebhookReceiver) => receiver.received.map(({ raw }) => raw).join();
  expect(ids.filter((id) => !texts(own).includes(id))).toEqual([]);
  expect(ids.filter((id) => texts(thief).includes(id))).toEqual([]);

  const { prisma } = theApi().services.database;
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: attackFixture().customer.treasuryId },
  });
  expect(await prisma.payoutSchedule.count({ where: { projectId, status: "active" } })).toBe(0);
  const open = { projectId, status: "awaiting_approval", suspendedAt: null };
  expect(await prisma.payoutSchedule.count({ where: open })).toBe(0);
  const invited = {
    projectId,
    acceptedAt: null,
    withdrawnAt: null,
    expiresAt: { gt: new Date() },
  };
  expect(await prisma.invitation.count({ where: invited })).toBe(0);
};
