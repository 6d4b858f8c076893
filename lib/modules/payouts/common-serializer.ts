import type { Payout } from "./payout";

/** The part of a payout's record that both kinds share. */
export const toCommon = (payout: Payout) => ({
  payoutId: payout.id,
  mode: payout.mode,
  status: payout.status,
  subStatus: payout.subStatus,
  reference: payout.reference,
  failure: payout.failure,
  retryOf: payout.retryOf,
  evaluationId: payout.evaluationId,
  createdBy: payout.createdBy,
  createdAt: payout.createdAt.toISOString(),
  updatedAt: payout.updatedAt.toISOString(),
  expiresAt: payout.expiresAt?.toISOString() ?? null,
});
