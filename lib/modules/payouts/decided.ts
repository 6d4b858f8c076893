/** Carries on a payout that people of the project have decided by vote, or ends it. Each function may be called again. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { failureAfter, type Decided, type DecisionSubject } from "@/lib/modules/decisions/service";
import type { createAccountPayoutsService } from "./accounts/service";
import { mayOf, requireReadable } from "./permissions";
import type { PayoutFailure } from "./payout";
import type { createPayoutReading, PayoutView } from "./read-payouts";
import type { PayoutsRepository } from "./repository";
import type { createWalletPayoutsService } from "./wallets/service";

interface DecidedDeps {
  readonly accounts: Pick<ReturnType<typeof createAccountPayoutsService>, "approve">;
  readonly wallets: Pick<ReturnType<typeof createWalletPayoutsService>, "approve" | "requireFunds" | "codeDigest">;
  readonly reading: Pick<ReturnType<typeof createPayoutReading>, "get">;
  readonly repository: Pick<PayoutsRepository, "endAwaiting">;
  readonly clock: Clock;
}

const digestOf = (deps: DecidedDeps, view: PayoutView): Uint8Array =>
  view.kind === "wallets" ? deps.wallets.codeDigest(view) : view.payout.digest;

const entryOf = ({ projectId, id, request, decidedBy }: Decided, action: string, at: Date): AuditEntry => ({
  projectId,
  actor: decidedBy?.userId ?? "service",
  action,
  subject: id,
  data: { means: "votes", decisionId: request.id },
  request: null,
  at,
});

/** Ends a payout that has held and paid nothing. */
const end = async (
  deps: DecidedDeps,
  decided: Decided,
  { as, failure }: { readonly as: "cancelled" | "expired"; readonly failure: PayoutFailure | null },
): Promise<void> => {
  const at = deps.clock.now();
  await deps.repository.endAwaiting(decided, { status: as, failure }, entryOf(decided, `payout.${as}`, at));
};

const begin = async (deps: DecidedDeps, decided: Decided, view: PayoutView): Promise<void> => {
  const { request, decidedBy } = decided;
  if (decidedBy === null || !Buffer.from(digestOf(deps, view)).equals(request.digest))
    throw new DomainError("invalid_state", "What would be paid is not what was approved. Nothing was paid.");
  const audit = entryOf(decided, "payout.approved", deps.clock.now());
  const by = { decisionId: request.id, audit };
  if (view.kind === "wallets") await deps.wallets.approve(decidedBy, view, by);
  else await deps.accounts.approve(decidedBy, view.payout, by);
};

/** @throws DomainError an outage, after which the job tries again */
const approved = async (deps: DecidedDeps, decided: Decided): Promise<void> => {
  const view = await deps.reading.get(decided.projectId, decided.id).catch(unlessGone);
  if (view === null) return;
  // The version that can read it carries it on.
  requireReadable(view);
  if (!mayOf(view).approve) return;
  try {
    await begin(deps, decided, view);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const failure = failureAfter(error, { expiresAt: view.payout.expiresAt, now: deps.clock.now() });
    if (failure === null) throw error;
    await end(deps, decided, { as: "expired", failure });
  }
};

const unlessGone = (error: unknown): null => {
  if (isDomainError(error) && error.code === "not_found") return null;
  throw error;
};

const onDecided = async (deps: DecidedDeps, decided: Decided): Promise<void> => {
  switch (decided.outcome) {
    case "approved":
      return approved(deps, decided);
    case "declined":
      return end(deps, decided, { as: "cancelled", failure: null });
    case "expired":
      return end(deps, decided, { as: "expired", failure: null });
  }
};

/** Before a vote to approve: that the payout still waits, and that the treasury has the money. */
const check = async (deps: DecidedDeps, { projectId, id }: { projectId: string; id: string }): Promise<void> => {
  const view = await deps.reading.get(projectId, id).catch(unlessGone);
  if (view === null) return;
  requireReadable(view);
  if (!mayOf(view).approve)
    throw new DomainError("invalid_state", "This payout does not await approval any more. Your vote was not counted.");
  if (view.kind === "wallets") await deps.wallets.requireFunds(view);
};

export const createPayoutSubject = (deps: DecidedDeps): DecisionSubject => ({
  check: bindDeps(deps, check),
  onDecided: bindDeps(deps, onDecided),
});
