import { z } from "zod";
import { id, jsonObject, page, pageQuery, timestamp } from "./common";
import { defineContract } from "./contract";

export const auditRecord = z
  .object({
    id: id("aud"),
    action: z
      .string()
      .meta({ description: "noun.verb in the past", examples: ["operation.approved"] }),
    actor: z
      .string()
      .meta({ description: "The person (usr_), the API key (key_), or a part of the service" }),
    actorName: z.string().nullable().meta({
      description:
        "Name of the API key, or the person's verified e-mail address, else address; null for a part of the service",
    }),
    subject: z.string().nullable().meta({ description: "Id of what it was done to" }),
    subjectName: z.string().nullable().meta({
      description:
        "Its name today, such as a wallet's label or a payout's reference, or a title such as `Swap of 5.00 USDC`; null where it has none or is gone",
    }),
    data: jsonObject.meta({
      description:
        "`means` where money was let go (code, totp, passkey, recovery_code, policy of the key, or wallet: sent by a wallet of one's own), `codeId`, `userAgent` of the caller, and more by action",
    }),
    requestId: z.string().nullable().meta({
      description:
        "Request that caused it, as in the header `x-request-id`; null where none did",
    }),
    clientAddress: z
      .string()
      .nullable()
      .meta({ description: "IP address of the caller, where it is known" }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    seq: z.number().int().nullable().meta({
      description:
        "Its place in the project's hash chain, from 1; null for the second until it is linked",
    }),
    hash: z.string().nullable().meta({
      description:
        "SHA-256 over the entry and the hash before it, in hexadecimal; `npm run audit:verify` checks it",
    }),
  })
  .meta({ id: "AuditEntry" });

const auditFilters = {
  subject: z
    .string()
    .max(80)
    .optional()
    .meta({ description: "Only entries about this object: an id" }),
  action: z
    .string()
    .max(80)
    .optional()
    .meta({ description: "Only this action, such as `operation.approved`" }),
  actor: z
    .string()
    .max(80)
    .optional()
    .meta({ description: "Only what this person (usr_) or API key (key_) did" }),
  from: timestamp.optional().meta({ description: "Recorded at or after" }),
  to: timestamp.optional().meta({ description: "Recorded before" }),
  text: z.string().min(1).max(100).optional().meta({
    description:
      "Stands in any field, in upper or lower case: a part of an address, a name, an action",
  }),
};

export const listAuditLog = defineContract({
  method: "GET",
  path: "/audit-log",
  summary: "Who did what in the project, newest first; for owners and admins",
  description:
    "Each change that a person, a key or the service made, newest first, with the means by which money was let go. Read further pages with `cursor`.",
  tag: "Projects",
  auth: "user",
  permission: "audit:read",
  query: pageQuery.extend(auditFilters),
  status: 200,
  response: page(auditRecord),
  errors: ["forbidden"],
});

export const exportAuditLog = defineContract({
  method: "GET",
  path: "/audit-log/export",
  summary:
    "The same list as CSV (RFC 4180), with the hash of each entry; cells are safe to open in a spreadsheet",
  description:
    "Takes the same filters as GET /audit-log and answers a CSV download with a line for each entry, newest first. Changes nothing.",
  tag: "Projects",
  auth: "user",
  permission: "audit:read",
  query: z.object(auditFilters),
  status: 200,
  response: z.string(),
  mediaType: "text/csv",
  errors: ["forbidden"],
});
