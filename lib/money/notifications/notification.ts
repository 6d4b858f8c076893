import type { CreatedBetween } from "@/lib/platform/db/list-filters";
import {
  type MailTime,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "@/lib/contracts/notifications";
import type { Role } from "@/lib/core/actor";
import { type Permission, roleMay } from "@/lib/core/permissions";
import { newId } from "@/lib/core/ids";
import type { Notification } from "./rows";

/** Something that happened; its recipients are not chosen yet. */
export interface News {
  readonly projectId: string;
  readonly kind: NotificationKind;
  /** The id of the event or alert. Each person gets at most one notification about it. */
  readonly source: string;
  readonly title: string;
  readonly detail: string | null;
  /** The title without amounts, for readers who may not be people of the project. */
  readonly plainTitle: string;
  /** Whether the event is about a private movement. */
  readonly isPrivate: boolean;
  readonly objectId: string | null;
  readonly path: string;
  readonly at: Date;
  /** In US dollars; null when unknown or not a deposit. */
  readonly depositUsd: number | null;
  /**
   * The request for votes that the event announces, if any. The job of the request mails the
   * possible voters.
   */
  readonly decisionId: string | null;
  /** The person who caused the event, and therefore gets no notification about it. */
  readonly by: string | null;
}

export interface NotificationFilter extends CreatedBetween {
  /** `true` selects only unread notifications. */
  readonly unread?: "true" | undefined;
}

// The roles that get each kind of notification, and the defaults for people without settings.

/**
 * For each kind, the permission that a person's role needs to get the notification; null when
 * every role gets it.
 */
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
  /** Whether the notification is pushed to the person's browsers, if any. */
  readonly push: boolean;
}

/**
 * Mail is on by default for events that need an action. Mail about members and keys is off here,
 * because owners always get a separate mail about them (`tellOwners`).
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

export const defaultChoice = (kind: NotificationKind): Choice => ({
  inApp: true,
  mail: MAILED[kind],
  // This default has no effect before the person turns push on in a browser.
  push: kind === "approval_waiting",
});

export const LARGE_DEPOSIT_USD = "10000";

// Chooses who is notified of an event, and whether by mail. Pure.

/** A member of the project with settings. Kinds that are not in `choices` use their defaults. */
export interface Recipient {
  readonly userId: string;
  readonly role: Role;
  readonly joinedAt: Date;
  readonly choices: ReadonlyMap<NotificationKind, Choice>;
  /** The person's threshold for large deposits, in US dollars; null for the default. */
  readonly largeDepositUsd: string | null;
}

export type Voters = ReadonlyMap<string, ReadonlySet<string>>;

const isMeant = (
  news: News,
  { userId, role, joinedAt, largeDepositUsd }: Recipient,
  voters: Voters,
): boolean => {
  if (!mayBeTold(role, news.kind) || joinedAt > news.at || news.by === userId) return false;
  if (news.decisionId !== null) return voters.get(news.decisionId)?.has(userId) === true;
  // A deposit of unknown worth may be large, so the person is notified of it.
  return (
    news.depositUsd === null || news.depositUsd >= Number(largeDepositUsd ?? LARGE_DEPOSIT_USD)
  );
};

const mailOf = (news: News, { mail }: Choice): Notification["mail"] => {
  if (mail === "off") return "none";
  // People who chose `at_once` already get a mail from the request for votes, with every approved
  // value.
  return mail === "at_once" && news.decisionId !== null ? "none" : mail;
};

export const notificationsOf = (
  news: News,
  people: readonly Recipient[],
  voters: Voters,
): readonly Notification[] =>
  people.flatMap((person) => {
    if (!isMeant(news, person, voters)) return [];
    const choice = person.choices.get(news.kind) ?? defaultChoice(news.kind);
    const mail = mailOf(news, choice);
    if (!choice.inApp && mail === "none" && !choice.push) return [];
    const { projectId, kind, source, title, detail, objectId, path, at } = news;
    const own = {
      userId: person.userId,
      id: newId("notification"),
      inApp: choice.inApp,
      mail,
      pushTitle: choice.push ? news.plainTitle : null,
      createdAt: at,
    };
    return [{ projectId, kind, source, title, detail, objectId, path, ...own }];
  });
