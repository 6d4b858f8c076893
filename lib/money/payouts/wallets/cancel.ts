/**
 * Decides whether a payout to wallets may be cancelled after the database was restored from a
 * backup.
 */
import { DomainError } from "@/lib/core/errors";
import type { PayoutsContext } from "../context";
import type { WalletsPayoutParts } from "../payout-view";
import { hasLostPayment } from "./batches/lost-payments";
import { tokenNamed } from "./wallet-payout";

const paidBefore = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Before the database was restored, another operation made a payment of this payout, so it cannot be cancelled. Nothing was changed; in a moment it is in doubt, and its page asks for a decision.",
  );

/**
 * Refuses to cancel a payout of which a part may have been paid. After a restore, a batch may be
 * unsigned in the database although it was signed and paid after the backup. The money of a batch
 * must not be released before the chains were compared with the database, or when an operation that
 * the database lost has made one of the batch's payments.
 * @throws DomainError `signing_off`; `invalid_state` when a part may have been paid
 */
export const requireUnpaid = async (
  { walletsRepository, rows, lostMoves }: PayoutsContext,
  { payout, own }: Pick<WalletsPayoutParts, "payout" | "own">,
): Promise<void> => {
  if (payout.subStatus === "awaiting_approval") return;
  await lostMoves.require();
  const { projectId, id: payoutId, itemsTotal } = payout;
  const batches = await walletsRepository.queuedBatches(projectId, payoutId);
  const items = await rows.items({ projectId, payoutId, after: -1, limit: itemsTotal });
  for (const { number, token: name } of batches) {
    const place = { projectId, chainId: own.chainId, token: tokenNamed(own.totals, name) };
    const queued = items.filter(({ batch, status }) => batch === number && status === "queued");
    if (await hasLostPayment(lostMoves, place, queued)) throw paidBefore();
  }
};
