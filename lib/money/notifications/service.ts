/** The notifications and notification settings of a signed-in person in a project. */
import {
  NOTIFICATION_KINDS,
  type MailTime,
  type NotificationKind,
} from "@/lib/contracts/notifications";
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { isId } from "@/lib/core/ids";
import { announce, sqlOn } from "@/lib/platform/db/sql";
import type { Database } from "@/lib/platform/db/client";
import { CHANGE_CHANNEL } from "@/lib/news/feed/service";
import { maskEmail } from "@/lib/news/mail/service";
import {
  type Choice,
  defaultChoice,
  kindsOf,
  LARGE_DEPOSIT_USD,
  mayBeTold,
  type NotificationFilter,
} from "./notification";
import {
  countUnread,
  listAlerts,
  listNotifications,
  markRead,
  type Owner,
  readPreferences,
  stopMail,
  wantMailAtOnce,
  writePreferences,
} from "./repository";
import type { GasAlert, ListedNotification } from "./rows";

export { encryptedChannelAddresses } from "./channel-repository";
export { queueNews } from "./due-repository";

export interface NotificationsDeps {
  readonly database: Database;
  readonly people: { verifiedEmail(userId: string): Promise<string | null> };
  readonly clock: Clock;
}

export interface Preference extends Choice {
  readonly kind: NotificationKind;
  /** Whether the person's role may get notifications of this kind. */
  readonly allowed: boolean;
}

export interface Preferences {
  readonly kinds: readonly Preference[];
  readonly largeDepositUsd: string;
  /** The person's verified address, masked; null when there is none. */
  readonly mailAddress: string | null;
}

export interface PreferencesChange {
  readonly kinds: readonly {
    readonly kind: NotificationKind;
    readonly inApp: boolean;
    readonly mail: MailTime;
    /** When absent, the setting does not change. */
    readonly push?: boolean | undefined;
  }[];
  readonly largeDepositUsd?: string | undefined;
}

const ownerOf = ({ projectId, userId, role }: UserActor): Owner => ({
  projectId,
  userId,
  kinds: kindsOf(role),
});

/**
 * Finds the people who want to be mailed about a request for approval; the request's own job sends
 * the mail.
 * @returns those of `userIds` who want the mail
 */
export const createApprovalMailChoice =
  ({ database }: Pick<NotificationsDeps, "database">) =>
  (projectId: string, userIds: readonly string[]): Promise<ReadonlySet<string>> =>
    wantMailAtOnce(sqlOn(database.pool), {
      ...{ projectId, userIds, kind: "approval_waiting" },
      standard: defaultChoice("approval_waiting").mail,
    });

/** Reads one person's notifications and settings; `createMaking` stores the notifications. */
export const createNotificationsService = ({ database, people, clock }: NotificationsDeps) => {
  const reader = sqlOn(database.pool);

  const preferences = async (actor: UserActor): Promise<Preferences> => {
    const [stored, email] = await Promise.all([
      readPreferences(reader, actor),
      people.verifiedEmail(actor.userId),
    ]);
    const known = new Map(stored.map((one) => [one.kind, one]));
    const kinds = NOTIFICATION_KINDS.map((kind) => {
      const { inApp, mail, push } = known.get(kind) ?? defaultChoice(kind);
      return { kind, inApp, mail, push, allowed: mayBeTold(actor.role, kind) };
    });
    return {
      kinds,
      largeDepositUsd: known.get("large_deposit")?.thresholdUsd ?? LARGE_DEPOSIT_USD,
      mailAddress: email === null ? null : maskEmail(email),
    };
  };

  return {
    /** The person's notifications, newest first, with the number of unread ones. */
    list: async (
      actor: UserActor,
      {
        limit,
        cursor,
        ...filter
      }: NotificationFilter & { readonly limit: number; readonly cursor?: string | undefined },
    ): Promise<{
      data: readonly ListedNotification[];
      nextCursor: string | null;
      unread: number;
    }> => {
      const owner = ownerOf(actor);
      const page = { filter, before: cursor ?? null, limit: limit + 1 };
      const [rows, unread] = await Promise.all([
        listNotifications(reader, owner, page),
        countUnread(reader, owner),
      ]);
      const data = rows.slice(0, limit);
      return {
        data,
        nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null,
        unread,
      };
    },

    /**
     * Marks the listed notifications, or all up to `upTo`, as read.
     * @returns how many remain unread
     */
    read: async (
      actor: UserActor,
      read: { readonly ids: readonly string[] } | { readonly upTo: string },
    ): Promise<{ unread: number }> => {
      const isOne = (id: string): boolean => isId("notification", id);
      const ids = "ids" in read ? read.ids.filter(isOne) : [];
      const upTo = "upTo" in read && isOne(read.upTo) ? read.upTo : null;
      await database.rawTransaction(async (sql) => {
        await markRead(sql, actor, { ids, upTo, at: clock.now() });
        // Updates the person's other tabs and devices.
        announce(sql, { channel: CHANGE_CHANNEL, payload: actor.projectId });
      });
      return { unread: await countUnread(reader, ownerOf(actor)) };
    },

    preferences,

    /**
     * The service's accounts that have too little left for network fees, which affects every
     * project.
     */
    gasAlerts: (): Promise<readonly GasAlert[]> => listAlerts(reader),

    /** Changes the settings of some kinds. When mail is turned off, waiting mail is not sent. */
    setPreferences: async (
      actor: UserActor,
      change: PreferencesChange,
    ): Promise<Preferences> => {
      const before = await preferences(actor);
      const { largeDepositUsd = before.largeDepositUsd } = change;
      const named = new Map(change.kinds.map((one) => [one.kind, one]));
      const isSet = (kind: NotificationKind): boolean =>
        named.has(kind) ||
        (kind === "large_deposit" && largeDepositUsd !== before.largeDepositUsd);
      const stored = before.kinds
        .filter(({ kind }) => isSet(kind))
        .map(({ kind, ...old }) => {
          const { inApp, mail, push = old.push } = named.get(kind) ?? old;
          return {
            kind,
            inApp,
            mail,
            push,
            thresholdUsd: kind === "large_deposit" ? largeDepositUsd : null,
          };
        });
      await database.rawTransaction(async (sql) => {
        await writePreferences(sql, actor, stored);
        await stopMail(
          sql,
          actor,
          stored.flatMap(({ kind, mail }) => (mail === "off" ? [kind] : [])),
        );
      });
      return preferences(actor);
    },
  };
};
