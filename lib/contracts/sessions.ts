import { z } from "zod";
import { id, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Profile";

const session = z
  .object({
    id: id("ses").meta({ description: "Id of the session" }),
    kind: z.enum(["browser", "api"]).meta({ description: "`browser`: the dashboard; `api`: POST /auth/token" }),
    device: z.string().meta({ description: "The device in words, as its User-Agent header names it" }),
    address: z.string().nullable().meta({ description: "IP address of the sign-in; null when it is not known" }),
    createdAt: timestamp.meta({ description: "When the person signed in" }),
    lastUsedAt: timestamp.nullable().meta({ description: "Last request, to the minute; null when there was none" }),
    expiresAt: timestamp.meta({ description: "When it ends by itself" }),
    current: z.boolean().meta({ description: "Whether it is the session that asks" }),
  })
  .meta({ id: "Session" });

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
    "Its access token, its refresh token and its event streams stop working on every instance within a second. Operations go on.",
  tag,
  auth: "user",
  personal: true,
  params: z.object({ id: id("ses") }),
  status: 200,
  response: z.object({
    id: id("ses").meta({ description: "Id of the session" }),
    revokedAt: timestamp.meta({ description: "When it was ended" }),
  }),
  errors: ["not_found"],
});

export const revokeOtherSessions = defineContract({
  method: "DELETE",
  path: "/me/sessions",
  summary: "Ends every session of the person except the one that calls",
  description: "As DELETE /me/sessions/{id}, for all other sessions at once.",
  tag,
  auth: "user",
  personal: true,
  status: 200,
  response: z.object({ revoked: z.int().meta({ description: "How many sessions ended" }) }),
});
