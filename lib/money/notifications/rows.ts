import { z } from "zod";
import {
  APPROVAL_ENDS,
  MAIL_TIMES,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "@/lib/contracts/notifications";
import { ROLES } from "@/lib/core/actor";
import {
  bool,
  type Column,
  int,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

const kind = oneOf(z.enum(NOTIFICATION_KINDS));

const LISTED = {
  id: text,
  kind,
  title: text,
  detail: nullable(text),
  objectId: nullable(text),
  path: text,
  createdAt: time,
};

export const listedNotifications = table({ ...LISTED, readAt: nullable(time) });

/** How an approval ended, by the id of the request or of the waiting object. */
export const approvalEnds = table({ id: text, ended: oneOf(z.enum(APPROVAL_ENDS)) });

export interface ListedNotification extends RowOf<typeof listedNotifications> {
  /**
   * How the requested approval ended; null while the approval is pending, and for notifications
   * that request none.
   */
  readonly ended: RowOf<typeof approvalEnds>["ended"] | null;
}

/** Table `notification`. */
export const newNotifications = table({
  ...LISTED,
  projectId: text,
  userId: text,
  /** The id of the event or alert. Each person gets at most one notification about it. */
  source: text,
  inApp: bool,
  /** When the notification is mailed. */
  mail: oneOf(z.enum(["none", "at_once", "daily"])),
  /** The text of the push message, without amounts; null when it is not pushed. */
  pushTitle: nullable(text),
});

export type Notification = RowOf<typeof newNotifications>;

export const mailedNotifications = listedNotifications.pick(
  "id",
  "kind",
  "title",
  "detail",
  "path",
);

export type WaitingMail = RowOf<typeof mailedNotifications>;

/** Table `notification_box`: one row per person and project. */
export const boxes = table({ projectId: text, userId: text });

/** US dollars as decimal text. */
const dollars: Column<string> = {
  ...text,
  type: "numeric",
  select: (name) => `trim_scale(${name})::text`,
};

export const isKind = (stored: string): stored is NotificationKind =>
  (NOTIFICATION_KINDS as readonly string[]).includes(stored);

/** Table `notification_preference`: how a person is notified of a kind. */
export const preferences = table({
  /** Not parsed, because another version of the service may have stored unknown kinds. */
  kind: text,
  inApp: bool,
  mail: oneOf(z.enum(MAIL_TIMES)),
  push: bool,
  /** Set only for large deposits. */
  thresholdUsd: nullable(dollars),
});

export const membersWithPreferences = table({
  projectId: text,
  userId: text,
  role: oneOf(z.enum(ROLES)),
  joinedAt: time,
  kind: nullable(text),
  inApp: nullable(bool),
  mail: nullable(oneOf(z.enum(MAIL_TIMES))),
  push: nullable(bool),
  thresholdUsd: nullable(text),
});

/** The recipient of the notifications in a box, if the person is still a member of the project. */
export const addressees = table({
  projectName: text,
  role: oneOf(z.enum(ROLES)),
  /** The person's verified address; null when there is none. */
  email: nullable(text),
});

/** Table `gas_alert`: an account of the service that has too little for network fees. */
export const gasAlerts = table({
  chainId: int,
  account: oneOf(z.enum(["executor", "paymaster"])),
  /** Coin balance when last read. */
  balance: text,
  since: time,
  /** The last project whose people were notified. */
  toldProjectId: text,
});

export type GasAlert = RowOf<typeof gasAlerts>;
