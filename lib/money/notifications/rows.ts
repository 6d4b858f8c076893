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

// The tables of this module.

const kind = oneOf(z.enum(NOTIFICATION_KINDS));

const LISTED = {
  id: text,
  kind,
  title: text,
  detail: nullable(text),
  objectId: nullable(text),
  /** Path of the page in the dashboard. */
  path: text,
  createdAt: time,
};

/** A notification as its person sees it. */
export const listedNotifications = table({ ...LISTED, readAt: nullable(time) });

/** How an approval ended, by the id of the request or of the waiting object. */
export const approvalEnds = table({ id: text, ended: oneOf(z.enum(APPROVAL_ENDS)) });

export interface ListedNotification extends RowOf<typeof listedNotifications> {
  /** How the approval ended that it asks for; null while it waits, and for other kinds. */
  readonly ended: RowOf<typeof approvalEnds>["ended"] | null;
}

/** Table `notification`: a notification as it is stored when it is made. */
export const newNotifications = table({
  ...LISTED,
  projectId: text,
  userId: text,
  /** The event or alert. Each person gets one notification about it. */
  source: text,
  inApp: bool,
  /** When its mail is sent; `none` when it needs no mail. */
  mail: oneOf(z.enum(["none", "at_once", "daily"])),
});

export type Notification = RowOf<typeof newNotifications>;

/** A notification in a mail. */
export const mailedNotifications = listedNotifications.pick(
  "id",
  "kind",
  "title",
  "detail",
  "path",
);

export type WaitingMail = RowOf<typeof mailedNotifications>;

/** Table `notification_box`: the notifications of a person in a project. */
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
  /** Another version of the service may have stored kinds that this one does not have. */
  kind: text,
  inApp: bool,
  mail: oneOf(z.enum(MAIL_TIMES)),
  /** Set only for large deposits. */
  thresholdUsd: nullable(dollars),
});

/** A member of a project, with one of the member's preferences if there are any. */
export const membersWithPreferences = table({
  projectId: text,
  userId: text,
  role: oneOf(z.enum(ROLES)),
  joinedAt: time,
  kind: nullable(text),
  inApp: nullable(bool),
  mail: nullable(oneOf(z.enum(MAIL_TIMES))),
  thresholdUsd: nullable(text),
});

/** The person who owns a notification box, while the person is a member. */
export const addressees = table({
  projectName: text,
  role: oneOf(z.enum(ROLES)),
  /** The verified address; null when there is none. */
  email: nullable(text),
});

/** Table `gas_alert`: an account of the service that has too little for network fees. */
export const gasAlerts = table({
  chainId: int,
  account: oneOf(z.enum(["executor", "paymaster"])),
  /** Coin balance of the account at the last read. */
  balance: text,
  since: time,
  /** The last project whose people were notified. */
  toldProjectId: text,
});

export type GasAlert = RowOf<typeof gasAlerts>;
