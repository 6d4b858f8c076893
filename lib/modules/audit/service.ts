import { actorName, type Actor, type UserActor } from "@/lib/core/actor";
import { invalidRequest } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { RequestContext } from "@/lib/core/request-context";
import { requirePermission } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/db/client";
import { sqlOf, sqlOn, type Sql } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import type { AuditData, AuditEvent } from "./audit-event";
import { namesOf } from "./name-repository";
import { auditParts, insertAuditEvent, listAuditEvents, type ChainedAuditEvent } from "./repository";

export type { AuditData, AuditEvent } from "./audit-event";
export type { ChainedAuditEvent } from "./repository";

export interface AuditEntry {
  readonly projectId: string | null;
  /** The user, API key or part of the service that acted. */
  readonly actor: string;
  /** `noun.verb` in the past: `api_key.created`. */
  readonly action: string;
  readonly subject: string | null;
  /** Never a secret: people read it. */
  readonly data?: AuditData;
  /** The request that caused the action; null when the service acted by itself. */
  readonly request: RequestContext | null;
  readonly at: Date;
}

/** The fields of an entry that name the actor and the origin of the request. */
export const doneBy = (actor: Actor): Pick<AuditEntry, "projectId" | "actor" | "request"> => ({
  projectId: actor.projectId,
  actor: actorName(actor),
  request: actor.request ?? null,
});

const textOf = (value: AuditData[string] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : String(value ?? "none");

/**
 * The values that a change replaced, for the data of its entry: a line for each field whose value is another one now.
 * @example
 * replaced({ name: "Acme", tags: ["a", "b"] }, { name: "Acme", tags: [] }); // { before: ["tags: a, b"] }
 */
export const replaced = (before: AuditData, after: AuditData): { readonly before: readonly string[] } => ({
  before: Object.keys(before)
    .filter((field) => textOf(before[field]) !== textOf(after[field]))
    .map((field) => `${field}: ${textOf(before[field])}`),
});

/** Records an action in the transaction of that action, so that neither is stored without the other. */
export const recordAudit = (tx: Tx, entry: AuditEntry): Promise<void> => recordAuditOn(sqlOf(tx), entry);

/** As `recordAudit`, for transactions on a connection of the raw pools. */
export const recordAuditOn = (sql: Sql, entry: AuditEntry): Promise<void> => insertAuditEvent(sql, toAuditEvent(entry));

/** As `recordAudit`, as parts of a statement that stores the action as well. */
export const auditEntryParts = (entry: AuditEntry): readonly StatementPart[] => auditParts(toAuditEvent(entry));

const toAuditEvent = ({ at, data = {}, request, ...entry }: AuditEntry): AuditEvent => ({
  id: newId("auditEvent"),
  ...entry,
  // In the data, so that the hash of the entry covers it.
  data: request?.userAgent === undefined ? data : { ...data, userAgent: request.userAgent },
  requestId: request?.requestId ?? null,
  clientAddress: request?.clientAddress ?? null,
  createdAt: at,
});

export interface AuditFilter {
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339. */
  readonly from?: string | undefined;
  /** RFC 3339; exclusive. */
  readonly to?: string | undefined;
  /** A part of any field. */
  readonly text?: string | undefined;
}

export interface AuditPage {
  readonly data: readonly ChainedAuditEvent[];
  /** Of actors and subjects that have one, by id. */
  readonly names: ReadonlyMap<string, string>;
  readonly nextCursor: string | null;
}

const EXPORT_PAGE = 500;

/** The audit log of a project, for its owners and admins. */
export const createAuditService = ({ database }: { readonly database: Database }) => {
  const read = (actor: UserActor, filter: AuditFilter, page: { before: string | undefined; limit: number }) =>
    listAuditEvents(sqlOn(database.pool), { ...filter, ...page, projectId: actor.projectId });

  async function* all(actor: UserActor, filter: AuditFilter): AsyncGenerator<ChainedAuditEvent> {
    for (let before: string | undefined; ;) {
      const rows = await read(actor, filter, { before, limit: EXPORT_PAGE });
      yield* rows;
      before = rows.at(-1)?.id;
      if (rows.length < EXPORT_PAGE) return;
    }
  }

  return {
    /** Newest first, with the names of actors and subjects by their ids. @throws DomainError `forbidden` unless owner or admin, `invalid_request` for a cursor that no list gave */
    list: async (
      actor: UserActor,
      { cursor, limit, ...filter }: AuditFilter & { cursor?: string | undefined; limit: number },
    ): Promise<AuditPage> => {
      requirePermission(actor, "audit:read");
      if (cursor !== undefined && !isId("auditEvent", cursor))
        throw invalidRequest([{ path: "cursor", message: "is not one that a list gave" }]);
      const rows = await read(actor, filter, { before: cursor, limit: limit + 1 });
      const data = rows.slice(0, limit);
      const ids = new Set(data.flatMap(({ actor: by, subject }) => [by, subject ?? []].flat()));
      const names = await namesOf(sqlOn(database.pool), actor.projectId, [...ids]);
      return { data, names, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
    },
    /** Every row that fits, newest first, page by page. @throws DomainError `forbidden` unless owner or admin */
    allFor: (actor: UserActor, filter: AuditFilter): AsyncIterable<ChainedAuditEvent> => {
      requirePermission(actor, "audit:read");
      return all(actor, filter);
    },
  };
};
