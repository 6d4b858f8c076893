import { expect, test } from "vitest";
import { releasePayout } from "@/lib/dev/testing/account-payouts";
import { testApi } from "@/lib/dev/testing/api";
import { eventsOf, eventTypesOf } from "@/lib/dev/testing/project-events";
import { recordFailedItems } from "./project-event-repository";

const api = await testApi({ devnet: false });
const { services } = api;
const { database, ledger } = services;
const session = await api.signIn();
const key = await api.createKey(session);
const actor = await services.apiKeys.verify(key.secret);
const { projectId } = actor;
const { signal } = new AbortController();
const open = (name: string): Promise<string> =>
  ledger.openAccount({ projectId, currency: "usdc", name, key: name, by: "test" });
const [payer, payee, frozen] = [await open("payer"), await open("payee"), await open("frozen")];
const funding = {
  projectId,
  to: payer,
  amountBase: 100n * 10n ** 18n,
  currency: "usdc",
  liabilitiesMaxBase: null,
};
await ledger.fund({ ...funding, key: "fund", by: "test" });

const create = async (
  mode: "atomic" | "independent",
  recipients: readonly string[],
): Promise<string> => {
  const transfers = recipients.map((recipientAccountId) => ({
    recipientAccountId,
    amount: "1",
    currency: "USDC",
  }));
  const input = {
    kind: "global_accounts" as const,
    sourceAccountId: payer,
    transfers,
    mode,
    validateOnly: false,
    allowDuplicates: true,
    key: null,
  };
  return (await services.payouts.create(actor, input)).payout.id;
};
const release = (id: string): Promise<void> => releasePayout(services, actor, id);
const typesOf = (id: string): Promise<string[]> => eventTypesOf(database, id);

test("a payout writes one event for each of its states", async () => {
  const id = await create("atomic", [payee, payee]);
  await release(id);
  for (let turn = 0; turn < 2; turn += 1) await services.payoutRunner.run(id, signal);
  expect(await typesOf(id)).toEqual([
    "payout.created",
    "payout.processing",
    "payout.completed",
  ]);
  expect((await eventsOf(database, id))[2]?.payload).toMatchObject({
    payoutId: id,
    itemsTotal: 2,
    itemsCompleted: 2,
  });
});

test("a row that fails separately has its own event", async () => {
  const id = await create("independent", [payee, frozen, payee]);
  await ledger.changeAccount({ projectId, accountId: frozen, to: { status: "frozen" } });
  await release(id);
  for (let turn = 0; turn < 2; turn += 1) await services.payoutRunner.run(id, signal);
  expect(await typesOf(id)).toEqual([
    "payout.created",
    "payout.processing",
    "payout.item.failed",
    "payout.partially_completed",
  ]);
  expect((await eventsOf(database, id))[2]?.payload).toMatchObject({ payoutId: id, index: 1 });
});

test("a payout that is cancelled or expires writes one event", async () => {
  const [cancelled, expired] = [
    await create("atomic", [payee]),
    await create("atomic", [payee]),
  ];
  await services.payouts.cancel(actor, cancelled);
  await services.payouts.cancel(actor, cancelled).catch(() => undefined);
  const later = new Date(Date.now() + 48 * 3_600_000);
  for (let turn = 0; turn < 2; turn += 1) await services.payouts.expireDue(later);
  expect(await typesOf(cancelled)).toEqual(["payout.created", "payout.cancelled"]);
  expect(await typesOf(expired)).toEqual(["payout.created", "payout.expired"]);
});

test("a long failure reason from a token's contract is cut, so that events stay small", async () => {
  const id = await create("atomic", [payee]);
  const failure = {
    code: "simulation_failed",
    message: `${"x".repeat(499)}${"😀".repeat(50_000)}`,
    retryable: true,
  };
  await database.rawTransaction((sql) =>
    recordFailedItems(sql, {
      projectId: actor.projectId,
      payoutId: id,
      items: [{ index: 0, failure }],
      at: new Date(),
    }),
  );
  const [, failed] = await eventsOf(database, id);
  expect(failed?.payload).toEqual({
    payoutId: id,
    index: 0,
    failure: { ...failure, message: `${"x".repeat(499)}😀` },
  });
});
