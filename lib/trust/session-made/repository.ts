import type { Actor } from "@/lib/core/actor";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import {
  MADE_KINDS,
  type MadeKind,
  type MadeThing,
  type MakerSession,
  type ThingName,
} from "./made-thing";

interface KindTable {
  readonly table: string;
  readonly name: string;
  /** Condition for rows that can still have an effect; others need not be suspended. */
  readonly open: string;
}

/**
 * The table of each kind. On a cluster all of these tables are on the coordinator, like sessions.
 */
const TABLES: Readonly<Record<MadeKind, KindTable>> = {
  api_key: { table: "api_key", name: "name", open: "t.revoked_at IS NULL" },
  webhook_endpoint: { table: "webhook_endpoint", name: "url", open: "true" },
  // A schedule runs only after an approval, which counts as a proof, so a running schedule has no
  // session.
  payout_schedule: {
    table: "payout_schedule",
    name: "coalesce(reference, id)",
    open: "t.status = 'awaiting_approval'",
  },
};

const MADE = MADE_KINDS.map((kind) => {
  const { table, name, open } = TABLES[kind];
  return `
    SELECT '${kind}' AS kind, project_id, id, ${name} AS name, made_by_session, created_at, suspended_at
    FROM ${table} t WHERE made_by_session IS NOT NULL AND ${open}`;
}).join(" UNION ALL ");

const THINGS = `
  SELECT t.kind, t.id, t.project_id AS "projectId", p.name AS "projectName", t.name, t.created_at AS "madeAt",
    t.suspended_at AS "suspendedAt", s.id AS "sessionId", s.user_id AS "userId", s.user_agent AS "userAgent"
  FROM (${MADE}) t JOIN session s ON s.id = t.made_by_session JOIN project p ON p.id = t.project_id`;

const ORDER = "ORDER BY t.created_at DESC, t.id DESC";

/** Objects that sessions of the person created, newest first. */
export const listMadeBy = (
  sql: SqlReader,
  userId: string,
  limit: number,
): Promise<readonly MadeThing[]> =>
  sql.query<MadeThing>(`${THINGS} WHERE s.user_id = $1 ${ORDER} LIMIT $2::int`, [userId, limit]);

/** The objects with these ids, of any person. */
export const findMade = (sql: SqlReader, ids: readonly string[]): Promise<readonly MadeThing[]> =>
  sql.query<MadeThing>(`${THINGS} WHERE t.id = ANY ($1::text[]) ${ORDER}`, [ids]);

/** Selects sessions of one person: a single one, or all but one. */
export interface Ended {
  readonly userId: string;
  readonly only?: string | undefined;
  readonly except?: string | undefined;
}

const suspension = ({ table, open }: KindTable): string => `
  UPDATE ${table} t SET suspended_at = $4::timestamptz FROM session s
  WHERE s.id = t.made_by_session AND s.user_id = $1 AND ($2::text IS NULL OR s.id = $2) AND ($3::text IS NULL OR s.id <> $3)
    AND t.suspended_at IS NULL AND ${open}
  RETURNING t.id`;

/**
 * Suspends the objects that the sessions created. Keys come first: a concurrent request of a key
 * that creates an object holds the row of its key (`lockMaker`), so later statements see what it
 * created.
 * @returns ids
 */
export const suspendMade = async (
  tx: Tx,
  { userId, only, except }: Ended,
  at: Date,
): Promise<readonly string[]> => {
  const sql = sqlOf(tx);
  const suspended: string[] = [];
  for (const kind of MADE_KINDS) {
    const values = [userId, only ?? null, except ?? null, at.toISOString()];
    const rows = await sql.query<{ id: string }>(suspension(TABLES[kind]), values);
    suspended.push(...rows.map(({ id }) => id));
  }
  return suspended;
};

/**
 * Removes the object's link to a session. Compare-and-set: returns false when that happened before,
 * or the object has ended.
 */
export const proveMade = async (
  tx: Tx,
  { kind, id }: ThingName,
  projectId: string,
): Promise<boolean> => {
  const { table, open } = TABLES[kind];
  const text = `
    UPDATE ${table} t SET made_by_session = NULL, suspended_at = NULL
    WHERE project_id = $1 AND id = $2 AND made_by_session IS NOT NULL AND ${open}`;
  return (await sqlOf(tx).change(text, [projectId, id])) === 1;
};

/** The state of an object that may have been proved or may have ended. */
export interface ThingState {
  readonly name: string;
  readonly madeAt: Date;
  readonly suspendedAt: Date | null;
  readonly isProven: boolean;
}

/** Null when it has ended. */
export const readThing = async (
  sql: SqlReader,
  { kind, id }: ThingName,
  projectId: string,
): Promise<ThingState | null> => {
  const { table, name, open } = TABLES[kind];
  const text = `
    SELECT ${name} AS name, created_at AS "madeAt", suspended_at AS "suspendedAt", made_by_session IS NULL AS "isProven"
    FROM ${table} t WHERE project_id = $1 AND id = $2 AND (made_by_session IS NULL OR ${open})`;
  return (await sql.query<ThingState>(text, [projectId, id]))[0] ?? null;
};

export const readMaker = async (db: Queryable, sessionId: string): Promise<MakerSession | null> => {
  const row = await db.session.findUnique({
    where: { id: sessionId },
    include: { user: { select: { address: true } } },
  });
  if (row === null) return null;
  const { id, userId, userAgent, clientAddress, createdAt, revokedAt, expiresAt } = row;
  return {
    id,
    userId,
    address: row.user.address,
    userAgent,
    clientAddress,
    createdAt,
    revokedAt,
    expiresAt,
  };
};

/**
 * Whether the actor's credential has ended. Locks its row until the transaction ends: a transaction
 * that ends the credential waits, and then sees what this one created.
 */
export const lockMaker = async (tx: Tx, actor: Actor): Promise<boolean> => {
  const [text, id] =
    actor.type === "user"
      ? ["SELECT revoked_at IS NULL AS works FROM session WHERE id = $1 FOR SHARE", actor.sessionId]
      : [
          "SELECT revoked_at IS NULL AND suspended_at IS NULL AS works FROM api_key WHERE id = $1 FOR SHARE",
          actor.keyId,
        ];
  const [row] = await sqlOf(tx).query<{ works: boolean }>(text, [id]);
  return row?.works !== true;
};
