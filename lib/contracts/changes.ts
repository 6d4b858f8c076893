import { z } from "zod";
import { timestamp } from "./common";
import { defineContract } from "./contract";

/** Parts of a project, as named in the stream of changes. */
export const CHANGE_KINDS = [
  "operations",
  "payouts",
  "balances",
  "inbox",
  "notifications",
  "wallets",
  "keys",
  "policies",
  "members",
  "contacts",
  "accounts",
  "webhooks",
  "all",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

const change = z
  .object({
    kind: z.enum(CHANGE_KINDS).meta({
      description:
        "What to read again. `all`: more has changed than the stream can name; read everything again",
    }),
    id: z.string().nullable().meta({
      description: "Id of the object that changed; null: of several, or not to be named",
    }),
    at: timestamp.meta({ description: "When it changed" }),
  })
  .meta({ id: "Change" });

export const streamChanges = defineContract({
  method: "GET",
  path: "/stream",
  summary:
    "What changes in the project, as a stream of hints (server-sent events); `Last-Event-ID` resumes; ends within a second when the credential ends. At most 50 streams at once for each caller and 200 for each network address",
  description:
    "One connection in place of polling lists. The event `ready` comes first; `changes` names kinds of objects, and single objects where it can: read them again by their own routes; `heartbeat` comes every 15 seconds. A new stream begins with what changed in the last 15 seconds. Hints say that something changed and never what, and one may come without a change. An API key gets hints of what its scopes may read; notifications, the inbox, keys, policies, members and webhooks are for signed-in people.",
  tag: "Notifications",
  auth: "member",
  scope: "operations:read",
  status: 200,
  response: z
    .object({ changes: z.array(change).meta({ description: "Empty in `heartbeat`" }) })
    .meta({ id: "Changes" }),
  mediaType: "text/event-stream",
  errors: ["rate_limited"],
});
