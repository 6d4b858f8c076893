import { z } from "zod";
import { exportActivity } from "./activity";
import { exportAuditLog } from "./audit";
import { id, page, pageQuery, timestamp } from "./common";
import { defineContract, type Scope } from "./contract";
import { currencyRef, statementPeriod } from "./global-accounts";
import { exportOperations } from "./operations";
import { exportPayoutItems } from "./payouts";

const tag = "Exports";

export const EXPORT_KINDS = [
  "activity",
  "operations",
  "payout_items",
  "account_statement",
  "reserve_statement",
  "audit_log",
] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

export const EXPORT_FORMATS = ["csv", "camt053"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_STATES = ["queued", "running", "ready", "failed", "expired"] as const;
export type ExportState = (typeof EXPORT_STATES)[number];

/** The filters of each kind: the query of its direct download, and the id in its path. */
export const EXPORT_FILTERS = {
  activity: exportActivity.query.strict(),
  operations: exportOperations.query.strict(),
  payout_items: exportPayoutItems.query.extend({ payoutId: id("po") }).strict(),
  account_statement: z.strictObject({ accountId: id("ga"), ...statementPeriod }),
  reserve_statement: z.strictObject({ currency: currencyRef, ...statementPeriod }),
  audit_log: exportAuditLog.query.strict(),
} as const satisfies Readonly<Record<ExportKind, z.ZodType>>;

/**
 * The scopes of which an API key needs at least one. The service then checks the scope for the kind
 * of export.
 */
const SCOPES: readonly Scope[] = ["operations:read", "payouts:read", "accounts:read"];

const FILTER_LENGTH_MAX = 4000;

const kind = z.enum(EXPORT_KINDS).meta({ description: "What the file holds" });
const format = z.enum(EXPORT_FORMATS).meta({
  description: "`csv` (RFC 4180); `camt053` (camt.053.001.08 of ISO 20022) for statements only",
});
const filters = z.record(z.string(), z.string().max(FILTER_LENGTH_MAX));

export const exportRecord = z
  .object({
    id: id("exp").meta({ description: "Id of the export" }),
    kind,
    format,
    filters: filters.meta({
      description: "Filters of the direct download; of a statement with its whole period",
    }),
    state: z.enum(EXPORT_STATES).meta({
      description:
        "`queued` and `running`: it is being written; `ready`: it can be downloaded; `failed`: see `failure`; `expired`: the file was removed",
    }),
    rows: z.int().meta({ description: "Records that are in the file so far" }),
    bytes: z.int().nullable().meta({ description: "Size of the file; null until it is ready" }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: "SHA-256 of the file in hex; null until it is ready" }),
    failure: z
      .string()
      .nullable()
      .meta({ description: "Why there is no file; null for other states" }),
    createdBy: z
      .string()
      .meta({ description: "Who made it: a person (usr_) or an API key (key_)" }),
    createdAt: timestamp.meta({ description: "When it was asked for" }),
    readyAt: timestamp
      .nullable()
      .meta({ description: "When the file was whole; null until then" }),
    expiresAt: timestamp.meta({
      description: "When the file is removed, 7 days after it was asked for",
    }),
  })
  .meta({ id: "Export" });

const params = z.object({ id: id("exp").meta({ description: "Id in the path" }) });

export const createExport = defineContract({
  method: "POST",
  path: "/exports",
  summary: "Writes a file in the background, without a limit of records",
  description:
    "Takes the filters of the direct download: `activity` those of GET /activity/export, `payout_items` those of GET /payouts/{id}/items/export with `payoutId`, `account_statement` a period with `accountId`, `reserve_statement` a period with `currency`. The file is kept for 7 days, for everybody who may read what it holds; a person who made it gets a mail when it is ready. Follow GET /exports/{id}. Send an Idempotency-Key, otherwise a repeated call writes a second file. Moves no money.",
  tag,
  auth: "member",
  personal: true,
  scope: SCOPES,
  body: z.object({
    kind,
    format: format.default("csv"),
    filters: filters.default({}).meta({
      description: "As query parameters of the direct download; none by default",
    }),
  }),
  status: 201,
  response: exportRecord,
  errors: ["invalid_request", "insufficient_scope", "forbidden"],
});

export const listExports = defineContract({
  method: "GET",
  path: "/exports",
  summary: "Files that were written in the background, newest first",
  description:
    "Lists the exports of the project whose contents the caller may read. Files are removed after 7 days, and their records after 30. Changes nothing.",
  tag,
  auth: "member",
  scope: SCOPES,
  query: pageQuery,
  status: 200,
  response: page(exportRecord),
});

export const getExport = defineContract({
  method: "GET",
  path: "/exports/{id}",
  summary: "One export and how far it is",
  description:
    "Shows the state and the number of records so far; once it is ready, the size and the SHA-256 of the file. Changes nothing.",
  tag,
  auth: "member",
  scope: SCOPES,
  params,
  status: 200,
  response: exportRecord,
  errors: ["not_found"],
});

export const downloadExport = defineContract({
  method: "GET",
  path: "/exports/{id}/file",
  summary: "The file of an export",
  description:
    "Streams the file whose SHA-256 GET /exports/{id} names. The right to read its contents is checked again. Refused with 409 `invalid_state` unless the export is ready. Changes nothing.",
  tag,
  auth: "member",
  scope: SCOPES,
  params,
  status: 200,
  response: z.string(),
  mediaType: "application/octet-stream",
  errors: ["not_found", "invalid_state"],
});
