import type { NotificationKind } from "@/lib/contracts/notifications";

/** Something that happened, before its recipients are known. */
export interface News {
  readonly projectId: string;
  readonly kind: NotificationKind;
  /** The event, or the alert: each person gets one notification of it. */
  readonly source: string;
  readonly title: string;
  readonly detail: string | null;
  readonly objectId: string | null;
  /** Of the page in the dashboard. */
  readonly path: string;
  readonly at: Date;
  /** The worth of the deposit in US dollars; null where that is not known or nothing was deposited. */
  readonly depositUsd: number | null;
  /** The request that people vote on; it mails those who may vote by itself. */
  readonly decisionId: string | null;
  /** The person who did it, and who needs no notification of it. */
  readonly by: string | null;
}

export interface Notification extends Pick<
  News,
  "projectId" | "kind" | "source" | "title" | "detail" | "objectId" | "path"
> {
  readonly userId: string;
  readonly id: string;
  readonly inApp: boolean;
  /** Waits for its mail, or needs none. */
  readonly mail: "none" | "at_once" | "daily";
  readonly createdAt: Date;
}

export interface ListedNotification extends Pick<
  Notification,
  "id" | "kind" | "title" | "detail" | "objectId" | "path" | "createdAt"
> {
  readonly readAt: Date | null;
}
