import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { id, longPageQuery, page, timestamp } from "./common";
import { defineContract } from "./contract";
import { EVENT_GROUPS, EVENT_TYPES } from "./events";
import { displayName } from "./names";
import { deliveryRecord } from "./webhook-deliveries";

const tag = "Webhooks";

const NAMES: readonly string[] = [
  "*",
  ...Object.keys(EVENT_GROUPS).map((group) => `${group}.*`),
  ...EVENT_TYPES,
];

const url = z
  .string()
  .min(1)
  .max(2000)
  .meta({
    description: "Where events are sent to: https, on the public internet",
    examples: ["https://example.org/webhooks"],
  });

const events = z
  .array(
    z
      .string()
      .refine(
        (name) => NAMES.includes(name),
        "is not a type of event; `*` and `operation.*` are possible",
      ),
  )
  .min(1)
  .max(100)
  .meta({
    description: "`*` for all, a group such as `operation.*`, or types",
    examples: [["*"]],
  });

const description = displayName(200);

const payload = z
  .enum(["full", "thin"])
  .meta({ description: "`thin` leaves `data` out: read the object again" });

const includePrivate = z.boolean().meta({
  description:
    "Details of private movements; needs privacy:read. Without it they carry id, type and sequence",
});

export const webhookEndpointRecord = z
  .object({
    id: id("we").meta({ description: "Id of the endpoint" }),
    url: z.string().meta({ description: "Where events are sent to" }),
    events: z
      .array(z.string())
      .meta({ description: "`*` for all, groups such as `operation.*`, or types" }),
    payload: z.enum(["full", "thin"]).meta({ description: "`thin` leaves `data` out" }),
    includePrivate: z
      .boolean()
      .meta({ description: "Whether details of private movements are sent" }),
    description: z
      .string()
      .nullable()
      .meta({ description: "Description for people; null where it has none" }),
    status: z.enum(["active", "paused", "disabled"]).meta({
      description:
        "`paused` keeps events for later; `disabled` was switched off by the service",
    }),
    disabledReason: z.enum(["gone", "failing", "maker_left"]).nullable().meta({
      description:
        "gone: it answered 410. failing: every attempt of five days failed. maker_left: the person behind it may manage webhooks of the project no more",
    }),
    suspendedAt: timestamp.nullable().meta({
      description:
        "Since when it gets nothing, because it was made without a proof and the session that made it was ended; null: it does. Events wait for it; POST /me/sessions/made/restore lets it work again",
    }),
    failingSince: timestamp
      .nullable()
      .meta({ description: "Since when every attempt has failed; null: the last one did not" }),
    pending: z
      .int()
      .meta({ description: "Deliveries that wait or are tried again; counted up to 1,000" }),
    secrets: z
      .array(
        z.object({
          id: z.string().meta({ description: "Id of the secret" }),
          createdAt: timestamp.meta({ description: "When it was created" }),
          expiresAt: timestamp
            .nullable()
            .meta({ description: "When it stops signing; null: it is the newest" }),
        }),
      )
      .meta({ description: "Those that sign now, without their values" }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    updatedAt: timestamp.meta({ description: "When it last changed" }),
  })
  .meta({ id: "WebhookEndpoint" });

const withSecret = webhookEndpointRecord
  .extend({
    secret: z.string().meta({ description: "`whsec_…`, in this answer and never again" }),
  })
  .meta({ id: "WebhookEndpointWithSecret" });

const params = z.object({ id: id("we").meta({ description: "Id in the path" }) });

export const createWebhookEndpoint = defineContract({
  method: "POST",
  path: "/webhook-endpoints",
  summary:
    "Makes an endpoint that the project's events are sent to; its secret is in this answer and never again",
  description:
    "Registers a URL that gets the project's events from now on. An API key needs the scopes of the objects of these events (docs/webhooks.md has the table), and its `*` stands for the groups that keys may read, which the answer lists. Store the secret: it verifies signatures, and no later answer shows it. The URL must be on the public internet; development also allows this machine.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  body: z.object({
    url,
    events,
    description: description
      .optional()
      .meta({ description: "Description for people, 200 characters at most" }),
    payload: payload.default("full"),
    includePrivate: includePrivate.default(false),
  }),
  status: 201,
  response: withSecret,
  errors: ["invalid_state"],
});

