/** The roles that get each kind of notification, and the defaults for people who chose nothing. */
import { NOTIFICATION_KINDS, type MailTime, type NotificationKind } from "@/lib/contracts/notifications";
import type { Role } from "@/lib/core/actor";
import { roleMay, type Permission } from "@/lib/core/permissions";

/** The permission that a role needs to be notified; null: every role may see it. */
const NEEDS: Readonly<Record<NotificationKind, Permission | null>> = {
  approval_waiting: "money:move",
  operation_failed: null,
  large_deposit: null,
  gas_low: "jobs:manage",
  member_joined: "members:manage",
  key_created: "keys:manage",
  policy_changed: "policies:manage",
};

export const mayBeTold = (role: Role, kind: NotificationKind): boolean => {
  const permission = NEEDS[kind];
  return permission === null || roleMay(role, permission);
};

export const kindsOf = (role: Role): readonly NotificationKind[] =>
  NOTIFICATION_KINDS.filter((kind) => mayBeTold(role, kind));

export interface Choice {
  readonly inApp: boolean;
  readonly mail: MailTime;
}

/**
 * Mail is on for what a person has to act on. The owners of a project get a mail of their own about members and keys in any case
 * (`tellOwners`), so those two are off here.
 */
const MAILED: Readonly<Record<NotificationKind, MailTime>> = {
  approval_waiting: "at_once",
  operation_failed: "daily",
  large_deposit: "off",
  gas_low: "at_once",
  member_joined: "off",
  key_created: "off",
  policy_changed: "off",
};

export const defaultChoice = (kind: NotificationKind): Choice => ({ inApp: true, mail: MAILED[kind] });

export const LARGE_DEPOSIT_USD = "10000";

/** The hour of the day, UTC, at which the mails of the day go out. */
const DAILY_HOUR = 7;
const DAY_MS = 24 * 3_600_000;

/** The next time at which the mails of the day go out. */
export const nextDaily = (now: Date): Date => {
  const today = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), DAILY_HOUR));
  return today > now ? today : new Date(today.getTime() + DAY_MS);
};
