import type { Address } from "viem";
import type { Database } from "@/lib/platform/db/client";
import { type Sql, sqlOn } from "@/lib/platform/db/sql";
import { recordAuditOn } from "@/lib/news/audit/service";
import {
  type Decided,
  type LostPayment,
  paymentsText,
  storedPayments,
  type UnknownMove,
} from "./state";
import pg from "pg";

// Reads the movements on a chain that the database knows, to compare them with the chain.

/** A smart account whose key the service holds, or which a linked wallet owns. */
interface KnownAccount {
  readonly projectId: string;
  readonly address: Address;
}

/** A leg that has not ended, or has changed recently. */
export interface KnownLeg {
  readonly id: string;
  readonly operationId: string;
  readonly state: string;
  readonly operationStatus: string;
}

/** A batch of a payout to wallets that has not ended, or has changed recently. */
export interface KnownBatch {
  readonly projectId: string;
  readonly payoutId: string;
  readonly number: number;
  readonly attempt: number;
  readonly state: string;
}

/** One of the service's own transactions that is not final. */
export interface OpenTransaction {
  readonly id: string;
  readonly from: Address;
  readonly nonce: bigint;
  readonly to: Address;
  readonly data: string;
  readonly value: string;
  readonly hashes: readonly string[];
}

const ACCOUNTS = `SELECT project_id AS "projectId", address FROM wallet WHERE owner_address IS NOT NULL`;

const HASHES = `
  SELECT user_op_hash AS hash FROM operation_leg WHERE user_op_hash = ANY($1::text[])
  UNION
  SELECT user_op_hash FROM wallet_payout_batch WHERE user_op_hash = ANY($1::text[])`;
// Few operations are signed again, so there is no index for them.
const EARLIER = `
  SELECT DISTINCT earlier AS hash FROM operation_leg, unnest(earlier_user_op_hashes) AS earlier
  WHERE earlier_user_op_hashes && $1::text[]`;

const LEGS = `
  SELECT leg.id, leg.operation_id AS "operationId", leg.state, operation.status AS "operationStatus"
  FROM operation_leg leg JOIN operation ON operation.project_id = leg.project_id AND operation.id = leg.operation_id
  WHERE leg.source_chain_id = $1 AND (leg.updated_at >= $2 OR leg.state IN ('queued', 'submitted'))`;

const BATCHES = `
  SELECT batch.project_id AS "projectId", batch.payout_id AS "payoutId", batch.number, batch.attempt, batch.state
  FROM wallet_payout_batch batch JOIN wallet_payout payout USING (project_id, payout_id)
  WHERE payout.chain_id = $1 AND (batch.updated_at >= $2 OR batch.state IN ('queued', 'signed', 'sent', 'mined'))`;

const OPEN_TRANSACTIONS = `
  SELECT id, from_address AS "from", nonce, "to", data, value::text, array_append(replaced_hashes, hash) AS hashes
  FROM chain_transaction WHERE chain_id = $1 AND status IN ('signed', 'broadcast')`;

export const createKnownRepository = ({ pool }: Pick<Database, "pool">) => {
  const sql = sqlOn(pool);
  return {
    accounts: (): Promise<readonly KnownAccount[]> => sql.query<KnownAccount>(ACCOUNTS, []),

    /** Returns the user operations among these that legs or batches name. */
    knownHashes: async (hashes: readonly string[]): Promise<ReadonlySet<string>> => {
      const rows = await Promise.all([
        sql.query<{ hash: string }>(HASHES, [hashes]),
        sql.query<{ hash: string }>(EARLIER, [hashes]),
      ]);
      return new Set(rows.flat().map(({ hash }) => hash));
    },

    legs: (chainId: number, since: Date): Promise<readonly KnownLeg[]> =>
      sql.query<KnownLeg>(LEGS, [chainId, since]),

    batches: (chainId: number, since: Date): Promise<readonly KnownBatch[]> =>
      sql.query<KnownBatch>(BATCHES, [chainId, since]),

    openTransactions: async (chainId: number): Promise<readonly OpenTransaction[]> => {
      const rows = await sql.query<Omit<OpenTransaction, "nonce"> & { nonce: string | bigint }>(
        OPEN_TRANSACTIONS,
        [chainId],
      );
      return rows.map((row) => ({ ...row, nonce: BigInt(row.nonce) }));
    },

    /** The next nonce of an account in the database; null when it has sent nothing. */
    nextNonce: async (chainId: number, address: Address): Promise<bigint | null> => {
      const [row] = await sql.query<{ next: string | bigint }>(
        "SELECT next FROM signer_nonce WHERE chain_id = $1 AND address = $2",
        [chainId, address],
      );
      return row === undefined ? null : BigInt(row.next);
    },

    raiseNonce: (chainId: number, address: Address, next: bigint): Promise<number> =>
      sql.change(
        "UPDATE signer_nonce SET next = $3 WHERE chain_id = $1 AND address = $2 AND next < $3",
        [...[chainId, address, next.toString()]],
      ),

    /** Adds a version of a stored transaction, so that its receipt is found. */
    addVersion: (id: string, hash: string): Promise<number> =>
      sql.change(
        "UPDATE chain_transaction SET replaced_hashes = array_append(replaced_hashes, $2) WHERE id = $1 AND NOT ($2 = ANY(replaced_hashes))",
        [id, hash],
      ),
  };
};

