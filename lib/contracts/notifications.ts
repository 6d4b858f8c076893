import { z } from "zod";
import { createdBetween, id, page, pageQuery, timestamp, usdAmount } from "./common";
import { defineContract } from "./contract";

const tag = "Notifications";

export const NOTIFICATION_KINDS = [
  "approval_waiting",
  "operation_failed",
  "large_deposit",
  "gas_low",
  "member_joined",
  "key_created",
  "policy_changed",
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const MAIL_TIMES = ["off", "at_once", "daily"] as const;
export type MailTime = (typeof MAIL_TIMES)[number];

/** The ends of an approval that somebody was asked for. */
export const APPROVAL_ENDS = ["approved", "declined", "expired", "cancelled"] as const;

const kind = z.enum(NOTIFICATION_KINDS).meta({
  description:
    "`approval_waiting`: a payment waits for an approval; `operation_failed`: it failed, arrived in part, or needs a decision; `large_deposit`: as large as the person's threshold; `gas_low`: the service has too little for network fees on a chain; `member_joined`, `key_created` and `policy_changed`: of the project",
});

const notificationRecord = z
  .object({
    id: id("ntf").meta({
      description: "Id of the notification; newer ones sort after older ones",
    }),
    kind,
    title: z.string().meta({ description: "What happened, in one line" }),
    detail: z.string().nullable().meta({ description: "More about it; null: nothing" }),
    objectId: z
      .string()
      .nullable()
      .meta({ description: "Id of the object that it is about; null: the service itself" }),
    path: z.string().meta({ description: "The object's page in the dashboard" }),
    createdAt: timestamp.meta({ description: "When it happened" }),
    readAt: timestamp
      .nullable()
      .meta({ description: "When the person read it; null: not yet" }),
    ended: z.enum(APPROVAL_ENDS).nullable().meta({
      description:
        "How the approval ended that an `approval_waiting` asks for; null while it waits, and for other kinds",
    }),
  })
  .meta({ id: "Notification" });

const unread = z
  .int()
  .nonnegative()
  .meta({ description: "Notifications that the person has not read; 1,000 at most" });

export const listNotifications = defineContract({
  method: "GET",
  path: "/notifications",
  summary: "The signed-in person's notifications in this project, newest first",
  description:
    "What the person chose to see in the dashboard, as far as the person's role may see it now; kept for 90 days unless the service keeps them for another time. Read further pages with `cursor`. Changes nothing: mark notifications as read with POST /notifications/read.",
  tag,
  auth: "user",
  query: pageQuery.extend({
    unread: z
      .enum(["true"])
      .optional()
      .meta({ description: "`true`: only those that were not read" }),
    ...createdBetween,
  }),
  status: 200,
  response: page(notificationRecord).extend({ unread }),
});

const NAMED_MAX = 100;

export const readNotifications = defineContract({
  method: "POST",
  path: "/notifications/read",
  summary: "Marks notifications as read",
  description:
    "Names single notifications in `ids`, or everything up to the newest that the person has seen in `upTo`; later ones stay unread. Ids that are not the person's own are ignored. Can be repeated.",
  tag,
  auth: "user",
  personal: true,
  body: z.union([
    z.strictObject({
      ids: z
        .array(id("ntf"))
        .min(1)
        .max(NAMED_MAX)
        .meta({ description: "Notifications that were read" }),
    }),
    z.strictObject({
      upTo: id("ntf").meta({
        description: "The newest notification that was seen; it and all older ones are read",
      }),
    }),
  ]),
  status: 200,
  response: z.object({ unread }),
});

const choice = {
  kind,
  inApp: z.boolean().meta({ description: "Whether it stands in GET /notifications" }),
  mail: z.enum(MAIL_TIMES).meta({
    description:
      "`at_once`: mail within a minute; `daily`: one mail a day at 07:00 UTC with everything of the day before; `off`: no mail",
  }),
};

const push = z.boolean().meta({
  description:
    "Whether it is pushed to the browsers of GET /me/push-subscriptions, without amounts",
});

const largeDepositUsd = usdAmount.meta({
  description: "From how many US dollars a deposit is large",
});

const preferencesRecord = z
  .object({
    kinds: z
      .array(
        z.object({
          ...choice,
          push,
          allowed: z
            .boolean()
            .meta({ description: "Whether the person's role is told of this kind at all" }),
        }),
      )
      .meta({ description: "Every kind, once" }),
    largeDepositUsd,
    mailAddress: z.string().nullable().meta({
      description:
        "The verified address that mail goes to, masked; null: there is none, and no mail is sent",
    }),
  })
  .meta({ id: "NotificationPreferences" });

export const getNotificationPreferences = defineContract({
  method: "GET",
  path: "/me/notification-preferences",
  summary: "What the signed-in person wants to be told of in this project",
  description:
    "Every kind with what was chosen, or the default. Change it with PUT /me/notification-preferences.",
  tag,
  auth: "user",
  status: 200,
  response: preferencesRecord,
});

export const putNotificationPreferences = defineContract({
  method: "PUT",
  path: "/me/notification-preferences",
  summary: "Sets what the signed-in person wants to be told of in this project",
  description:
    "Counts for what happens from now on, for this person and this project alone; kinds that are not named stay as they are. Where mail is set to `off`, mail that still waits is not sent either. Mails about the security of the project, such as new owners and wider API keys, are always sent to its owners.",
  tag,
  auth: "user",
  personal: true,
  body: z.strictObject({
    kinds: z
      .array(
        z.strictObject({
          ...choice,
          push: push
            .optional()
            .meta({ description: "Whether it is pushed; absent: it stays as it is" }),
        }),
      )
      .max(NOTIFICATION_KINDS.length)
      .refine(
        (kinds) => new Set(kinds.map((one) => one.kind)).size === kinds.length,
        "names a kind twice",
      )
      .meta({ description: "Kinds to set, each once" }),
    largeDepositUsd: largeDepositUsd.optional(),
  }),
  status: 200,
  response: preferencesRecord,
});
