import { failureRecord } from "@/lib/contracts/common";
import type { PayoutRow } from "./repository";

/** The part of a payout's record that both kinds share. */
export const toCommon = (payout: PayoutRow) => ({
  payoutId: payout.id,
  mode: payout.mode,
  status: payout.status,
  subStatus: payout.subStatus,
  reference: payout.reference,
  failure: payout.failure === null ? null : failureRecord.parse(payout.failure),
  retryOf: payout.retryOf,
  createdBy: payout.createdBy,
  createdAt: payout.createdAt.toISOString(),
  updatedAt: payout.updatedAt.toISOString(),
  expiresAt: payout.expiresAt?.toISOString() ?? null,
});
