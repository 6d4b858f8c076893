import type { Database } from "@/lib/platform/db/client";
import { type Sql, sqlOn } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { bool, table } from "@/lib/platform/db/table";
import { recordAuditOn } from "@/lib/news/audit/service";
import { lostPayments, lostTransactions, type UnknownMove, unknownMoves } from "./rows";
import { type Decided, type LostPayment, paymentsText } from "./state";

// Stores movements that are missing from a restored database and that a person has accepted.

/**
 * Days for which the recipients of an accepted movement are not paid again, unless a person
 * releases the movement. Payout rows are remembered for the same number of days.
 */
const REMEMBERED_DAYS = 30;
const LISTED_MAX = 5;

/** SQL: whether the recipients of the movement `move` are still protected from a second payment. */
export const IS_REMEMBERED = raw(`
  move.released_at IS NULL
  AND move.accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days'`);

const hashRows = unknownMoves.pick("hash");
const released = unknownMoves.pick("hash", "projectId");

/** Payments that a project wants to make in one token on one chain. */
export interface AskedPayments {
  readonly projectId: string;
  readonly chainId: number;
  /** Address of the token, or `native`. */
  readonly token: string;
  /** Amounts are in whole units of the token, as in the stored payments of accepted movements. */
  readonly payments: readonly { readonly recipient: string; readonly amount: string }[];
}

interface SeenCall {
  readonly to: string;
  readonly data: string;
}

const acceptMove = async (
  db: Sql,
  move: UnknownMove,
  { by, reason, at }: Decided,
): Promise<void> => {
  const { chainId, hash, txHash, projectId, walletAddress, payments } = move;
  await db.change(sql`
    INSERT INTO unknown_move (${unknownMoves.names}, accepted_at, accepted_by, reason)
    SELECT ${unknownMoves.names}, now(), ${by}, ${reason}
    FROM ${unknownMoves.list([move])} AS accepted
    ON CONFLICT (chain_id, hash) DO NOTHING`);
  await recordAuditOn(db, {
    projectId,
    actor: by,
    action: "unknown_move.accepted",
    subject: hash,
    data: {
      chainId,
      txHash,
      wallet: walletAddress ?? "",
      paid: paymentsText(payments),
      reason,
    },
    request: null,
    at,
  });
};

const releaseMoves = async (
  db: Sql,
  hashes: readonly string[],
  { by, reason, at }: Decided,
): Promise<readonly string[]> => {
  const moves = await released.all(
    db,
    sql`
      UPDATE unknown_move SET
        released_at = now(),
        released_by = ${by}
      WHERE hash = ANY(${hashes}::text[]) AND released_at IS NULL
      RETURNING ${released.columns()}`,
  );
  for (const { hash, projectId } of moves)
    await recordAuditOn(db, {
      projectId,
      actor: by,
      action: "unknown_move.released",
      subject: hash,
      data: { reason },
      request: null,
      at,
    });
  return moves.map(({ hash }) => hash);
};

const verdicts = table({ hasPaid: bool });

/**
 * Whether an accepted movement made one of the payments. A movement whose payments could not be
 * decoded counts when it names the recipient, whatever the token and amount.
 */
const hasPaid = async (
  db: Sql,
  { projectId, chainId, token, payments }: AskedPayments,
): Promise<boolean> => {
  const verdict = await verdicts.first(
    db,
    sql`
      SELECT EXISTS (
        SELECT 1
        FROM unknown_move move, unnest(
          ${payments.map(({ recipient }) => recipient)}::text[],
          ${payments.map(({ amount }) => amount)}::text[]
        ) AS payment (recipient, amount)
        WHERE move.chain_id = ${chainId}::int
          AND ${IS_REMEMBERED}
          AND (move.project_id IS NULL OR move.project_id = ${projectId})
          AND position(substr(lower(payment.recipient), 3) IN move.payload) > 0
          AND (move.payments = '[]'::jsonb OR EXISTS (
            SELECT 1
            FROM jsonb_to_recordset(move.payments) AS paid ("to" text, token text, amount text)
            WHERE lower(paid."to") = lower(payment.recipient)
              AND lower(paid.token) = lower(${token})
              AND paid.amount = payment.amount
          ))
      ) AS "hasPaid"`,
  );
  return verdict?.hasPaid === true;
};

