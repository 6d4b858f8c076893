import { inOrder } from "@/lib/platform/db/in-order";
import { personLabel } from "@/lib/platform/db/person-label";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  type AuditData,
  type AuditEvent,
  auditEvents,
  type ChainedAuditEvent,
  chainedEvents,
  type NamedObject,
  namedObjects,
} from "./rows";
import { z } from "zod";
import { operationTitle } from "@/lib/core/titles";
import { storedBase } from "@/lib/platform/db/codecs";

export const insertAuditEvents = async (
  db: Sql,
  rows: readonly AuditEvent[],
): Promise<void> => {
  if (rows.length === 0) return;
  await inOrder(db, [
    () =>
      db.change(sql`
        INSERT INTO audit_event (${auditEvents.names})
        SELECT ${auditEvents.names} FROM ${auditEvents.list(rows)} AS event`),
    () =>
      db.change(sql`
        INSERT INTO audit_unlinked (event_id)
        SELECT id FROM ${eventIds.list(rows)} AS event`),
  ]);
};

/** Whether there is a row of this action whose data contains at least these fields. */
export const hasAuditEvent = async (
  db: SqlReader,
  row: Pick<AuditEvent, "actor" | "action"> & {
    readonly projectId: string;
    readonly subject: string;
    readonly data?: AuditData;
  },
): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT 1 FROM audit_event
    WHERE project_id = ${row.projectId}
      AND subject = ${row.subject}
      AND action = ${row.action}
      AND actor = ${row.actor}
      AND data @> ${JSON.stringify(row.data ?? {})}::jsonb
    LIMIT 1`);
  return rows.length > 0;
};

interface AuditQuery {
  readonly projectId: string;
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  /**
   * Text that the action, actor, subject, address, request id or data contains, compared without
   * case.
   */
  readonly text?: string | undefined;
  /** The page cursor: only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A LIKE pattern that finds the text at any place. Wildcards in the text are escaped. */
const patternOf = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;

const textOf = sql`
  concat_ws(' ', action, actor, subject, client_address, request_id, data::text)`;
const places = chainedEvents.pick("seq", "hash");
const eventIds = auditEvents.pick("id");

/** The project's audit entries, newest first. */
export const listAuditEvents = (
  db: SqlReader,
  query: AuditQuery,
): Promise<readonly ChainedAuditEvent[]> => {
  const { subject, action, actor, from, to, text, before } = query;
  const conditions = [
    sql`project_id = ${query.projectId}`,
    ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}::timestamptz`]),
    ...(text === undefined ? [] : [sql`${textOf} ILIKE ${patternOf(text)}`]),
    ...(before === undefined ? [] : [sql`id < ${before}`]),
  ];
  return chainedEvents.all(
    db,
    sql`
      SELECT ${auditEvents.columns("event")}, ${places.columns("audit_link")}
      FROM (
        SELECT * FROM audit_event
        WHERE ${join(conditions, " AND ")}
        ORDER BY id DESC
        LIMIT ${query.limit}::int
      ) event
      LEFT JOIN audit_link ON audit_link.event_id = event.id
      ORDER BY event.id DESC`,
  );
};

const ACCOUNT_PREFIX = "ga_";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const storedSources = z.array(
  z.object({
    token: z.object({ assetId: z.string(), symbol: z.string(), decimals: z.int() }),
    amountBase: storedBase,
  }),
);

/** The name of a payout or schedule without a reference: `Payout to 3 wallets`. */
const payoutName = (kind: string, rows: number): string => {
  const word = kind === "schedule" ? "Scheduled payout" : "Payout";
  return `${word} to ${String(rows)} ${kind === "global_accounts" ? "account" : "wallet"}${rows === 1 ? "" : "s"}`;
};

const nameOf = ({ name, kind, sources, rows }: NamedObject): string | null => {
  if (name !== null || kind === null) return name;
  if (rows !== null) return payoutName(kind, rows);
  // An operation whose request has an unknown form is named only by its kind.
  return operationTitle({ kind, sources: storedSources.safeParse(sources).data ?? [] });
};

interface NamesWanted {
  readonly projectId: string;
  readonly ids: readonly string[];
  /** The ids of global accounts among `ids`, without their prefix: UUIDs. */
  readonly accountIds: readonly string[];
}

