import { type Actor, actorName, type RequestContext, type UserActor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/platform/db/client";
import { type Sql, sqlOf, sqlOn } from "@/lib/platform/db/sql";
import {
  actorNamesOf,
  hasAuditEvent,
  insertAuditEvents,
  listAuditEvents,
  namesOf,
} from "./repository";
import type { AuditData, AuditEvent, ChainedAuditEvent } from "./rows";

export type { AuditData, AuditEvent, ChainedAuditEvent } from "./rows";

export interface AuditEntry {
  readonly projectId: string | null;
  /** The user, API key or part of the service that acted. */
  readonly actor: string;
  /** `noun.verb` in the past tense: `api_key.created`. */
  readonly action: string;
  readonly subject: string | null;
  /** Must not contain secrets, because people read it. */
  readonly data?: AuditData;
  /** Null when the service acted without a request. */
  readonly request: RequestContext | null;
  readonly at: Date;
}

/** The fields of an audit entry that name the project, the actor and the request. */
export const doneBy = (actor: Actor): Pick<AuditEntry, "projectId" | "actor" | "request"> => ({
  projectId: actor.projectId,
  actor: actorName(actor),
  request: actor.request ?? null,
});

const textOf = (value: AuditData[string] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : String(value ?? "none");

/**
 * The previous values of a change, for the data of its entry: one line per changed field.
 * @example
 * replaced({ name: "Acme", tags: ["a", "b"] }, { name: "Acme", tags: [] });
 * // { before: ["tags: a, b"] }
 */
export const replaced = (
  before: AuditData,
  after: AuditData,
): { readonly before: readonly string[] } => ({
  before: Object.keys(before)
    .filter((field) => textOf(before[field]) !== textOf(after[field]))
    .map((field) => `${field}: ${textOf(before[field])}`),
});

/** Records an action in the action's transaction, so that both are stored or neither. */
export const recordAudit = (tx: Tx, entry: AuditEntry): Promise<void> =>
  recordAuditOn(sqlOf(tx), entry);

/** Like `recordAudit`, for several actions of one transaction. */
export const recordAudits = (tx: Tx, entries: readonly AuditEntry[]): Promise<void> =>
  insertAuditEvents(sqlOf(tx), entries.map(toAuditEvent));

/** Like `recordAudit`, for callers that have the transaction as `Sql`. */
export const recordAuditOn = (sql: Sql, entry: AuditEntry): Promise<void> =>
  insertAuditEvents(sql, [toAuditEvent(entry)]);

const toAuditEvent = ({ at, data = {}, request, ...entry }: AuditEntry): AuditEvent => ({
  id: newId("auditEvent"),
  ...entry,
  // Stored in the data, so that the hash of the entry covers it.
  data: request?.userAgent === undefined ? data : { ...data, userAgent: request.userAgent },
  requestId: request?.requestId ?? null,
  clientAddress: request?.clientAddress ?? null,
  createdAt: at,
});

export interface AuditFilter {
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  /** Matches a part of any field. */
  readonly text?: string | undefined;
}

export interface AuditPage {
  readonly data: readonly ChainedAuditEvent[];
  /** The names of actors and subjects, by id. Actors and subjects without a name are missing. */
  readonly names: ReadonlyMap<string, string>;
  readonly nextCursor: string | null;
}

/** An action on an object. */
export interface Done {
  readonly action: string;
  readonly subject: string;
  readonly data?: AuditData;
}

const EXPORT_PAGE = 500;

/** Names for the people and keys behind the actions of a project, by id. */
export interface ActorNames {
  /** Ids that belong to no person and no API key of the project are missing. */
  of(projectId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Names of people and API keys, former ones included. */
export const createActorNames = ({
  database,
}: {
  readonly database: Database;
}): ActorNames => ({
  of: (projectId, ids) => actorNamesOf(sqlOn(database.pool), projectId, [...new Set(ids)]),
});

/** The audit log of a project, for its owners and admins. */
export const createAuditService = ({ database }: { readonly database: Database }) => {
  const read = (
    actor: UserActor,
    filter: AuditFilter,
    page: { before: string | undefined; limit: number },
  ) =>
    listAuditEvents(sqlOn(database.pool), { ...filter, ...page, projectId: actor.projectId });

  async function* all(
    actor: UserActor,
    filter: AuditFilter,
  ): AsyncGenerator<ChainedAuditEvent> {
    for (let before: string | undefined; ;) {
      const rows = await read(actor, filter, { before, limit: EXPORT_PAGE });
      yield* rows;
      before = rows.at(-1)?.id;
      if (rows.length < EXPORT_PAGE) return;
    }
  }

  return {
    /**
     * Whether this caller has an entry for this action. The entry is written in the action's
     * transaction, so it exists exactly when the action was committed.
     * @param done includes the data fields that distinguish this action from others on the same
     * subject
     */
    isDoneBy: (actor: Actor, done: Done): Promise<boolean> =>
      hasAuditEvent(sqlOn(database.pool), {
        ...done,
        projectId: actor.projectId,
        actor: actorName(actor),
      }),
    /**
     * The project's entries, newest first, with the names of their actors and subjects by id.
     * @throws DomainError `forbidden` unless owner or admin
     */
    list: async (
      actor: UserActor,
      {
        cursor,
        limit,
        ...filter
      }: AuditFilter & { cursor?: string | undefined; limit: number },
    ): Promise<AuditPage> => {
      requirePermission(actor, "audit:read");
      const rows = await read(actor, filter, { before: cursor, limit: limit + 1 });
      const data = rows.slice(0, limit);
      const ids = new Set(data.flatMap(({ actor: by, subject }) => [by, subject ?? []].flat()));
      const names = await namesOf(sqlOn(database.pool), actor.projectId, [...ids]);
      return {
        data,
        names,
        nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null,
      };
    },
    /**
     * All matching entries, newest first, page by page.
     * @throws DomainError `forbidden` unless owner or admin
     */
    allFor: (actor: UserActor, filter: AuditFilter): AsyncIterable<ChainedAuditEvent> => {
      requirePermission(actor, "audit:read");
      return all(actor, filter);
    },
  };
};
