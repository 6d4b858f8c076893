import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Profile";

const session = z
  .object({
    id: id("ses").meta({ description: "Id of the session" }),
    kind: z
      .enum(["browser", "api"])
      .meta({ description: "`browser`: the dashboard; `api`: POST /auth/token" }),
    device: z
      .string()
      .meta({ description: "The device in words, as its User-Agent header names it" }),
    address: z
      .string()
      .nullable()
      .meta({ description: "IP address of the sign-in; null when it is not known" }),
    createdAt: timestamp.meta({ description: "When the person signed in" }),
    lastUsedAt: timestamp
      .nullable()
      .meta({ description: "Last request, to the minute; null when there was none" }),
    expiresAt: timestamp.meta({ description: "When it ends by itself" }),
    current: z.boolean().meta({ description: "Whether it is the session that asks" }),
  })
  .meta({ id: "Session" });

const madeKind = z.enum(["api_key", "webhook_endpoint", "payout_schedule"]).meta({
  description:
    "What it is. A schedule is listed while it awaits approval: the approval proves it",
});
const madeId = z.string().min(1).max(60);

export const madeThingRecord = z
  .object({
    kind: madeKind,
    id: madeId.meta({ description: "Id of the key, endpoint or schedule" }),
    name: z.string().meta({
      description:
        "Name of a key, URL of an endpoint, reference of a schedule (its id where it has none)",
    }),
    projectId: id("prj").meta({ description: "Project that it belongs to" }),
    projectName: z.string().meta({ description: "Name of that project" }),
    sessionId: id("ses").meta({
      description: "The session that made it, itself or by an API key that it had made",
    }),
    device: z.string().meta({ description: "The device of that session in words" }),
    madeAt: timestamp.meta({ description: "When it was made" }),
    suspendedAt: timestamp.nullable().meta({
      description: "Since when it does nothing, because its session was ended; null: it works",
    }),
  })
  .meta({ id: "MadeThing" });

const suspended = z.array(madeThingRecord).meta({
  description:
    "What the ended sessions had made without a proof; it does nothing until it is restored",
});

export const listSessions = defineContract({
  method: "GET",
  path: "/me/sessions",
  summary: "The person's sessions that have not ended, newest first",
  description:
    "Lists where the person is signed in. End one with DELETE /me/sessions/{id}, or all others with DELETE /me/sessions.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({ data: z.array(session).meta({ description: "At most 500" }) }),
});

export const revokeSession = defineContract({
  method: "DELETE",
  path: "/me/sessions/{id}",
  summary: "Ends one session of the person",
  description:
    "Its access token, its refresh token and its event streams stop working on every instance within a second. What it made without a proof (GET /me/sessions/made) is suspended. Operations go on.",
  tag,
  auth: "user",
  personal: true,
  params: z.object({ id: id("ses") }),
  status: 200,
  response: z.object({
    id: id("ses").meta({ description: "Id of the session" }),
    revokedAt: timestamp.meta({ description: "When it was ended" }),
    suspended,
  }),
  errors: ["not_found"],
});

export const revokeOtherSessions = defineContract({
  method: "DELETE",
  path: "/me/sessions",
  summary: "Ends every session of the person except the one that calls",
  description:
    "As DELETE /me/sessions/{id}, for all other sessions at once. It also suspends what sessions that ended before had made without a proof, because a thief may have signed out. Restore what was honest: POST /me/sessions/made/restore.",
  tag,
  auth: "user",
  personal: true,
  status: 200,
  response: z.object({
    revoked: z.int().meta({ description: "How many sessions ended" }),
    suspended,
  }),
});

export const listMadeThings = defineContract({
  method: "GET",
  path: "/me/sessions/made",
  summary:
    "API keys, webhook endpoints and schedules that the person's sessions made without a proof, newest first",
  description:
    "Lists what ending the other sessions suspends, over all projects, and what is suspended already. Sessions that ended are included: signing out and expiry end nothing. Changes nothing.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({ data: z.array(madeThingRecord).meta({ description: "At most 1,000" }) }),
});

export const restoreMadeThings = defineContract({
  method: "POST",
  path: "/me/sessions/made/restore",
  summary: "Lets suspended things work again; needs an approval (409 approval_required)",
  description:
    "Needs the role that may make such things in their project. The first answer is 409 `approval_required`: approve it and send the same request with `approval`. No session stands behind them afterwards, so ending sessions does not suspend them again. Events that waited for an endpoint are delivered then.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({
    items: z
      .array(
        z.object({
          kind: madeKind,
          id: madeId.meta({ description: "Id of the key, endpoint or schedule" }),
        }),
      )
      .min(1)
      .max(100)
      .meta({ description: "What to restore, 100 at most" }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: z.object({
    restored: z.array(madeThingRecord).meta({ description: "As they were before" }),
  }),
  errors: ["not_found", ...APPROVAL_ERRORS],
});