export type KnownRepository = ReturnType<typeof createKnownRepository>;

// Stores the movements that a restore lost and a person has accepted.

/**
 * How long the recipients of a lost movement are not paid again without a release: as long as
 * payout rows are remembered.
 */
const REMEMBERED_DAYS = 30;
const LISTED_MAX = 5;

const LOST = `
  SELECT DISTINCT ON (recipient) recipient, chain_id AS "chainId", hash, payments
  FROM unknown_move move, unnest($2::text[]) AS recipient
  WHERE move.released_at IS NULL AND move.accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days'
    AND (move.project_id IS NULL OR move.project_id = $1) AND position(substr(lower(recipient), 3) IN move.payload) > 0
    AND NOT EXISTS (SELECT 1 FROM wallet WHERE wallet.project_id = $1 AND lower(wallet.address) = lower(recipient))
  ORDER BY recipient, accepted_at DESC LIMIT ${String(LISTED_MAX)}`;

/** Payments in one token of a project on a chain. */
export interface AskedPayments {
  readonly projectId: string;
  readonly chainId: number;
  /** Address of the token, or `native`. */
  readonly token: string;
  /** Amounts in whole units, like those of lost movements. */
  readonly payments: readonly { readonly recipient: string; readonly amount: string }[];
}

// When the payments of a movement could not be decoded, only the recipient is compared.
const HAS_PAID = `
  SELECT EXISTS (
    SELECT 1 FROM unknown_move move, unnest($4::text[], $5::text[]) AS asked (recipient, amount)
    WHERE move.chain_id = $2 AND move.released_at IS NULL AND move.accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days'
      AND (move.project_id IS NULL OR move.project_id = $1) AND position(substr(lower(asked.recipient), 3) IN move.payload) > 0
      AND (move.payments = '[]'::jsonb OR EXISTS (
        SELECT 1 FROM jsonb_to_recordset(move.payments) AS paid ("to" text, token text, amount text)
        WHERE lower(paid."to") = lower(asked.recipient) AND lower(paid.token) = lower($3) AND paid.amount = asked.amount))
  ) AS "hasPaid"`;

interface SeenCall {
  readonly to: string;
  readonly data: string;
}

// The payload of an executor's transaction begins with its recipient and its data, followed by its
// logs.
const LOST_TRANSACTION = `
  SELECT tx_hash AS hash FROM unknown_move WHERE chain_id = $1 AND wallet_address IS NULL AND starts_with(payload, $2) LIMIT 1`;

const IS_LOST =
  "SELECT 1 FROM unknown_move WHERE chain_id = $1 AND wallet_address IS NULL AND lower(tx_hash) = lower($2) LIMIT 1";

const INSERT_MOVE = `
  INSERT INTO unknown_move (chain_id, hash, tx_hash, block_number, project_id, wallet_address, payments, payload, accepted_at, accepted_by, reason)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, now(), $9, $10) ON CONFLICT (chain_id, hash) DO NOTHING`;

