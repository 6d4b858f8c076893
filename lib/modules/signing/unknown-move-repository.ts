/** Stores the moves that a restore lost and a person has accepted. */
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";
import { recordAuditOn } from "@/lib/modules/audit/service";
import { paymentsText, storedPayments, type Decided, type LostPayment, type UnknownMove } from "./state";

/** For so long the recipients of a lost move are not paid again without a release; as long as payout rows are remembered. */
export const REMEMBERED_DAYS = 30;
const LISTED_MAX = 5;

const LOST = `
  SELECT DISTINCT ON (recipient) recipient, chain_id AS "chainId", hash, payments
  FROM unknown_move move, unnest($2::text[]) AS recipient
  WHERE move.released_at IS NULL AND move.accepted_at > now() - interval '${String(REMEMBERED_DAYS)} days'
    AND (move.project_id IS NULL OR move.project_id = $1) AND position(substr(lower(recipient), 3) IN move.payload) > 0
    AND NOT EXISTS (SELECT 1 FROM wallet WHERE wallet.project_id = $1 AND lower(wallet.address) = lower(recipient))
  ORDER BY recipient, accepted_at DESC LIMIT ${String(LISTED_MAX)}`;

/** Payments of one token of a project on a chain. */
export interface AskedPayments {
  readonly projectId: string;
  readonly chainId: number;
  /** Address of the token, or `native`. */
  readonly token: string;
  /** Amounts in whole units, as lost moves have them. */
  readonly payments: readonly { readonly recipient: string; readonly amount: string }[];
}

// Of a move whose payments could not be read, the recipient alone is compared.
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

// The payload of a transaction of the executor begins with its recipient and its data; its logs follow.
const LOST_TRANSACTION = `
  SELECT tx_hash AS hash FROM unknown_move WHERE chain_id = $1 AND wallet_address IS NULL AND starts_with(payload, $2) LIMIT 1`;

const IS_LOST =
  "SELECT 1 FROM unknown_move WHERE chain_id = $1 AND wallet_address IS NULL AND lower(tx_hash) = lower($2) LIMIT 1";

const INSERT_MOVE = `
  INSERT INTO unknown_move (chain_id, hash, tx_hash, block_number, project_id, wallet_address, payments, payload, accepted_at, accepted_by, reason)
  VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, now(), $9, $10) ON CONFLICT (chain_id, hash) DO NOTHING`;

export const createUnknownMoves = (database: Pick<Database, "pool" | "rawTransaction">) => {
  const sql = sqlOn(database.pool);
  return {
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

    /** Whether a lost move that is not released yet has one of these payments. */
    hasPaid: async ({ projectId, chainId, token, payments }: AskedPayments): Promise<boolean> => {
      const [row] = await sql.query<{ hasPaid: boolean }>(HAS_PAID, [
        ...[projectId, chainId, token],
        payments.map(({ recipient }) => recipient),
        payments.map(({ amount }) => amount),
      ]);
      return row?.hasPaid === true;
    },

    /** The hash of an accepted transaction of the executor with exactly this content; null where there is none. */
    lostTransaction: async (chainId: number, { to, data }: SeenCall): Promise<`0x${string}` | null> => {
      const [row] = await sql.query<{ hash: `0x${string}` }>(LOST_TRANSACTION, [
        chainId,
        `${to.slice(2).toLowerCase()} ${data.slice(2).toLowerCase()}`,
      ]);
      return row?.hash ?? null;
    },

    /** Whether the transaction of the executor was accepted as one that the database lost. */
    isLost: async (chainId: number, txHash: string): Promise<boolean> =>
      (await sql.query(IS_LOST, [chainId, txHash])).length === 1,

    /** Finds which recipients (checksummed) were paid by a lost move and are not released yet. The project's own wallets are left out. */
    lostPayments: async (projectId: string, recipients: readonly string[]): Promise<readonly LostPayment[]> => {
      const rows = await sql.query<{ recipient: string; chainId: number; hash: string; payments: unknown }>(LOST, [
        projectId,
        recipients,
      ]);
      return rows.map(({ payments, ...row }) => ({ ...row, text: paymentsText(storedPayments.parse(payments)) }));
    },
  };
};
