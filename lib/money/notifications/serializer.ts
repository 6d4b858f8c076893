import type { getMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  getNotificationPreferences,
  listNotifications,
} from "@/lib/contracts/notifications";
import type { GasAlert, ListedNotification } from "./rows";
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
  kinds: kinds.map(({ kind, inApp, mail, allowed }) => ({ kind, inApp, mail, allowed })),
  largeDepositUsd,
  mailAddress,
});