const createUnknownMoves = (database: Pick<Database, "pool" | "rawTransaction">) => {
  const sql = sqlOn(database.pool);
  return {
    /** Stores movements that a person has accepted, each with an audit entry. */
    accept: (moves: readonly UnknownMove[], { by, reason, at }: Decided): Promise<void> =>
      database.rawTransaction(async (on) => {
        for (const move of moves) {
          const {
            chainId,
            hash,
            txHash,
            blockNumber,
            projectId,
            walletAddress,
            payments,
            payload,
          } = move;
          const own = [chainId, hash, txHash, blockNumber.toString(), projectId, walletAddress];
          await on.change(INSERT_MOVE, [...own, JSON.stringify(payments), payload, by, reason]);
          const data = {
            chainId,
            txHash,
            wallet: walletAddress ?? "",
            paid: paymentsText(payments),
            reason,
          };
          const entry = {
            projectId,
            actor: by,
            action: "unknown_move.accepted",
            subject: hash,
            data,
            at,
          };
          await recordAuditOn(on, { ...entry, request: null });
        }
      }),

    /**
     * Allows the recipients of accepted movements to be paid again.
     * @returns the released hashes
     */
    release: (hashes: readonly string[], { by, reason, at }: Decided): Promise<readonly string[]> =>
      database.rawTransaction(async (on) => {
        const rows = await on.query<{ hash: string; projectId: string | null }>(
          `UPDATE unknown_move SET released_at = now(), released_by = $2 WHERE hash = ANY($1) AND released_at IS NULL
           RETURNING hash, project_id AS "projectId"`,
          [hashes, by],
        );
        for (const { hash, projectId } of rows) {
          const entry = {
            projectId,
            actor: by,
            action: "unknown_move.released",
            subject: hash,
            data: { reason },
            at,
          };
          await recordAuditOn(on, { ...entry, request: null });
        }
        return rows.map(({ hash }) => hash);
      }),

    acceptedHashes: async (): Promise<ReadonlySet<string>> => {
      const rows = await sql.query<{ hash: string }>("SELECT hash FROM unknown_move", []);
      return new Set(rows.map(({ hash }) => hash));
    },

    /** Whether a lost movement that is not released contains one of these payments. */
    hasPaid: async ({ projectId, chainId, token, payments }: AskedPayments): Promise<boolean> => {
      const [row] = await sql.query<{ hasPaid: boolean }>(HAS_PAID, [
        ...[projectId, chainId, token],
        payments.map(({ recipient }) => recipient),
        payments.map(({ amount }) => amount),
      ]);
      return row?.hasPaid === true;
    },

    /**
     * The hash of an accepted transaction of the executor with exactly this content; null when
     * there is none.
     */
    lostTransaction: async (
      chainId: number,
      { to, data }: SeenCall,
    ): Promise<`0x${string}` | null> => {
      const [row] = await sql.query<{ hash: `0x${string}` }>(LOST_TRANSACTION, [
        chainId,
        `${to.slice(2).toLowerCase()} ${data.slice(2).toLowerCase()}`,
      ]);
      return row?.hash ?? null;
    },

    /** Whether the executor's transaction was accepted as one that the database lost. */
    isLost: async (chainId: number, txHash: string): Promise<boolean> =>
      (await sql.query(IS_LOST, [chainId, txHash])).length === 1,

    /**
     * Finds which recipients (checksummed) a lost movement has paid and that are not released. The
     * project's own wallets are left out.
     */
    lostPayments: async (
      projectId: string,
      recipients: readonly string[],
    ): Promise<readonly LostPayment[]> => {
      const rows = await sql.query<{
        recipient: string;
        chainId: number;
        hash: string;
        payments: unknown;
      }>(LOST, [projectId, recipients]);
      return rows.map(({ payments, ...row }) => ({
        ...row,
        text: paymentsText(storedPayments.parse(payments)),
      }));
    },
  };
};

// Stores whether signing is allowed, and for which database.

/**
 * SQLSTATE of a function that the role may not call, that the server does not have, or that it does
 * not support.
 */
const UNREADABLE = new Set(["42501", "42883", "0A000"]);

/**
 * The facts that identify a database. Copied files keep the system identifier; a promotion and a
 * point-in-time recovery start a new timeline; `pg_restore` creates a new database or recreates
 * this table.
 */
const FACTS = [
  "SELECT system_identifier::text AS fact FROM pg_control_system()",
  // `pg_control_checkpoint()` would show the old timeline until the first checkpoint after a
  // promotion.
  "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS fact",
  "SELECT oid::text AS fact FROM pg_database WHERE datname = current_database()",
  "SELECT 'signing_state'::regclass::oid::text AS fact",
] as const;
/** Placeholder for a fact that a managed server does not show. */
const HIDDEN = "-";
/** How often instances record that signing is allowed. */
const SEEN_EVERY_SECONDS = 10;

/**
 * One statement, because every instance runs it once a second.
 * @param hidden facts that this server does not show
 */
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

interface Look {
  /**
   * Identifies the current server, timeline, database and table. Facts that the server hides are
   * `-`.
   */
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

const isUnreadable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && UNREADABLE.has(error.code ?? "");

/** Finds the facts that this server does not show. */
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

  const audit = (
    on: Sql,
    action: string,
    { by, reason, at }: Decided,
    data: Record<string, string> = {},
  ) =>
    recordAuditOn(on, {
      ...{
        projectId: null,
        actor: by,
        action,
        subject: null,
        data: { reason, ...data },
        request: null,
        at,
      },
    });

  return {
    ...createUnknownMoves(database),

    /** The current database, and the one for which signing was last allowed. */
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

    /** The first instance of a new installation stores the identity of its database. */
    begin: (identity: string): Promise<number> =>
      sql.change(
        "INSERT INTO signing_state (id, identity, seen_at) VALUES (1, $1, now()) ON CONFLICT (id) DO NOTHING",
        [identity],
      ),

    seen: (identity: string): Promise<number> =>
      sql.change(
        "UPDATE signing_state SET seen_at = now() WHERE id = 1 AND identity = $1 AND off_since IS NULL",
        [identity],
      ),

    /** Turns signing off until it is allowed again. */
    turnOff: (reason: string): Promise<number> =>
      sql.change(
        "UPDATE signing_state SET off_since = now(), off_reason = $1 WHERE id = 1 AND off_since IS NULL",
        [reason],
      ),

    /** Like `turnOff`, by a person. */
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
