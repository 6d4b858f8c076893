import type { SqlReader } from "@/lib/db/sql";
import { QUARANTINE } from "./sum-repository";

/** A chain, and the block of the balances that were read of it. */
export interface BalancesAt {
  readonly chainId: number;
  readonly blockNumber: bigint;
}

/** Money that a balance still includes and that accepted operations and payouts take from it. */
export interface MovingFunds {
  readonly owner: string;
  readonly chainId: number;
  /** Lower-case token address, or `native`. */
  readonly token: string;
  /** Held for what was not sent yet, in base units. */
  readonly reservedBase: bigint;
  /** Sent, and not yet mined in the block of the balance. */
  readonly pendingOutBase: bigint;
  /** Of deposits that wait for a person. */
  readonly quarantinedBase: bigint;
}

// By address, not by project: a wallet that two projects linked has one balance, and reserving counts the holds of both.
const MOVING = `
  WITH own AS (SELECT address FROM wallet WHERE project_id = $1 AND unlinked_at IS NULL),
  read AS (SELECT * FROM unnest($2::int[], $3::numeric[]) AS chain (chain_id, block)),
  held AS (
    SELECT h.* FROM own JOIN balance_hold h ON h.wallet_address = own.address AND h.released_at IS NULL
    UNION ALL
    SELECT h.* FROM own JOIN balance_hold h ON h.wallet_address = own.address AND h.released_at > $4::timestamptz)
  SELECT owner, chain_id, token, coalesce(sum(amount) FILTER (WHERE NOT sent AND NOT quarantined), 0)::text AS reserved,
    coalesce(sum(amount) FILTER (WHERE sent), 0)::text AS pending_out,
    coalesce(sum(amount) FILTER (WHERE quarantined), 0)::text AS quarantined
  FROM (
    SELECT h.wallet_address AS owner, h.chain_id, h.token, h.amount_base AS amount,
      h.operation_id = '${QUARANTINE}' AS quarantined,
      h.released_at IS NOT NULL OR coalesce(l.state, b.state, 'queued') <> 'queued' AS sent
    FROM held h
    JOIN read ON read.chain_id = h.chain_id
    LEFT JOIN operation_leg l ON l.id = h.id
    LEFT JOIN wallet_payout_batch b ON b.project_id = h.project_id AND b.payout_id = h.operation_id
      AND b.number = nullif(split_part(h.id, '/', 2), '')::int
    WHERE h.released_at IS NULL OR coalesce(l.source_block::numeric, b.block_number) > read.block) AS moving
  GROUP BY owner, chain_id, token`;

/** A hold that was released longer ago than this was spent in a block that every balance includes which is still shown. */
const RELEASED_WITHIN_MS = 60 * 60 * 1000;

/** The funds on their way out of the balances of a project's wallets that were read at these blocks. */
export const movingFunds = async (
  sql: SqlReader,
  { projectId, at, now }: { projectId: string; at: readonly BalancesAt[]; now: Date },
): Promise<MovingFunds[]> => {
  const rows = await sql.query<{
    owner: string;
    chain_id: number;
    token: string;
    reserved: string;
    pending_out: string;
    quarantined: string;
  }>(MOVING, [
    projectId,
    at.map(({ chainId }) => chainId),
    at.map(({ blockNumber }) => blockNumber.toString()),
    new Date(now.getTime() - RELEASED_WITHIN_MS),
  ]);
  return rows.map(({ owner, chain_id, token, reserved, pending_out, quarantined }) => ({
    owner,
    chainId: chain_id,
    token,
    reservedBase: BigInt(reserved),
    pendingOutBase: BigInt(pending_out),
    quarantinedBase: BigInt(quarantined),
  }));
};
