/** Stores whether signing is allowed, and with which database it was; and the moves that a restore lost. */
import pg from "pg";
import type { Database } from "@/lib/db/client";
import { sqlOn, type Sql } from "@/lib/db/sql";
import { recordAuditOn } from "@/lib/modules/audit/service";
import { paymentsText, storedPayments, type LostPayment, type UnknownMove } from "./state";

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
/** For so long the recipients of a lost move are not paid again without a release; as long as payout rows are remembered. */
const REMEMBERED_DAYS = 30;
const LISTED_MAX = 5;

const STATE = `
  SELECT identity, seen_at AS "seenAt", off_since AS "offSince", off_reason AS "offReason",
    seen_at < now() - interval '${String(SEEN_EVERY_SECONDS)} s' AS "isSeenLongAgo",
    EXISTS (SELECT 1 FROM unknown_move WHERE released_at IS NULL AND accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days')
      AS "hasLostMoves"
  FROM signing_state WHERE id = 1`;

export interface StoredState {
  readonly identity: string;
  readonly seenAt: Date;
  readonly offSince: Date | null;
  readonly offReason: string | null;
  readonly isSeenLongAgo: boolean;
  readonly hasLostMoves: boolean;
}

const LOST = `
  SELECT DISTINCT ON (recipient) recipient, chain_id AS "chainId", hash, payments
  FROM unknown_move move, unnest($2::text[]) AS recipient
  WHERE move.released_at IS NULL AND move.accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days'
    AND (move.project_id IS NULL OR move.project_id = $1) AND position(substr(lower(recipient), 3) IN move.payload) > 0
    AND NOT EXISTS (SELECT 1 FROM wallet WHERE wallet.project_id = $1 AND lower(wallet.address) = lower(recipient))
  ORDER BY recipient, accepted_at DESC LIMIT ${String(LISTED_MAX)}`;

const INSERT_MOVE = `
  INSERT INTO unknown_move (chain_id, hash, tx_hash, block_number, project_id, wallet_address, payments, payload, accepted_at, accepted_by, reason)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, now(), $9, $10) ON CONFLICT (chain_id, hash) DO NOTHING`;

const ALLOW = `
  UPDATE signing_state SET identity = $1, off_since = NULL, off_reason = NULL, seen_at = now(), allowed_at = now(), allowed_by = $2
  WHERE id = 1 AND off_since IS NOT DISTINCT FROM $3::timestamptz`;

const readFact = async ({ pool }: Pick<Database, "pool">, text: string): Promise<string> => {
  try {
    const { rows } = await pool.query<{ fact: string }>(text);
    return rows[0]?.fact ?? HIDDEN;
  } catch (error) {
    if (error instanceof pg.DatabaseError && UNREADABLE.has(error.code ?? "")) return HIDDEN;
    throw error;
  }
};

/** Which person or command changes it, and why. */
export interface Decided {
  readonly by: string;
  readonly reason: string;
  readonly at: Date;
}

export const createSigningRepository = (database: Pick<Database, "pool" | "rawTransaction">) => {
  const sql = sqlOn(database.pool);
  /** Facts that this server has hidden once are not asked for again. */
  const hidden = new Set<string>();

  const audit = (on: Sql, action: string, { by, reason, at }: Decided, data: Record<string, string> = {}) =>
    recordAuditOn(on, {
      ...{ projectId: null, actor: by, action, subject: null, data: { reason, ...data }, request: null, at },
    });

  return {
    /** Names the server, its timeline, the database and the table. Facts that the server hides are `-`. */
    identity: async (): Promise<string> => {
      const facts: string[] = [];
      for (const text of FACTS) {
        const fact = hidden.has(text) ? HIDDEN : await readFact(database, text);
        if (fact === HIDDEN) hidden.add(text);
        facts.push(fact);
      }
      return facts.join("/");
    },

    state: async (): Promise<StoredState | null> => (await sql.query<StoredState>(STATE, []))[0] ?? null,

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

    /** Stores moves that a person has accepted, each with an entry of the audit log. */
    accept: (moves: readonly UnknownMove[], { by, reason, at }: Decided): Promise<void> =>
      database.rawTransaction(async (on) => {
        for (const move of moves) {
          const { chainId, hash, txHash, blockNumber, projectId, walletAddress, payments, payload } = move;
          const own = [chainId, hash, txHash, blockNumber.toString(), projectId, walletAddress];
          await on.change(INSERT_MOVE, [...own, JSON.stringify(payments), payload, by, reason]);
          const data = { chainId, txHash, wallet: walletAddress ?? "", paid: paymentsText(payments), reason };
          const entry = { projectId, actor: by, action: "unknown_move.accepted", subject: hash, data, at };
          await recordAuditOn(on, { ...entry, request: null });
        }
      }),

    /** Lets the recipients of accepted moves be paid again. @returns the hashes that it has released */
    release: (hashes: readonly string[], { by, reason, at }: Decided): Promise<readonly string[]> =>
      database.rawTransaction(async (on) => {
        const rows = await on.query<{ hash: string; projectId: string | null }>(
          `UPDATE unknown_move SET released_at = now(), released_by = $2 WHERE hash = ANY($1) AND released_at IS NULL
           RETURNING hash, project_id AS "projectId"`,
          [hashes, by],
        );
        for (const { hash, projectId } of rows) {
          const entry = { projectId, actor: by, action: "unknown_move.released", subject: hash, data: { reason }, at };
          await recordAuditOn(on, { ...entry, request: null });
        }
        return rows.map(({ hash }) => hash);
      }),

    acceptedHashes: async (): Promise<ReadonlySet<string>> => {
      const rows = await sql.query<{ hash: string }>("SELECT hash FROM unknown_move", []);
      return new Set(rows.map(({ hash }) => hash));
    },

    /** The recipients, checksummed, that accepted moves have named and nobody has released. Wallets of the project do not count. */
    lostPayments: async (projectId: string, recipients: readonly string[]): Promise<readonly LostPayment[]> => {
      const rows = await sql.query<{ recipient: string; chainId: number; hash: string; payments: unknown }>(LOST, [
        projectId,
        recipients,
      ]);
      return rows.map(({ payments, ...row }) => ({ ...row, text: paymentsText(storedPayments.parse(payments)) }));
    },
  };
};

export type SigningRepository = ReturnType<typeof createSigningRepository>;
