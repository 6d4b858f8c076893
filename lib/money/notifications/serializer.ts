import type { getMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createNotificationChannel,
  listNotificationChannels,
} from "@/lib/contracts/notification-channels";
import type {
  getNotificationPreferences,
  listNotifications,
} from "@/lib/contracts/notifications";
import type { createPushSubscription, listPushSubscriptions } from "@/lib/contracts/push";
import type { UserActor } from "@/lib/core/actor";
import type { Channel } from "./channel-rows";
import type { PushSubscriptions } from "./push";
import type { PushSubscription } from "./push-repository";
import { type GasAlert, isKind, type ListedNotification } from "./rows";
import type { Preferences } from "./service";

export const toNotifications = (page: {
  readonly data: readonly ListedNotification[];
  readonly nextCursor: string | null;
  readonly unread: number;
}): ResponseOf<typeof listNotifications> => ({
  data: page.data.map(({ createdAt, readAt, ...notification }) => ({
    ...notification,
    createdAt: createdAt.toISOString(),
    readAt: readAt?.toISOString() ?? null,
  })),
  nextCursor: page.nextCursor,
  unread: page.unread,
});

export const toGasAlerts = (
  alerts: readonly GasAlert[],
): ResponseOf<typeof getMe>["gasAlerts"] =>
  alerts.map(({ chainId, account, balance, since }) => ({
    chainId,
    account,
    balance,
    since: since.toISOString(),
  }));

export const toPreferences = ({
  kinds,
  largeDepositUsd,
  mailAddress,
}: Preferences): ResponseOf<typeof getNotificationPreferences> => ({
  kinds: kinds.map(({ kind, inApp, mail, push, allowed }) => ({
    kind,
    inApp,
    mail,
    push,
    allowed,
  })),
  largeDepositUsd,
  mailAddress,
});

export const toChannel = (channel: Channel): ResponseOf<typeof createNotificationChannel> => ({
  id: channel.id,
  service: channel.service,
  name: channel.name,
  address: channel.shownAddress,
  kinds: channel.kinds.filter(isKind),
  includeAmounts: channel.includeAmounts,
  status: channel.status,
  disabledReason: channel.disabledReason,
  failingSince: channel.failingSince?.toISOString() ?? null,
  lastResult:
    channel.lastAt === null
      ? null
      : {
          at: channel.lastAt.toISOString(),
          statusCode: channel.lastStatus,
          error: channel.lastError,
        },
  createdBy: channel.createdBy,
  createdAt: channel.createdAt.toISOString(),
  updatedAt: channel.updatedAt.toISOString(),
});

export const toChannels = (
  channels: readonly Channel[],
): ResponseOf<typeof listNotificationChannels> => ({ data: channels.map(toChannel) });

/**
 * Omits the full URL and the keys of the browser, because whoever has them can disturb the
 * browser.
 */
export const toPushSubscription = (
  { id, endpoint, sessionId, createdAt }: PushSubscription,
  actor: Pick<UserActor, "sessionId">,
): ResponseOf<typeof createPushSubscription> => ({
  id,
  host: new URL(endpoint).host,
  current: sessionId === actor.sessionId,
  createdAt: createdAt.toISOString(),
});

export const toPushSubscriptions = (
  { publicKey, data }: PushSubscriptions,
  actor: Pick<UserActor, "sessionId">,
): ResponseOf<typeof listPushSubscriptions> => ({
  publicKey,
  data: data.map((one) => toPushSubscription(one, actor)),
});