const findLostPayments = async (
  db: Sql,
  projectId: string,
  recipients: readonly string[],
): Promise<readonly LostPayment[]> => {
  const lost = await lostPayments.all(
    db,
    sql`
      SELECT DISTINCT ON (recipient) recipient, chain_id AS "chainId", hash, payments
      FROM unknown_move move, unnest(${recipients}::text[]) AS recipient
      WHERE ${IS_REMEMBERED}
        AND (move.project_id IS NULL OR move.project_id = ${projectId})
        AND position(substr(lower(recipient), 3) IN move.payload) > 0
        AND NOT EXISTS (
          SELECT 1 FROM wallet
          WHERE wallet.project_id = ${projectId} AND lower(wallet.address) = lower(recipient)
        )
      ORDER BY recipient, accepted_at DESC
      LIMIT ${raw(String(LISTED_MAX))}`,
  );
  return lost.map(({ payments, ...row }) => ({ ...row, text: paymentsText(payments) }));
};

export const createUnknownMoves = (database: Pick<Database, "pool" | "rawTransaction">) => {
  const db = sqlOn(database.pool);
  return {
    accept: (moves: readonly UnknownMove[], decided: Decided): Promise<void> =>
      database.rawTransaction(async (tx) => {
        for (const move of moves) await acceptMove(tx, move, decided);
      }),

    /**
     * Allows the recipients of the accepted movements with these hashes to be paid again.
     * @returns the released hashes
     */
    release: (hashes: readonly string[], decided: Decided): Promise<readonly string[]> =>
      database.rawTransaction((tx) => releaseMoves(tx, hashes, decided)),

    acceptedHashes: async (): Promise<ReadonlySet<string>> => {
      const moves = await hashRows.all(db, sql`SELECT ${hashRows.columns()} FROM unknown_move`);
      return new Set(moves.map(({ hash }) => hash));
    },

    hasPaid: (asked: AskedPayments): Promise<boolean> => hasPaid(db, asked),

    /**
     * The hash of an accepted transaction of the executor with exactly this content; null when
     * there is none. The payload of an executor's transaction starts with its recipient and data,
     * followed by its logs.
     */
    lostTransaction: async (
      chainId: number,
      { to, data }: SeenCall,
    ): Promise<`0x${string}` | null> => {
      const beginning = `${to.slice(2).toLowerCase()} ${data.slice(2).toLowerCase()}`;
      const lost = await lostTransactions.first(
        db,
        sql`
          SELECT tx_hash AS hash FROM unknown_move
          WHERE chain_id = ${chainId}::int
            AND wallet_address IS NULL
            AND starts_with(payload, ${beginning})
          LIMIT 1`,
      );
      return lost?.hash ?? null;
    },

    /** Whether the executor's transaction was accepted as missing from the database. */
    isLost: async (chainId: number, txHash: string): Promise<boolean> => {
      const moves = await db.query(sql`
        SELECT 1 FROM unknown_move
        WHERE chain_id = ${chainId}::int
          AND wallet_address IS NULL
          AND lower(tx_hash) = lower(${txHash})
        LIMIT 1`);
      return moves.length === 1;
    },

    /**
     * For each recipient (checksummed) that an accepted movement has paid, the newest such payment.
     * Movements that were released or accepted more than 30 days ago are left out, and so are the
     * project's own wallets.
     */
    lostPayments: (
      projectId: string,
      recipients: readonly string[],
    ): Promise<readonly LostPayment[]> => findLostPayments(db, projectId, recipients),
  };
};
