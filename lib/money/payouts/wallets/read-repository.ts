/**
 * Reads payouts to wallets. The sums and most states of rows are computed from the batches, so that
 * they are not stored a second time.
 */
import { z } from "zod";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import type { WALLET_ROW_STATUSES } from "@/lib/contracts/payout-records";
import { storedBase } from "@/lib/platform/db/codecs";
import type { PayoutFailure } from "../payout";
import { readFailure, readWalletPayout, type NoteUnread } from "../readable";
import { REPLACED } from "./batches/failures";
import { parseWalletPayout, type WalletPayout } from "./wallet-payout";

export type WalletRowStatus = (typeof WALLET_ROW_STATUSES)[number];

/** A failed batch whose rows another operation of the account may have paid. */
export interface BatchInDoubt {
  readonly batch: number;
  readonly rows: number;
  readonly amountBase: bigint;
}

/** Sums over the batches of one payout that have the same token and state. */
export interface BatchGroup {
  readonly payoutId: string;
  readonly token: string;
  readonly status: WalletRowStatus;
  readonly batches: number;
  /** The number of rows, without rows that have their own status. */
  readonly rows: number;
  readonly amountBase: bigint;
  readonly gasCostWei: bigint;
  /**
   * Whether a batch of the group can still be cancelled, because it is not signed yet. A group in
   * the state `queued` may contain signed batches too.
   */
  readonly mayStop: boolean;
  /** Whether a retry may pay failed rows of the group again. */
  readonly mayRetry: boolean;
  /** The failed batches of the group whose rows another operation may have paid, by number. */
  readonly doubts: readonly BatchInDoubt[];
}

export interface WalletItemRow {
  readonly index: number;
  readonly recipient: string;
  readonly token: string;
  readonly amountBase: bigint;
  readonly reference: string | null;
  readonly note: string | null;
  readonly status: WalletRowStatus;
  readonly batch: number;
  readonly txHash: string | null;
  readonly blockNumber: string | null;
  readonly confirmations: number;
  readonly failure: PayoutFailure | null;
}

// `in_doubt` means that the operation was submitted and it is not known whether the chain accepted
// it. A state that a later version stored is also shown as unknown.
const BATCH_STATUS = `
  CASE WHEN b.state IN ('queued', 'signed', 'sent') AND b.in_doubt THEN 'unknown'
    WHEN b.state IN ('queued', 'signed') THEN 'queued' WHEN b.state = 'mined' THEN 'confirmed'
    WHEN b.state IN ('sent', 'paid', 'failed', 'cancelled') THEN b.state ELSE 'unknown' END`;
const ROW_STATUS = `
  CASE WHEN i.status IS NULL THEN ${BATCH_STATUS} WHEN i.status IN ('failed', 'cancelled') THEN i.status ELSE 'unknown' END`;

const GROUPS = `
  SELECT b.payout_id AS "payoutId", b.token, ${BATCH_STATUS} AS status, count(*)::int AS batches, sum(b.rows)::int AS rows,
    sum(b.amount_base)::text AS amount, sum(b.gas_cost_wei)::text AS gas, bool_or(b.state = 'queued') AS "mayStop",
    bool_or(b.state = 'failed' AND coalesce((b.failure->>'retryable')::boolean, true)) AS "mayRetry",
    coalesce(jsonb_agg(jsonb_build_object('batch', b.number, 'rows', b.rows, 'amountBase', b.amount_base::text) ORDER BY b.number)
      FILTER (WHERE b.state = 'failed' AND b.failure->>'code' = $3), '[]') AS doubts
  FROM wallet_payout_batch b WHERE b.project_id = $1 AND b.payout_id = ANY($2::text[])
  GROUP BY 1, 2, 3`;

const ITEMS = `
  SELECT i.index, i.recipient, i.token, i.amount_base::text AS amount, i.reference, i.note, i.batch,
    ${ROW_STATUS} AS status, b.confirmations, coalesce(i.failure, b.failure) AS failure,
    CASE WHEN i.status IS NULL THEN b.tx_hash END AS "txHash",
    CASE WHEN i.status IS NULL THEN b.block_number::text END AS "blockNumber"
  FROM wallet_payout_item i
  JOIN wallet_payout_batch b ON b.project_id = i.project_id AND b.payout_id = i.payout_id AND b.number = i.batch
  WHERE i.project_id = $1 AND i.payout_id = $2 AND i.index > $3::int
    AND ($5::text IS NULL OR ${ROW_STATUS} = $5::text)
  ORDER BY i.index LIMIT $4::int`;

type GroupRow = Omit<BatchGroup, "amountBase" | "gasCostWei" | "doubts"> & {
  readonly amount: string;
  readonly gas: string;
  /** JSON of a list of `BatchInDoubt`. */
  readonly doubts: unknown;
};
type ItemRow = Omit<WalletItemRow, "amountBase" | "failure"> & {
  readonly amount: string;
  readonly failure: unknown;
};

const storedDoubts = z.array(z.object({ batch: z.int(), rows: z.int(), amountBase: storedBase }));

export const createWalletPayoutsReader = (database: Database, note: NoteUnread) => {
  const sql = sqlOn(database.pool);
  return {
    /**
     * Reads rows of the table `wallet_payout`, by payout id. Throws ZodError for a row of another
     * version that cannot be read.
     */
    own: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, WalletPayout>> => {
      if (ids.length === 0) return new Map();
      const rows = await database.prisma.walletPayout.findMany({
        where: { projectId, payoutId: { in: [...ids] } },
      });
      return new Map(rows.map((row) => [row.payoutId, parseWalletPayout(row)]));
    },

    /**
     * Reads rows of the table `wallet_payout` for display, by payout id, as far as this version can
     * read them. Null when too little of a row can be read to show the payout.
     */
    shown: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, WalletPayout | null>> => {
      if (ids.length === 0) return new Map();
      const rows = await database.prisma.walletPayout.findMany({
        where: { projectId, payoutId: { in: [...ids] } },
      });
      return new Map(rows.map((row) => [row.payoutId, readWalletPayout(row, note)]));
    },

    groups: async (projectId: string, ids: readonly string[]): Promise<readonly BatchGroup[]> => {
      if (ids.length === 0) return [];
      const rows = await sql.query<GroupRow>(GROUPS, [projectId, ids, REPLACED.code]);
      return rows.map(({ amount, gas, doubts, ...group }) => ({
        ...group,
        doubts: storedDoubts.parse(doubts),
        amountBase: BigInt(amount),
        gasCostWei: BigInt(gas),
      }));
    },

    /** Reads a page of a payout's rows, in the order of their indexes. */
    items: async (query: {
      projectId: string;
      payoutId: string;
      /** Index of the last row of the previous page; -1 for the first page. */
      after: number;
      limit: number;
      status?: WalletRowStatus | undefined;
    }): Promise<WalletItemRow[]> => {
      const { projectId, payoutId, after, limit, status } = query;
      const rows = await sql.query<ItemRow>(ITEMS, [
        projectId,
        payoutId,
        after,
        limit,
        status ?? null,
      ]);
      return rows.map(({ amount, failure, ...row }) => ({
        ...row,
        amountBase: BigInt(amount),
        failure: readFailure(failure),
      }));
    },
  };
};

export type WalletPayoutsReader = ReturnType<typeof createWalletPayoutsReader>;
