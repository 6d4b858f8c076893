/** Files that are written in the background and stored in the database, part by part. */
import type { z } from "zod";
import { type Actor, actorName } from "@/lib/core/actor";
import { DAY_MS, type Clock } from "@/lib/core/clock";
import { closestName } from "@/lib/core/closest-name";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import {
  EXPORT_FILTERS,
  type createExport,
  type ExportFormat,
  type ExportKind,
  type ExportState,
} from "@/lib/contracts/exports";
import type { BodyOf } from "@/lib/contracts/contract";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import { insertJobOn } from "@/lib/platform/jobs/service";
import { findExport, insertExport, readChunk, readExports } from "./repository";
import { mayReadAuditExports, mayReadExport, needsOf } from "./rights";
import type { ExportRow } from "./rows";
import type { ExportSources } from "./source";

export { createExportRunner } from "./runner";
export { pageText } from "./source";
export type { ExportPage, ExportRequest, ExportSource, ExportSources } from "./source";

const EXPORT_QUEUE = "export";
const KEPT_DAYS = 7;

export interface Export extends Omit<ExportRow, "state"> {
  readonly state: ExportState;
}

export interface ExportsDeps {
  readonly database: Database;
  readonly sources: ExportSources;
  readonly clock: Clock;
}

type Filters = Readonly<Record<string, string>>;

const unknownFilter = (kind: ExportKind, names: readonly string[]): DomainError => {
  const known = Object.keys(EXPORT_FILTERS[kind].shape);
  const details = names.map((name) => {
    const closest = closestName(name, known);
    const hint = closest === null ? "" : `; did you mean \`${closest}\`?`;
    return {
      path: `filters.${name}`,
      message: `is not a filter of ${kind}${hint}`,
      code: "unknown_parameter",
    };
  });
  const [first] = details;
  return new DomainError("unknown_parameter", `${first?.path ?? ""}: ${first?.message ?? ""}`, {
    details,
  });
};

/**
 * Checks that the direct download of this kind accepts the filters.
 * @throws DomainError `unknown_parameter` when the direct download has no such filter,
 * `invalid_request` when a value is invalid
 */
const checkFilters = (kind: ExportKind, filters: Filters): void => {
  const schema: z.ZodType = EXPORT_FILTERS[kind];
  const { error } = schema.safeParse(filters);
  if (error === undefined) return;
  const unknown = error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys : [],
  );
  if (unknown.length > 0) throw unknownFilter(kind, unknown);
  throw invalidRequest(
    error.issues.map(({ path, message }) => ({
      path: ["filters", ...path].map(String).join("."),
      message,
    })),
  );
};

/**
 * Completes the period of a statement, so that all parts of the file cover the same period. By
 * default, the period is the current month (UTC) until now.
 */
const withPeriod = (kind: ExportKind, filters: Filters, now: Date): Filters => {
  if (kind !== "account_statement" && kind !== "reserve_statement") return filters;
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  return { from: month.toISOString(), to: now.toISOString(), ...filters };
};

const requireFormat = (formats: readonly ExportFormat[], format: ExportFormat): void => {
  if (formats.includes(format)) return;
  const message = `must be ${formats.join(" or ")} for this kind of export`;
  throw invalidRequest([{ path: "format", message }]);
};

/** Lets people and keys make, list and read exports. */
export const createExportsService = ({ database, sources, clock }: ExportsDeps) => {
  const reader = sqlOn(database.pool);

  const shown = (row: ExportRow): Export => ({
    ...row,
    state: row.state === "ready" && row.expiresAt <= clock.now() ? "expired" : row.state,
  });

  /**
   * The project's export with this id.
   * @throws DomainError `not_found`, also when the actor may not read what the export holds
   */
  const get = async (actor: Actor, id: string): Promise<Export> => {
    const row = await findExport(reader, { projectId: actor.projectId, id });
    if (row === null || !mayReadExport(actor, row)) throw notFound();
    return shown(row);
  };

  /** Makes an export and its job. @throws DomainError `invalid_request`, `insufficient_scope` … */
  const create = async (
    actor: Actor,
    { kind, format, filters }: BodyOf<typeof createExport>,
  ): Promise<Export> => {
    const now = clock.now();
    const needs = needsOf(actor, kind);
    requireFormat(sources[kind].formats, format);
    const whole = withPeriod(kind, filters, now);
    checkFilters(kind, whole);
    const id = newId("export");
    const row: ExportRow = {
      projectId: actor.projectId,
      id,
      kind,
      format,
      filters: whole,
      needs,
      scopes: actor.type === "user" ? null : actor.scopes,
      createdBy: actorName(actor),
      state: "queued",
      cursor: null,
      isWhole: false,
      chunks: 0,
      rows: 0,
      bytes: 0,
      sha256: null,
      failure: null,
      createdAt: now,
      readyAt: null,
      expiresAt: new Date(now.getTime() + KEPT_DAYS * DAY_MS),
    };
    await database.transaction(async (tx) => {
      const db = sqlOf(tx);
      await insertExport(db, row);
      await insertJobOn(db, { id: `${row.projectId}/${id}`, queue: EXPORT_QUEUE, runAt: now });
    });
    return shown(row);
  };

  const list = async (
    actor: Actor,
    { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<{ data: Export[]; nextCursor: string | null }> => {
    const rows = await readExports(reader, {
      projectId: actor.projectId,
      scopes: actor.type === "user" ? null : actor.scopes,
      withAuditLog: mayReadAuditExports(actor),
      before: cursor,
      limit: limit + 1,
    });
    const data = rows.slice(0, limit).map(shown);
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  };

  const contentOf = async function* ({
    projectId,
    id,
    chunks,
  }: Export): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < chunks; index += 1) {
      const content = await readChunk(reader, { projectId, id }, index);
      if (content === null) throw new Error("A part of the export is missing.");
      yield content;
    }
  };

  /**
   * The file, part by part.
   * @throws DomainError `not_found`; `invalid_state` unless it is ready
   */
  const file = async (actor: Actor, id: string) => {
    const found = await get(actor, id);
    if (found.state === "ready") return { export: found, content: contentOf(found) };
    const message =
      found.state === "expired"
        ? "The file was removed after 7 days. Make the export again."
        : found.state === "failed"
          ? `The file could not be written. ${found.failure ?? ""}`
          : "The file is still being written. Try again when its state is ready.";
    throw new DomainError("invalid_state", message);
  };

  return { create, get, list, file };
};

export type ExportsService = ReturnType<typeof createExportsService>;
