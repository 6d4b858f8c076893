/** Creates and mails notifications, and raises alerts; run by workers. */
import { privateKeyToAddress } from "viem/accounts";
import { readGasBalances } from "@/lib/chain/gas-balances";
import { createPusher } from "@/lib/adapters/web-push/pusher";
import { createChannelDelivery } from "@/lib/money/notifications/channel-delivery";
import { createChannelsService } from "@/lib/money/notifications/channels";
import { createPushDelivery, createPushService } from "@/lib/money/notifications/push";
import { createGasWatch } from "@/lib/money/notifications/gas-watch";
import { createMailing } from "@/lib/money/notifications/mail";
import { createMaking } from "@/lib/money/notifications/make";
import type { Deposited } from "@/lib/money/notifications/news";
import { isId } from "@/lib/core/ids";
import { outcomeOf } from "@/lib/money/operations/service";
import { outcomeOf as outcomeOfPayout, type PayoutsService } from "@/lib/money/payouts/service";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import type { Identity } from "./identity";
import type { Money } from "./money";
import type { Platform } from "./platform";

/**
 * Milliseconds to wait for a price. Without a price by then, the deposit's worth counts as unknown.
 */
const PRICE_TIMEOUT_MS = 2000;

export const buildNotifying = (
  { config, database, registry, clock, errorLog: log }: Platform,
  { decisions, mailOutbox: outbox }: Pick<Identity, "decisions" | "mailOutbox">,
  { prices, operations }: Pick<Money, "prices" | "operations">,
  payouts: Pick<PayoutsService, "get">,
) => {
  const nextActionOf = async (projectId: string, objectId: string): Promise<string | null> => {
    if (isId("payout", objectId))
      return outcomeOfPayout(await payouts.get(projectId, objectId)).nextAction;
    const operation = (await operations.getMany(projectId, [objectId])).get(objectId);
    return operation === undefined ? null : outcomeOf(operation, registry).nextAction;
  };

  const worthOfDeposit = async ({
    chainId,
    token: address,
    amount,
  }: Deposited): Promise<number | null> => {
    const token = registry.resolveToken(chainId, address);
    const [price = null] = await prices.priceUsd(
      [token],
      AbortSignal.timeout(PRICE_TIMEOUT_MS),
    );
    return price === null ? null : Number(amount) * Number(price);
  };
  const executors = config.executorPrivateKeys.map((key) => privateKeyToAddress(key));
  return {
    ...createMaking({ database, decisions, worthOf: worthOfDeposit, nextActionOf, clock, log }),
    ...createMailing({ database, outbox, publicUrl: config.publicUrl, clock }),
    watchGas: createGasWatch({
      ...{ database, clock, log },
      chains: registry
        .list()
        .map(({ id, name, nativeCurrency }) => ({ id, name, coin: nativeCurrency.symbol })),
      read: (chainId) => readGasBalances(registry, chainId, executors),
    }).watch,
  };
};

/** Chat channels. Messages go through the sender of webhooks, so the same URLs are allowed. */
export const buildChannels = (
  { config, database, keyring: keys, clock }: Platform,
  { approvals, projects }: Pick<Identity, "approvals" | "projects">,
  sender: WebhookSender,
) => {
  const { publicUrl } = config;
  const deps = { database, keys, sender, approvals, projects, publicUrl, clock };
  return {
    notificationChannels: createChannelsService(deps),
    channelDelivery: createChannelDelivery(deps),
  };
};

/**
 * Push messages to browsers; off without a VAPID key. Messages go through the sender of webhooks,
 * so the same URLs are allowed.
 */
export const buildPush = ({ config, database, clock }: Platform, sender: WebhookSender) => {
  const { vapidPrivateKey: privateKey, publicUrl } = config;
  const pusher =
    privateKey === null ? null : createPusher({ sender, privateKey, publicUrl, clock });
  const deps = { database, pusher, clock };
  return { push: createPushService(deps), pushDelivery: createPushDelivery(deps) };
};
