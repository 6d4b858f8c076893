import type { Actor } from "@/lib/core/actor";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql, type Statement } from "@/lib/platform/db/statement";
import { bool, table, text } from "@/lib/platform/db/table";
import type { MakerSession } from "./made-thing";
import {
  MADE_KINDS,
  type MadeKind,
  type MadeThing,
  madeThings,
  type ThingName,
  type ThingState,
  thingStates,
} from "./rows";

interface KindTable {
  readonly table: Statement;
  readonly name: Statement;
  /** SQL condition for objects that can still have an effect. Only such objects are suspended. */
  readonly open: Statement;
}

/**
 * For each kind of object, its table. On a cluster these tables are on the coordinator, as the
 * table of sessions is, so one statement can join them.
 */
const TABLES: Readonly<Record<MadeKind, KindTable>> = {
  api_key: { table: raw("api_key"), name: raw("name"), open: raw("t.revoked_at IS NULL") },
  webhook_endpoint: { table: raw("webhook_endpoint"), name: raw("url"), open: raw("true") },
  // A schedule runs only after an approval, which counts as a proof, so a running schedule has no
  // session.
  payout_schedule: {
    table: raw("payout_schedule"),
    name: raw("coalesce(reference, id)"),
    open: raw("t.status = 'awaiting_approval'"),
  },
};

const madeOf = (kind: MadeKind): Statement => {
  const { table: from, name, open } = TABLES[kind];
  return sql`
    SELECT ${raw(`'${kind}'`)} AS kind, project_id, id, ${name} AS name,
      made_by_session, created_at, suspended_at
    FROM ${from} t
    WHERE made_by_session IS NOT NULL AND ${open}`;
};

const madeWhere = (condition: Statement): Statement => sql`
  SELECT t.kind, t.id, t.project_id AS "projectId", p.name AS "projectName", t.name,
    t.created_at AS "madeAt", t.suspended_at AS "suspendedAt",
    s.id AS "sessionId", s.user_id AS "userId", s.user_agent AS "userAgent"
  FROM (${join(MADE_KINDS.map(madeOf), " UNION ALL ")}) t
  JOIN session s ON s.id = t.made_by_session
  JOIN project p ON p.id = t.project_id
  WHERE ${condition}
  ORDER BY t.created_at DESC, t.id DESC`;

/** Objects that sessions of the person created, newest first. */
export const listMadeBy = (
  db: SqlReader,
  userId: string,
  limit: number,
): Promise<readonly MadeThing[]> =>
  madeThings.all(db, sql`${madeWhere(sql`s.user_id = ${userId}`)} LIMIT ${limit}::int`);

export const findMade = (
  db: SqlReader,
  ids: readonly string[],
): Promise<readonly MadeThing[]> =>
  madeThings.all(db, madeWhere(sql`t.id = ANY (${ids}::text[])`));

/** Selects sessions of one person: a single one, or all but one. */
export interface Ended {
  readonly userId: string;
  readonly only?: string | undefined;
  readonly except?: string | undefined;
}

const suspended = table({ id: text });

/**
 * Suspends the objects that the sessions created. Keys are suspended first. A concurrent request
 * of a key that creates an object holds the row of the key (`lockMaker`), so the later statements
 * see that object.
 * @returns ids
 */
export const suspendMade = async (
  tx: Tx,
  { userId, only, except }: Ended,
  at: Date,
): Promise<readonly string[]> => {
  const db = sqlOf(tx);
  const ids: string[] = [];
  for (const kind of MADE_KINDS) {
    const { table: from, open } = TABLES[kind];
    const conditions = [
      sql`s.id = t.made_by_session`,
      sql`s.user_id = ${userId}`,
      ...(only === undefined ? [] : [sql`s.id = ${only}`]),
      ...(except === undefined ? [] : [sql`s.id <> ${except}`]),
      sql`t.suspended_at IS NULL`,
      open,
    ];
    const rows = await suspended.all(
      db,
      sql`
        UPDATE ${from} t SET suspended_at = ${at}::timestamptz
        FROM session s
        WHERE ${join(conditions, " AND ")}
        RETURNING t.id`,
    );
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
};

/**
 * Marks an object as proven: removes its link to the session that made it, and lifts its
 * suspension. Returns false when it is proven already or has ended.
 */
export const proveMade = async (
  tx: Tx,
  { kind, id }: ThingName,
  projectId: string,
): Promise<boolean> => {
  const { table: from, open } = TABLES[kind];
  const changed = await sqlOf(tx).change(sql`
    UPDATE ${from} t SET
      made_by_session = NULL,
      suspended_at = NULL
    WHERE project_id = ${projectId} AND id = ${id} AND made_by_session IS NOT NULL AND ${open}`);
  return changed === 1;
};

/** The object's current state; null when the object has ended. */
export const readThing = (
  db: SqlReader,
  { kind, id }: ThingName,
  projectId: string,
): Promise<ThingState | null> => {
  const { table: from, name, open } = TABLES[kind];
  return thingStates.first(
    db,
    sql`
      SELECT ${name} AS name, created_at AS "madeAt", suspended_at AS "suspendedAt",
        made_by_session IS NULL AS "isProven"
      FROM ${from} t
      WHERE project_id = ${projectId}
        AND id = ${id}
        AND (made_by_session IS NULL OR ${open})`,
  );
};

export const readMaker = async (
  db: Queryable,
  sessionId: string,
): Promise<MakerSession | null> => {
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

const makers = table({ works: bool });

/**
 * Whether the actor's credential has ended. Locks the credential's row until the transaction ends.
 * A concurrent transaction that ends the credential waits for the lock, and then sees the objects
 * that this transaction created.
 */
export const lockMaker = async (tx: Tx, actor: Actor): Promise<boolean> => {
  const locking =
    actor.type === "user"
      ? sql`
        SELECT revoked_at IS NULL AS works FROM session
        WHERE id = ${actor.sessionId}
        FOR SHARE`
      : sql`
        SELECT revoked_at IS NULL AND suspended_at IS NULL AS works FROM api_key
        WHERE id = ${actor.keyId}
        FOR SHARE`;
  const maker = await makers.first(sqlOf(tx), locking);
  return maker?.works !== true;
};
