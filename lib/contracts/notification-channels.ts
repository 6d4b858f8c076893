import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";
import { displayName } from "./names";
import { NOTIFICATION_KINDS } from "./notifications";

const tag = "Notifications";

export const CHANNEL_SERVICES = ["slack", "teams"] as const;
export type ChannelService = (typeof CHANNEL_SERVICES)[number];

const ADDRESS_MAX = 2000;
const NAME_MAX = 60;

const address = z
  .string()
  .trim()
  .min(1)
  .max(ADDRESS_MAX)
  .meta({
    description:
      "The incoming webhook's address: https, on the public internet. Whoever has it can post to the chat, so no answer shows it again",
    examples: ["https://hooks.example.org/services/T000/B000/secret"],
  });

const name = displayName(NAME_MAX).meta({
  description: `Name for people, ${String(NAME_MAX)} characters at most`,
});

const kinds = z
  .array(z.enum(NOTIFICATION_KINDS))
  .min(1)
  .max(NOTIFICATION_KINDS.length)
  .refine((all) => new Set(all).size === all.length, "names a kind twice")
  .meta({
    description:
      "Kinds of notifications that are posted, each once; `large_deposit` from 10,000 US dollars",
  });

const includeAmounts = z.boolean().meta({
  description:
    "Whether messages have amounts and details. Without them a message has a title and a link. Private movements are always without them",
});

const channelRecord = z
  .object({
    id: id("nch").meta({ description: "Id of the channel" }),
    service: z.enum(CHANNEL_SERVICES).meta({ description: "The chat that it posts to" }),
    name: z.string().meta({ description: "Name for people" }),
    address: z.string().meta({ description: "Host and last characters of the address" }),
    kinds: z
      .array(z.enum(NOTIFICATION_KINDS))
      .meta({ description: "Kinds of notifications that are posted" }),
    includeAmounts,
    status: z.enum(["active", "paused", "disabled"]).meta({
      description: "`paused` by a person, `disabled` by the service; both post nothing",
    }),
    disabledReason: z.enum(["gone", "failing"]).nullable().meta({
      description:
        "`gone`: it answered 404 or 410. `failing`: every attempt of five days failed. null: it is not disabled",
    }),
    failingSince: timestamp
      .nullable()
      .meta({ description: "Since when every attempt has failed; null: the last one did not" }),
    lastResult: z
      .object({
        at: timestamp.meta({ description: "When it was sent" }),
        statusCode: z
          .int()
          .nullable()
          .meta({ description: "HTTP status of the answer; null: there was none" }),
        error: z
          .string()
          .nullable()
          .meta({ description: "Why the message was not accepted; null: it was" }),
      })
      .nullable()
      .meta({ description: "The newest request to the address; null: there was none" }),
    createdBy: z.string().meta({ description: "Who added it" }),
    createdAt: timestamp.meta({ description: "When it was added" }),
    updatedAt: timestamp.meta({ description: "When its settings last changed" }),
  })
  .meta({ id: "NotificationChannel" });

const params = z.object({ id: id("nch").meta({ description: "Id of the channel" }) });

export const listNotificationChannels = defineContract({
  method: "GET",
  path: "/notifications/channels",
  summary: "The chat channels that get the project's notifications, oldest first",
  description:
    "For owners and admins. A project has 20 channels at most, and this is all of them. Changes nothing.",
  tag,
  auth: "user",
  permission: "webhooks:manage",
  status: 200,
  response: z.object({
    data: z.array(channelRecord).meta({ description: "Every channel of the project" }),
  }),
});

export const createNotificationChannel = defineContract({
  method: "POST",
  path: "/notifications/channels",
  summary: "Adds a chat channel by the address of its incoming webhook; needs an approval",
  description:
    "For owners and admins. The first answer is 409 `approval_required`: approve it and send the same request with `approval`. The channel gets notifications of these kinds from now on, and owners get a mail about it. Send a test with POST /notifications/channels/{id}/test.",
  tag,
  auth: "user",
  permission: "webhooks:manage",
  body: z.object({
    service: z
      .enum(CHANNEL_SERVICES)
      .meta({ description: "The chat whose messages the address takes" }),
    name,
    address,
    kinds,
    includeAmounts: includeAmounts.default(false),
    approval: givenApproval.optional(),
  }),
  status: 201,
  response: channelRecord,
  errors: APPROVAL_ERRORS,
});

export const updateNotificationChannel = defineContract({
  method: "PATCH",
  path: "/notifications/channels/{id}",
  summary: "Changes a chat channel, pauses it, or turns it on again",
  description:
    "For owners and admins. Changes only the fields that are sent. Another `address`, or `includeAmounts` where it was off, answers 409 `approval_required` first; send it again with `approval`. `active` also turns on a disabled channel. Notifications from the time in which it was off are not posted later; GET /notifications has them.",
  tag,
  auth: "user",
  permission: "webhooks:manage",
  params,
  body: z
    .object({
      name: name.optional(),
      address: address.optional(),
      kinds: kinds.optional(),
      includeAmounts: includeAmounts.optional(),
      status: z
        .enum(["active", "paused"])
        .optional()
        .meta({ description: "`paused` posts nothing; `active` posts again" }),
      approval: givenApproval.optional(),
    })
    .refine((change) => Object.keys(change).some((field) => field !== "approval"), {
      message: "name at least one field to change",
      path: ["name"],
    }),
  status: 200,
  response: channelRecord,
  errors: APPROVAL_ERRORS,
});

export const deleteNotificationChannel = defineContract({
  method: "DELETE",
  path: "/notifications/channels/{id}",
  summary: "Removes a chat channel; messages that wait for it are not posted",
  description: "For owners and admins. The stored address is deleted.",
  tag,
  auth: "user",
  permission: "webhooks:manage",
  params,
  status: 200,
  response: z.object({ id: id("nch").meta({ description: "The removed channel" }) }),
});

export const testNotificationChannel = defineContract({
  method: "POST",
  path: "/notifications/channels/{id}/test",
  summary: "Posts a test message to a chat channel, and answers with the result",
  description:
    "For owners and admins. Sends one message at once, without another try, also to a channel that is off. `lastResult` of the answer says whether the chat took it. Answers within 20 seconds.",
  tag,
  auth: "user",
  permission: "webhooks:manage",
  params,
  status: 200,
  response: channelRecord,
});
