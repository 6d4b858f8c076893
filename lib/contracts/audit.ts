import { z } from "zod";
import { id, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

export const auditRecord = z
  .object({
    id: id("aud"),
    action: z.string().meta({ description: "noun.verb in the past", examples: ["operation.approved"] }),
    actor: z.string().meta({ description: "The person (usr_), the API key (key_), or a part of the service" }),
    subject: z.string().nullable().meta({ description: "Id of what it was done to" }),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "`means` where money was let go (code, policy of the key, or wallet: sent by a wallet of one's own), `codeId`, and more by action",
    }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: "Request that caused it, as in the header `x-request-id`; null where none did" }),
    clientAddress: z.string().nullable().meta({ description: "IP address of the caller, where it is known" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
  })
  .meta({ id: "AuditEntry" });

export const listAuditLog = defineContract({
  method: "GET",
  path: "/audit-log",
  summary: "Who did what in the project, newest first; for owners and admins",
  description:
    "Each change that a person, a key or the service made, newest first, with the means by which money was let go. Read further pages with `cursor`.",
  tag: "Projects",
  auth: "user",
  query: pageQuery.extend({
    subject: z.string().max(80).optional().meta({ description: "Only entries about this object: an id" }),
    action: z.string().max(80).optional().meta({ description: "Only this action, such as `operation.approved`" }),
  }),
  status: 200,
  response: page(auditRecord),
  errors: ["forbidden"],
});
