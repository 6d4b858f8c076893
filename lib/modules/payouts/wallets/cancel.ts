/** Cancels a payout to wallets, or the parts of it that are not signed yet. */
import { bindDeps } from "@/lib/core/bind-deps";
import { DomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { SigningGate } from "@/lib/modules/signing/service";
import type { WalletsPayout } from "../payout";
import { hasLostPayment } from "./batches/lost-payments";
import type { WalletPayoutsReader } from "./read-repository";
import type { WalletPayoutsRepository } from "./repository";
import { tokenNamed, type WalletPayout } from "./wallet-payout";

export interface CancelDeps {
  readonly repository: Pick<WalletPayoutsRepository, "cancel" | "queuedBatches">;
  readonly rows: Pick<WalletPayoutsReader, "items">;
  /** Answers whether signing is allowed, and whether an operation that the database lost in a restore has made a payment. */
  readonly lostMoves: Pick<SigningGate, "require" | "hasPaid">;
}

interface Cancelling {
  readonly payout: WalletsPayout;
  readonly own: WalletPayout;
}

const paidBefore = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Before the database was restored, another operation made a payment of this payout, so it cannot be cancelled. Nothing was changed; in a moment it is in doubt, and its page asks for a decision.",
  );

/**
 * A part that a restored database has as not signed may have been paid after the backup, so its money must not be freed before the chains
 * were compared, nor where a lost operation made one of its payments.
 */
const requireUnpaid = async ({ repository, rows, lostMoves }: CancelDeps, { payout, own }: Cancelling) => {
  if (payout.subStatus === "awaiting_approval") return;
  await lostMoves.require();
  const { projectId, id: payoutId, itemsTotal } = payout;
  const batches = await repository.queuedBatches(projectId, payoutId);
  const items = await rows.items({ projectId, payoutId, after: -1, limit: itemsTotal });
  for (const { number, token: name } of batches) {
    const place = { projectId, chainId: own.chainId, token: tokenNamed(own.totals, name) };
    const queued = items.filter(({ batch, status }) => batch === number && status === "queued");
    if (await hasLostPayment(lostMoves, place, queued)) throw paidBefore();
  }
};

/**
 * @returns false when no part can be stopped
 * @throws DomainError `signing_off`, `invalid_state` where a part may have been paid before the database was restored
 */
const cancel = async (deps: CancelDeps, cancelling: Cancelling, audit: AuditEntry): Promise<boolean> => {
  await requireUnpaid(deps, cancelling);
  const { projectId, id: payoutId } = cancelling.payout;
  return deps.repository.cancel({ projectId, payoutId }, audit);
};

export const createCancelling = (deps: CancelDeps) => ({ cancel: bindDeps(deps, cancel) });
