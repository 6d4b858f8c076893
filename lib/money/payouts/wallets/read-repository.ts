/**
 * Reads payouts to wallets. The sums and most row states are computed from the batches, so that
 * they are not stored twice.
 */
import { z } from "zod";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import {
  base,
  bool,
  int,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
} from "@/lib/platform/db/table";
import { failureRecord } from "@/lib/contracts/common";
import { WALLET_ROW_STATUSES } from "@/lib/core/payout-facts";
import { storedBase } from "@/lib/platform/db/codecs";
import { REPLACED } from "./batches/failures";
import { parseWalletPayout, type WalletPayout } from "./wallet-payout";

const rowStatus = z.enum(WALLET_ROW_STATUSES);
export type WalletRowStatus = z.output<typeof rowStatus>;

const batchInDoubt = z.object({ batch: z.int(), rows: z.int(), amountBase: storedBase });

/** Sums over the batches of one payout that have equal tokens and states. */
const batchGroups = table({
  payoutId: text,
  token: text,
  status: oneOf(rowStatus),
  batches: int,
  /** The number of rows, without rows that have a separate status. */
  rows: int,
  amountBase: base,
  gasCostWei: base,
  /**
   * Whether a batch of the group can still be cancelled, because it is not signed yet. A group in
   * the state `queued` may contain signed batches too.
   */
  mayStop: bool,
  mayRetry: bool,
  /** Failed batches whose rows another operation of the account may have paid, by number. */
  doubts: json(z.array(batchInDoubt)),
});

export type BatchGroup = RowOf<typeof batchGroups>;

const walletItems = table({
  index: int,
  recipient: text,
  token: text,
  amountBase: base,
  reference: nullable(text),
  note: nullable(text),
  status: oneOf(rowStatus),
  batch: int,
  txHash: nullable(text),
  /** The number of the block in decimal digits. */
  blockNumber: nullable(text),
  confirmations: int,
  failure: nullable(json(failureRecord)),
});

export type WalletItemRow = RowOf<typeof walletItems>;

// SQL: the status of the rows of batch `b`. When a batch that is not mined is `in_doubt`, the chain
// may or may not have accepted its operation, so the status is `unknown`.
const BATCH_STATUS = raw(`
  CASE
    WHEN b.state IN ('queued', 'signed', 'sent') AND b.in_doubt THEN 'unknown'
    WHEN b.state IN ('queued', 'signed') THEN 'queued'
    WHEN b.state = 'mined' THEN 'confirmed'
    WHEN b.state IN ('sent', 'paid', 'failed', 'cancelled') THEN b.state
    ELSE 'unknown'
  END`);
const ROW_STATUS = sql`
  CASE
    WHEN i.status IS NULL THEN ${BATCH_STATUS}
    WHEN i.status IN ('failed', 'cancelled') THEN i.status
    ELSE 'unknown'
  END`;

export const createWalletPayoutsReader = (database: Database) => {
  const db = sqlOn(database.pool);
  return {
    walletPayouts: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, WalletPayout>> => {
      if (ids.length === 0) return new Map();
      const rows = await database.prisma.walletPayout.findMany({
        where: { projectId, payoutId: { in: [...ids] } },
      });
      return new Map(rows.map((row) => [row.payoutId, parseWalletPayout(row)]));
    },

    groups: async (
      projectId: string,
      ids: readonly string[],
    ): Promise<readonly BatchGroup[]> => {
      if (ids.length === 0) return [];
      return batchGroups.all(
        db,
        sql`
          SELECT ${batchGroups.columns("g")}
          FROM (
            SELECT b.payout_id, b.token, ${BATCH_STATUS} AS status,
              count(*)::int AS batches,
              sum(b.rows)::int AS rows,
              sum(b.amount_base) AS amount_base,
              sum(b.gas_cost_wei) AS gas_cost_wei,
              bool_or(b.state = 'queued') AS may_stop,
              bool_or(
                b.state = 'failed' AND coalesce((b.failure->>'retryable')::boolean, true)
              ) AS may_retry,
              coalesce(
                jsonb_agg(
                  jsonb_build_object(
                    'batch', b.number, 'rows', b.rows, 'amountBase', b.amount_base::text
                  ) ORDER BY b.number
                ) FILTER (WHERE b.state = 'failed' AND b.failure->>'code' = ${REPLACED.code}),
                '[]'
              ) AS doubts
            FROM wallet_payout_batch b
            WHERE b.project_id = ${projectId} AND b.payout_id = ANY(${ids}::text[])
            GROUP BY 1, 2, 3
          ) AS g`,
      );
    },

    items: async (query: {
      projectId: string;
      payoutId: string;
      /** Index of the last row of the previous page; -1 for the first page. */
      after: number;
      limit: number;
      status?: WalletRowStatus | undefined;
    }): Promise<WalletItemRow[]> => {
      const { projectId, payoutId, after, limit, status } = query;
      const inState = status === undefined ? sql`` : sql`AND ${ROW_STATUS} = ${status}::text`;
      return walletItems.all(
        db,
        sql`
          SELECT ${walletItems.columns("shown")}
          FROM (
            SELECT i.index, i.recipient, i.token, i.amount_base, i.reference, i.note, i.batch,
              ${ROW_STATUS} AS status,
              b.confirmations,
              coalesce(i.failure, b.failure) AS failure,
              CASE WHEN i.status IS NULL THEN b.tx_hash END AS tx_hash,
              CASE WHEN i.status IS NULL THEN b.block_number::text END AS block_number
            FROM wallet_payout_item i
            JOIN wallet_payout_batch b
              ON b.project_id = i.project_id
              AND b.payout_id = i.payout_id
              AND b.number = i.batch
            WHERE i.project_id = ${projectId}
              AND i.payout_id = ${payoutId}
              AND i.index > ${after}::int
              ${inState}
          ) AS shown
          ORDER BY shown.index
          LIMIT ${limit}::int`,
      );
    },
  };
};

export type WalletPayoutsReader = ReturnType<typeof createWalletPayoutsReader>;
