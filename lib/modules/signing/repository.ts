/** Stores whether signing is allowed, and with which database it was. */
import pg from "pg";
import type { Database } from "@/lib/db/client";
import { sqlOn, type Sql } from "@/lib/db/sql";
import { recordAuditOn } from "@/lib/modules/audit/service";
import type { Decided } from "./state";
import { createUnknownMoves, REMEMBERED_DAYS } from "./unknown-move-repository";

/** SQLSTATE of a function that the role may not call, that the server does not have, or that it does not support. */
const UNREADABLE = new Set(["42501", "42883", "0A000"]);

/**
 * The facts that name a database. Files that are copied keep the system identifier; a promotion and a recovery to a point in time begin a
 * new timeline; `pg_restore` makes a new database, or this table anew.
 */
const FACTS = [
  "SELECT system_identifier::text AS fact FROM pg_control_system()",
  // Not `pg_control_checkpoint()`, which shows the old timeline until the first checkpoint after a promotion.
  "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS fact",
  "SELECT oid::text AS fact FROM pg_database WHERE datname = current_database()",
  "SELECT 'signing_state'::regclass::oid::text AS fact",
] as const;
/** Stands for a fact that a managed server does not show. */
const HIDDEN = "-";
/** Instances note that often that signing is allowed. */
const SEEN_EVERY_SECONDS = 10;

/** One statement, because it runs once a second at every instance. @param hidden facts that this server does not show */
const lookText = (hidden: ReadonlySet<string>): string => `
  SELECT concat_ws('/', ${FACTS.map((fact) => (hidden.has(fact) ? `'${HIDDEN}'` : `(${fact})`)).join(", ")}) AS present,
    identity, seen_at AS "seenAt", off_since AS "offSince", off_reason AS "offReason",
    coalesce(seen_at < now() - interval '${String(SEEN_EVERY_SECONDS)} s', false) AS "isSeenLongAgo",
    EXISTS (SELECT 1 FROM unknown_move WHERE released_at IS NULL AND accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days')
      AS "hasLostMoves"
  FROM (SELECT 1) AS always LEFT JOIN signing_state ON id = 1`;

/** The row of `signing_state`. */
export interface StoredState {
  readonly identity: string;
  readonly seenAt: Date;
  readonly offSince: Date | null;
  readonly offReason: string | null;
  readonly isSeenLongAgo: boolean;
  readonly hasLostMoves: boolean;
}

export interface Look {
  /** Names the server, its timeline, the database and the table as they are now. Facts that the server hides are `-`. */
  readonly present: string;
  /** Null in a new installation. */
  readonly stored: StoredState | null;
}

interface LookRow extends Omit<StoredState, "identity"> {
  readonly present: string;
  readonly identity: string | null;
}

const ALLOW = `
  UPDATE signing_state SET identity = $1, off_since = NULL, off_reason = NULL, seen_at = now(), allowed_at = now(), allowed_by = $2
  WHERE id = 1 AND off_since IS NOT DISTINCT FROM $3::timestamptz`;

const isUnreadable = (error: unknown): boolean => error instanceof pg.DatabaseError && UNREADABLE.has(error.code ?? "");

/** Which facts this server does not show. */
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

export const createSigningRepository = (database: Pick<Database, "pool" | "rawTransaction">) => {
  const sql = sqlOn(database.pool);
  let hidden: ReadonlySet<string> = new Set();

  const audit = (on: Sql, action: string, { by, reason, at }: Decided, data: Record<string, string> = {}) =>
    recordAuditOn(on, {
      ...{ projectId: null, actor: by, action, subject: null, data: { reason, ...data }, request: null, at },
    });

  return {
    ...createUnknownMoves(database),

    /** The database as it is now, and the one for which signing was allowed last. */
    look: async (): Promise<Look> => {
      const read = () => sql.query<LookRow>(lookText(hidden), []);
      const rows = await read().catch(async (error: unknown) => {
        if (!isUnreadable(error)) throw error;
        hidden = await hiddenFacts(database);
        return read();
      });
      const [row] = rows;
      if (row === undefined) throw new Error("PostgreSQL gave no answer.");
      const { present, identity, ...stored } = row;
      return { present, stored: identity === null ? null : { ...stored, identity } };
    },

    /** The first instance of a new installation stores the database that it finds. */
    begin: (identity: string): Promise<number> =>
      sql.change(
        "INSERT INTO signing_state (id, identity, seen_at) VALUES (1, $1, now()) ON CONFLICT (id) DO NOTHING",
        [identity],
      ),

    seen: (identity: string): Promise<number> =>
      sql.change("UPDATE signing_state SET seen_at = now() WHERE id = 1 AND identity = $1 AND off_since IS NULL", [
        identity,
      ]),

    /** Signing stays off from then on until it is allowed. */
    turnOff: (reason: string): Promise<number> =>
      sql.change("UPDATE signing_state SET off_since = now(), off_reason = $1 WHERE id = 1 AND off_since IS NULL", [
        reason,
      ]),

    /** As `turnOff`, by a person. */
    stop: (decided: Decided): Promise<void> =>
      database.rawTransaction(async (on) => {
        const reason = `${decided.by} has stopped it (${decided.reason})`;
        await on.change(
          "UPDATE signing_state SET off_since = coalesce(off_since, now()), off_reason = coalesce(off_reason, $1) WHERE id = 1",
          [reason],
        );
        await audit(on, "signing.stopped", decided);
      }),

    /** @returns false when signing was turned off again, or allowed, since `offSince` was read */
    allow: (identity: string, offSince: Date | null, decided: Decided): Promise<boolean> =>
      database.rawTransaction(async (on) => {
        if ((await on.change(ALLOW, [identity, decided.by, offSince])) === 0) return false;
        await audit(on, "signing.allowed", decided, { identity });
        return true;
      }),
  };
};

export type SigningRepository = ReturnType<typeof createSigningRepository>;
