import { expect, type Page } from "@playwright/test";
import { putAnnotation } from "@/lib/contracts/annotations";
import { createApiKey } from "@/lib/contracts/api-keys";
import { createContact } from "@/lib/contracts/contacts";
import { readWebhookReceiver } from "@/lib/contracts/dev";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { createAccountsPayout, createWalletsPayout } from "@/lib/contracts/payouts";
import { createPrivacyWallet, shield } from "@/lib/contracts/privacy";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { createSmartAccount } from "@/lib/contracts/wallets";
import { createWebhookEndpoint, testWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { projectOf, type TestProject } from "./project";

const CHAIN = 31337;
const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const DAY_MS = 24 * 60 * 60 * 1000;
const RESERVES_TIMEOUT_MS = 30_000;

/** Creates a transfer that arrives and a swap that waits for an approval. */
const seedMovements = async (project: TestProject): Promise<string[]> => {
  const { api, treasury } = project;
  await api.call(createContact, {
    body: {
      name: "Ada Lovelace of the accounting department",
      address: ADA,
      tags: ["Payroll", "Berlin"],
      chainIds: [CHAIN],
    },
  });
  const move = {
    fromChainId: CHAIN,
    toChainId: 31338,
    token: "USDC",
    amount: "25.5",
    toAddress: ADA,
  };
  const sent = await project.execute(await project.prepareTransfer(move));
  const waiting = await api.call(swapAndTransfer, {
    body: {
      fromWalletId: treasury.id,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      fromToken: "USDC",
      toToken: "DAI",
      amount: "10",
      recipient: BOB,
    },
  });
  await api.call(putAnnotation, {
    params: { id: sent },
    body: { memo: "For the work of May", tags: ["Payroll"] },
  });
  return [
    "/contacts",
    "/activity",
    "/activity/summary",
    `/activity/${sent}`,
    `/activity/${waiting.operationId}`,
  ];
};

/** Creates two accounts, funds the first one, and pays the second one from it. */
const seedAccounts = async ({ api }: TestProject): Promise<string[]> => {
  const open = (name: string) =>
    api.call(createGlobalAccount, { body: { currency: "USDC", name } });
  const [payer, payee] = [await open("Payroll of the whole company"), await open("Ada")];
  // The reserves count the treasury's money only at final blocks, so funding may fail at first.
  await expect(async () => {
    await api.call(fundGlobalAccount, {
      params: { id: payer.id },
      body: { amount: "300", currency: payer.assetId },
    });
  }).toPass({ timeout: RESERVES_TIMEOUT_MS });
  const transfers = [
    {
      recipientAccountId: payee.id,
      amount: "123.45",
      currency: payer.assetId,
      reference: "May",
    },
  ];
  const paid = await api.call(createAccountsPayout, {
    body: { sourceAccountId: payer.id, transfers },
  });
  return [
    "/accounts",
    `/accounts/${payer.id}`,
    `/accounts/${payer.id}?view=statement`,
    `/accounts/${payer.id}?view=proof`,
    `/accounts/${payer.id}/withdraw`,
    "/reserves",
    `/payouts/${String(paid.payoutId)}`,
  ];
};

/** Creates a payout and a schedule to wallets; both wait for their approval. */
const seedPayouts = async ({ api }: TestProject): Promise<string[]> => {
  const transfers = [ADA, BOB].map((address, index) => ({
    address,
    amount: `${String(index + 10)}.25`,
    token: "USDC",
    reference: `INV-2026-${String(index)}`,
    note: "For the work of May, with the travel expenses",
  }));
  const body = { chainId: CHAIN, transfers, reference: "Contractors, May" };
  const { payoutId } = await api.call(createWalletsPayout, { body });
  const startsAt = new Date(Date.now() + DAY_MS).toISOString();
  const schedule = await api.call(createPayoutSchedule, {
    body: { ...body, startsAt, every: "month" },
  });
  return [
    "/payouts",
    `/payouts/${String(payoutId)}`,
    `/payouts/${String(payoutId)}/receipt`,
    "/payouts/schedules",
    `/payouts/schedules/${schedule.id}`,
  ];
};

/** Creates a second private wallet, and a deposit that waits for its approval. */
const seedPrivate = async ({ api }: TestProject): Promise<string[]> => {
  await api.call(createPrivacyWallet, { body: { name: "Payroll, private" } });
  const { transferId } = await api.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "50" },
  });
  return [
    "/private",
    `/private/${transferId}`,
    "/private/shield",
    "/private/unshield",
    "/private/swap",
  ];
};

/** Creates API keys, wallets, and a webhook endpoint that has received an event. */
const seedSettings = async (project: TestProject): Promise<string[]> => {
  const { api } = project;
  await api.call(createApiKey, {
    body: { name: "Shop backend", scopes: ["wallets:read", "balances:read"] },
  });
  const treasury = project.treasury;
  await api.call(createSmartAccount, {
    body: {
      ownerAddress: treasury.ownerAddress ?? treasury.address,
      chainId: 31338,
      label: "Savings for the taxes",
    },
  });
  const { url } = await api.call(readWebhookReceiver, {});
  const endpoint = await api.call(createWebhookEndpoint, {
    body: { url, events: ["*"], description: "Receiver" },
  });
  await api.call(testWebhookEndpoint, { params: { id: endpoint.id } });
  return [
    "/api-keys",
    "/wallets",
    "/webhooks",
    `/webhooks/${endpoint.id}`,
    "/dev/webhooks",
    "/settings",
    "/settings/security",
    "/settings/notifications",
    "/settings/reporting",
    "/settings/sponsor-budgets",
    "/inbox",
    "/dev/mail",
  ];
};

/**
 * Fills the signed-in person's project, only through the API.
 * @param known the project when `projectOf` was called before, because it mails a code
 * @returns the paths of all pages that show some of the data
 */
export const seedProject = async (page: Page, known?: TestProject): Promise<string[]> => {
  const project = known ?? (await projectOf(page));
  await project.give(CHAIN, "USDC", "5000");
  await project.give(31338, "DAI", "0.123456789012345678");
  await project.give(31339, "ETH", "1.5");
  return [
    "/",
    "/balances",
    "/swap",
    "/transfer",
    ...(await seedMovements(project)),
    ...(await seedAccounts(project)),
    ...(await seedPayouts(project)),
    ...(await seedPrivate(project)),
    ...(await seedSettings(project)),
  ];
};
