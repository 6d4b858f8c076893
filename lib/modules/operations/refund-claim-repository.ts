/** Which payment on chain is the refund of which leg. A payment is shared out at most once. */
import type { Sql } from "@/lib/db/sql";
import type { RefundPayment } from "@/lib/ports/routing";
import { paymentKey } from "./refund-attention";
import { RefundTakenError } from "./errors";

/** The part of a payment that is the refund of one leg's deposit, in base units of the bridged token. */
export interface RefundClaim {
  readonly payment: RefundPayment;
  readonly amountBase: bigint;
  /** The person who named the payment, as `actorName` returns it; null where the chains show it for certain. */
  readonly decidedBy: string | null;
}

export interface LegClaim extends RefundClaim {
  readonly legId: string;
  readonly now: Date;
}

const RELEASE = `
  WITH gone AS (DELETE FROM refund_claim WHERE leg_id = ANY($1::text[]) RETURNING chain_id, tx_hash, log_index, amount_base),
  sums AS (SELECT chain_id, tx_hash, log_index, sum(amount_base) AS amount FROM gone GROUP BY chain_id, tx_hash, log_index)
  UPDATE refund_payment p SET claimed_base = p.claimed_base - s.amount FROM sums s
  WHERE p.chain_id = s.chain_id AND p.tx_hash = s.tx_hash AND p.log_index = s.log_index`;

const TAKE = `
  INSERT INTO refund_payment AS p (chain_id, tx_hash, log_index, paid_base, claimed_base)
  SELECT $1::int, $2, $3::int, $4::numeric, $5::numeric WHERE $5::numeric <= $4::numeric
  ON CONFLICT (chain_id, tx_hash, log_index) DO UPDATE SET claimed_base = p.claimed_base + excluded.claimed_base
  WHERE p.claimed_base + excluded.claimed_base <= p.paid_base`;

const RECORD = `
  INSERT INTO refund_claim (leg_id, chain_id, tx_hash, log_index, amount_base, decided_by, created_at)
  VALUES ($1, $2::int, $3, $4::int, $5::numeric, $6, $7::timestamptz)`;

/** Gives up what these legs claimed, in the transaction that moves them. */
export const releaseRefunds = async (sql: Sql, legIds: readonly string[]): Promise<void> => {
  if (legIds.length > 0) await sql.change(RELEASE, [legIds]);
};

/**
 * Claims parts of payments for legs, in the transaction that moves them. Earlier claims of a leg are given up.
 * @throws RefundTakenError when other legs have claimed so much of a payment that the rest is too little
 */
export const claimRefunds = async (sql: Sql, claims: readonly LegClaim[]): Promise<void> => {
  await releaseRefunds(
    sql,
    claims.map(({ legId }) => legId),
  );
  // In one order everywhere, so that two transactions do not wait for each other.
  const ordered = claims.toSorted((a, b) => (paymentKey(a.payment) < paymentKey(b.payment) ? -1 : 1));
  for (const { payment, amountBase, legId, decidedBy, now } of ordered) {
    const { chainId, txHash, logIndex, paidBase } = payment;
    const place = [chainId, txHash, logIndex];
    const taken = await sql.change(TAKE, [...place, paidBase.toString(), amountBase.toString()]);
    if (taken === 0) throw new RefundTakenError();
    await sql.change(RECORD, [legId, ...place, amountBase.toString(), decidedBy, now]);
  }
};
