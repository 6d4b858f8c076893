import pg from "pg";
import type { Database } from "@/lib/platform/db/client";
import { type Sql, sqlOn } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import { recordAuditOn } from "@/lib/news/audit/service";
import { looks } from "./rows";
import type { Decided } from "./state";
import { createUnknownMoves, IS_REMEMBERED } from "./unknown-move-repository";

// Stores whether signing is allowed, and for which database.

/**
 * SQLSTATE codes of the errors when the role may not call a function, or when the server lacks or
 * does not support the function.
 */
const UNREADABLE = new Set(["42501", "42883", "0A000"]);

/**
 * SQL for the facts that identify a database. A copy of the database's files has the same system
 * identifier, so further facts are needed. A promotion and a point-in-time recovery start a new
 * timeline, and `pg_restore` creates a new database or recreates this table.
 */
const FACTS = [
  "SELECT system_identifier::text AS fact FROM pg_control_system()",
  // `pg_control_checkpoint()` would return the old timeline until the first checkpoint after a
  // promotion.
  "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS fact",
  "SELECT oid::text AS fact FROM pg_database WHERE datname = current_database()",
  "SELECT 'signing_state'::regclass::oid::text AS fact",
] as const;
/** Placeholder for a fact that a managed server hides. */
const HIDDEN = "-";
/** Seconds after which an instance records again that signing is allowed. */
const SEEN_EVERY_SECONDS = 10;

/**
 * Reads the identity of the present database and the stored state. Both are read in one statement,
 * because every instance runs it once a second.
 * @param hidden facts that this server hides
 */
const look = (hidden: ReadonlySet<string>): Statement => {
  const facts = FACTS.map((fact) => (hidden.has(fact) ? `'${HIDDEN}'` : `(${fact})`));
  return sql`
    SELECT concat_ws('/', ${raw(facts.join(", "))}) AS present,
      identity,
      seen_at AS "seenAt",
      off_since AS "offSince",
      off_reason AS "offReason",
      coalesce(
        seen_at < now() - interval '${raw(String(SEEN_EVERY_SECONDS))} s',
        false
      ) AS "isSeenLongAgo",
      EXISTS (SELECT 1 FROM unknown_move move WHERE ${IS_REMEMBERED}) AS "hasLostMoves"
    FROM (SELECT 1) AS always
    LEFT JOIN signing_state ON id = 1`;
};

export interface StoredState extends Omit<RowOf<typeof looks>, "present" | "identity"> {
  readonly identity: string;
}

interface Look extends Pick<RowOf<typeof looks>, "present"> {
  /** Null in a new installation. */
  readonly stored: StoredState | null;
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && UNREADABLE.has(error.code ?? "");

/** Finds the facts that this server hides. */
const hiddenFacts = async ({ pool }: Pick<Database, "pool">): Promise<ReadonlySet<string>> => {
  const hidden = new Set<string>();
  for (const fact of FACTS) {
    try {
      await pool.query(fact);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      hidden.add(fact);
    }
  }
  return hidden;
};

const recordDecision = (
  db: Sql,
  action: string,
  { by, reason, at }: Decided,
  data: Record<string, string> = {},
) =>
  recordAuditOn(db, {
    projectId: null,
    actor: by,
    action,
    subject: null,
    data: { reason, ...data },
    request: null,
    at,
  });

export const createSigningRepository = (
  database: Pick<Database, "pool" | "rawTransaction">,
) => {
  const db = sqlOn(database.pool);
  let hidden: ReadonlySet<string> = new Set();

  return {
    ...createUnknownMoves(database),

    /**
     * Reads the identity of the current database, and of the database for which signing was last
     * allowed.
     */
    look: async (): Promise<Look> => {
      const read = () => looks.first(db, look(hidden));
      const row = await read().catch(async (error: unknown) => {
        if (!isUnreadable(error)) throw error;
        hidden = await hiddenFacts(database);
        return read();
      });
      if (row === null) throw new Error("PostgreSQL gave no answer.");
      const { present, identity, ...stored } = row;
      return { present, stored: identity === null ? null : { ...stored, identity } };
    },

    /** Stores the identity of a new installation's database; has no effect later. */
    begin: (identity: string): Promise<number> =>
      db.change(sql`
        INSERT INTO signing_state (id, identity, seen_at)
        VALUES (1, ${identity}, now())
        ON CONFLICT (id) DO NOTHING`),

    seen: (identity: string): Promise<number> =>
      db.change(sql`
        UPDATE signing_state SET seen_at = now()
        WHERE id = 1 AND identity = ${identity} AND off_since IS NULL`),

    /** Turns signing off until it is allowed again. */
    turnOff: (reason: string): Promise<number> =>
      db.change(sql`
        UPDATE signing_state SET
          off_since = now(),
          off_reason = ${reason}
        WHERE id = 1 AND off_since IS NULL`),

    /** Like `turnOff`, for a person's decision. */
    stop: (decided: Decided): Promise<void> =>
      database.rawTransaction(async (tx) => {
        const reason = `${decided.by} has stopped it (${decided.reason})`;
        await tx.change(sql`
          UPDATE signing_state SET
            off_since = coalesce(off_since, now()),
            off_reason = coalesce(off_reason, ${reason})
          WHERE id = 1`);
        await recordDecision(tx, "signing.stopped", decided);
      }),

    /**
     * Allows signing for the database with this identity.
     * @returns false when signing was turned off again, or allowed, since `offSince` was read
     */
    allow: (identity: string, offSince: Date | null, decided: Decided): Promise<boolean> =>
      database.rawTransaction(async (tx) => {
        const allowed = await tx.change(sql`
          UPDATE signing_state SET
            identity = ${identity},
            off_since = NULL,
            off_reason = NULL,
            seen_at = now(),
            allowed_at = now(),
            allowed_by = ${decided.by}
          WHERE id = 1 AND off_since IS NOT DISTINCT FROM ${offSince}::timestamptz`);
        if (allowed === 0) return false;
        await recordDecision(tx, "signing.allowed", decided, { identity });
        return true;
      }),
  };
};

export type SigningRepository = ReturnType<typeof createSigningRepository>;