const selectPeople = (ids: readonly string[]): Statement => sql`
  SELECT u.id, ${personLabel("u.address")} AS name,
    NULL AS kind, NULL::jsonb AS sources, NULL::int AS rows
  FROM app_user u
  WHERE u.id = ANY(${ids}::text[])`;

/**
 * SQL: the names of the objects with these ids. Most tables have a column with the name. The name
 * of a movement of money is made from its request.
 */
const selectNames = ({ projectId, ids, accountIds }: NamesWanted): Statement => {
  const isWanted = sql`project_id = ${projectId} AND id = ANY(${ids}::text[])`;
  const named = (name: string, from: string): Statement => sql`
    SELECT id, ${raw(name)}, NULL, NULL, NULL FROM ${raw(from)} WHERE ${isWanted}`;
  const parts = [
    selectPeople(ids),
    sql`
      SELECT id, name, NULL, NULL, NULL FROM project
      WHERE id = ${projectId} AND id = ANY(${ids}::text[])`,
    named("email", "invitation"),
    named("name", "api_key"),
    named("coalesce(label, address)", "wallet"),
    named("name", "contact"),
    sql`
      SELECT ${raw(`'${ACCOUNT_PREFIX}'`)} || id, name, NULL, NULL, NULL FROM ledger_account
      WHERE project_id = ${projectId} AND id = ANY(${accountIds}::uuid[])`,
    named("coalesce(nullif(description, ''), url)", "webhook_endpoint"),
    named("name", "notification_channel"),
    named("name", "privacy_wallet"),
    named("title", "decision_request"),
    sql`SELECT id, reference, kind, NULL, items_total FROM payout WHERE ${isWanted}`,
    sql`SELECT id, reference, 'schedule', NULL, rows FROM payout_schedule WHERE ${isWanted}`,
    sql`SELECT id, NULL, kind, request->'sources', NULL FROM operation WHERE ${isWanted}`,
    sql`SELECT id, NULL, kind, request->'sources', NULL FROM quote WHERE ${isWanted}`,
    sql`
      SELECT transfer_id, NULL, kind, request->'sources', NULL FROM quote
      WHERE project_id = ${projectId} AND transfer_id = ANY(${ids}::text[])`,
    sql`
      SELECT t.id, NULL, o.kind, o.request->'sources', NULL
      FROM privacy_transfer t
      JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
      WHERE t.project_id = ${projectId} AND t.id = ANY(${ids}::text[])`,
    sql`
      SELECT id, NULL, 'private_swap',
        jsonb_build_array(jsonb_build_object('token', token, 'amountBase', amount_base::text)),
        NULL
      FROM privacy_quote
      WHERE ${isWanted}`,
  ];
  return sql`
    SELECT ${namedObjects.columns("named")} FROM (${join(parts, " UNION ALL ")}) AS named`;
};

/**
 * The names that people gave to the objects of audit entries, and the titles of operations, by id.
 * One statement reads all. Objects without a name are missing.
 */
export const namesOf = async (
  db: SqlReader,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  const accountIds = ids.flatMap((id) => {
    const uuid = id.slice(ACCOUNT_PREFIX.length);
    return id.startsWith(ACCOUNT_PREFIX) && UUID.test(uuid) ? [uuid] : [];
  });
  return byId(await namedObjects.all(db, selectNames({ projectId, ids, accountIds })));
};

const byId = (objects: readonly NamedObject[]): ReadonlyMap<string, string> =>
  new Map(
    objects.flatMap((object): [string, string][] => {
      const name = nameOf(object);
      return name === null ? [] : [[object.id, name]];
    }),
  );

/** The names of people, former members included, and of the project's API keys, by id. */
export const actorNamesOf = async (
  db: SqlReader,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  const found = await namedObjects.all(
    db,
    sql`
      SELECT ${namedObjects.columns("named")}
      FROM (
        ${selectPeople(ids)}
        UNION ALL
        SELECT id, name, NULL, NULL, NULL FROM api_key
        WHERE project_id = ${projectId} AND id = ANY(${ids}::text[])
      ) AS named`,
  );
  return byId(found);
};
