import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { id } from "./common";
import { defineContract } from "./contract";
import { depositRecord } from "./deposit-records";

const tag = "Deposits";
const params = z.object({ id: id("op").meta({ description: "Id in the path" }) });

export const getDeposit = defineContract({
  method: "GET",
  path: "/deposits/{id}",
  summary: "One deposit: who sent it, its confirmations, its screening and how it stands",
  description:
    "Money that came into a wallet from outside. Its id is that of its operation, so GET /operations?kind=deposit lists deposits, and GET /operations/{id} shows one too. Changes nothing.",
  tag,
  auth: "member",
  scope: "operations:read",
  params,
  status: 200,
  response: depositRecord,
  errors: ["not_found"],
});

export const streamDeposits = defineContract({
  method: "GET",
  path: "/deposits/events",
  summary:
    "Deposits of the project as they are seen and change, as a stream (server-sent events). At most 50 streams at once for each caller and 200 for each network address",
  description:
    "A stream of server-sent events, each with a whole deposit: those that are not final yet first, then each change and each new confirmation. It does not end by itself; reconnect when it stops. Nothing is missed that GET /operations?kind=deposit would not show.",
  tag,
  auth: "member",
  scope: "operations:read",
  status: 200,
  response: depositRecord,
  mediaType: "text/event-stream",
  errors: ["rate_limited"],
});

export const releaseDeposit = defineContract({
  method: "POST",
  path: "/deposits/{id}/release",
  summary: "Releases a quarantined deposit; needs an approval (409 approval_required)",
  description:
    "Lets the money of a quarantined deposit be moved and count as reserves, for owners and admins. Answers 409 `approval_required` first; send it again with `approval`. The reason and the person are recorded. To return the money, release it and transfer it to the sender. Moves nothing itself.",
  tag,
  auth: "user",
  permission: "deposits:release",
  params,
  body: z.object({
    reason: z.string().trim().min(1).max(500).meta({ description: "Why it is released, for the audit log" }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: depositRecord,
  errors: ["not_found", "forbidden", ...APPROVAL_ERRORS],
});