export const listWebhookEndpoints = defineContract({
  method: "GET",
  path: "/webhook-endpoints",
  summary: "The project's endpoints, oldest first",
  description: "The endpoints of the project with their states. Changes nothing.",
  tag,
  auth: "member",
  scope: "webhooks:read",
  query: longPageQuery("Endpoints"),
  status: 200,
  response: page(webhookEndpointRecord),
});

export const getWebhookEndpoint = defineContract({
  method: "GET",
  path: "/webhook-endpoints/{id}",
  summary: "One endpoint",
  description: "Settings and state of one endpoint, without the values of its secrets.",
  tag,
  auth: "member",
  scope: "webhooks:read",
  params,
  status: 200,
  response: webhookEndpointRecord,
});

export const updateWebhookEndpoint = defineContract({
  method: "PATCH",
  path: "/webhook-endpoints/{id}",
  summary:
    "Changes an endpoint. `paused` keeps what comes and sends it later; `active` sends again",
  description:
    "Changes only the fields that are sent. An API key needs the scopes of the endpoint's events, unless it only pauses or describes the endpoint. Another `url`, or `includePrivate` where it was off, answers 409 `approval_required` first; send it again with `approval`. A person does that; for an API key it is 403, and the owners get a mail. Setting the status to `active` also revives a disabled endpoint; replay what it missed.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params,
  body: z
    .object({
      url: url.optional().meta({ description: "New URL" }),
      events: events
        .optional()
        .meta({ description: "New events; they replace the present ones" }),
      description: description
        .nullable()
        .optional()
        .meta({ description: "New description; null takes it away" }),
      payload: payload.optional(),
      includePrivate: includePrivate.optional(),
      status: z
        .enum(["active", "paused"])
        .optional()
        .meta({ description: "`paused` keeps events for later; `active` sends them" }),
      approval: givenApproval.optional(),
    })
    .refine((change) => Object.keys(change).some((field) => field !== "approval"), {
      message: "name at least one field to change",
      path: ["url"],
    }),
  status: 200,
  response: webhookEndpointRecord,
  errors: APPROVAL_ERRORS,
});

export const deleteWebhookEndpoint = defineContract({
  method: "DELETE",
  path: "/webhook-endpoints/{id}",
  summary: "Removes an endpoint; what waits for it is not sent",
  description:
    "Stops deliveries to the endpoint at once and for good. Events stay readable at GET /events.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params,
  status: 200,
  response: z.object({ id: id("we").meta({ description: "The removed endpoint" }) }),
});

export const rotateWebhookSecret = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/rotate",
  summary:
    "Makes a new secret; the one before signs beside it for the overlap. Needs an approval (409 approval_required)",
  description:
    "The first answer is 409 `approval_required`: approve it and send the same request with `approval`. A person does that; for an API key it is 403, and the owners get a mail. The new secret signs at once, and the old one beside it until the overlap ends. Put the new secret into the receiver before that. `overlapHours: 0` ends the old secret at once.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params,
  body: z.object({
    overlapHours: z
      .int()
      .min(0)
      .max(168)
      .default(24)
      .meta({ description: "How many hours the old secret signs beside the new one, 0–168" }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: withSecret,
  errors: APPROVAL_ERRORS,
});

export const testWebhookEndpoint = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/test",
  summary: "Sends a `webhook.test` event to the endpoint, whatever events it gets",
  description:
    "Queues an event of the type `webhook.test`, which no other endpoint gets. Read the outcome at GET /deliveries/{id}.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params,
  status: 202,
  response: deliveryRecord,
  errors: ["invalid_state"],
});

export const replayWebhookEvents = defineContract({
  method: "POST",
  path: "/webhook-endpoints/{id}/replay",
  summary:
    "Sends the events of a range of sequence numbers again, under the same ids (10,000 numbers at most)",
  description:
    "Queues the events again, with the ids that they had. An API key needs the scopes of the endpoint's events. Receivers that keep handled ids ignore those that they know. Use it after an outage of the receiver.",
  tag,
  auth: "member",
  permission: "webhooks:manage",
  scope: "webhooks:write",
  params,
  body: z
    .object({
      from: z.int().positive().meta({ description: "First sequence number" }),
      to: z.int().positive().meta({ description: "Last sequence number, not below `from`" }),
    })
    .refine(({ from, to }) => from <= to, {
      message: "must not be below `from`",
      path: ["to"],
    }),
  status: 202,
  response: z.object({ queued: z.int().meta({ description: "Deliveries that were queued" }) }),
  errors: ["invalid_state"],
});
