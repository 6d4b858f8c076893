/**
 * Starts or ends a payout after people of the project have voted on it. The caller may repeat a
 * call after an error: each function checks that the payout still awaits approval.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/news/audit/service";
import {
  failureAfter,
  type Decided,
  type DecisionSubject,
  type EndedAwaiting,
} from "@/lib/trust/decisions/service";
import { approvedDigest } from "./approval-text";
import type { PayoutsContext } from "./context";
import { requireFunds, startApproved } from "./intake";
import type { PayoutFailure } from "./payout";
import type { PayoutView } from "./payout-view";
import { mayOf } from "./permissions";
import type { createPayoutReading } from "./read-payouts";

interface DecidedDeps extends PayoutsContext {
  readonly reading: Pick<ReturnType<typeof createPayoutReading>, "get">;
}

const entryOf = (
  { projectId, id, request, decidedBy }: Decided,
  action: string,
  at: Date,
): AuditEntry => ({
  projectId,
  actor: decidedBy?.userId ?? "service",
  action,
  subject: id,
  data: { means: "votes", decisionId: request.id },
  request: null,
  at,
});

/**
 * Ends a payout that awaits approval, with the status `as`. No money has to be released, because
 * such a payout has not held or paid any.
 */
const end = async (
  deps: DecidedDeps,
  decided: Decided,
  { as, failure }: { readonly as: EndedAwaiting; readonly failure: PayoutFailure | null },
): Promise<void> => {
  const at = deps.clock.now();
  await deps.repository.endAwaiting(
    decided,
    { status: as, failure },
    entryOf(decided, `payout.${as}`, at),
  );
};

const begin = async (deps: DecidedDeps, decided: Decided, view: PayoutView): Promise<void> => {
  const { request, decidedBy } = decided;
  if (decidedBy === null || !Buffer.from(approvedDigest(view)).equals(request.digest))
    throw new DomainError(
      "invalid_state",
      "What would be paid is not what was approved. Nothing was paid.",
    );
  const audit = entryOf(decided, "payout.approved", deps.clock.now());
  await startApproved(deps, decidedBy, view, { decisionId: request.id, audit });
};

/**
 * Starts a payout that was approved. Ends it as failed when it cannot be paid.
 * @throws DomainError when the cause is temporary, such as an outage; the job then tries again
 */
const approved = async (deps: DecidedDeps, decided: Decided): Promise<void> => {
  const view = await deps.reading.get(decided.projectId, decided.id).catch(unlessGone);
  if (view === null) return;
  if (!mayOf(view).approve) return;
  try {
    await begin(deps, decided, view);
  } catch (error) {
    if (!isDomainError(error)) throw error;
    const failure = failureAfter(error, {
      expiresAt: view.payout.expiresAt,
      now: deps.clock.now(),
    });
    if (failure === null) throw error;
    await end(deps, decided, { as: "failed", failure });
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

/**
 * Checks before a vote to approve that the payout still awaits approval, and that a payout to
 * wallets can be paid now.
 */
const check = async (
  deps: DecidedDeps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> => {
  const view = await deps.reading.get(projectId, id).catch(unlessGone);
  if (view === null) return;
  if (!mayOf(view).approve)
    throw new DomainError(
      "invalid_state",
      "This payout does not await approval any more. Your vote was not counted.",
    );
  if (view.kind === "wallets") await requireFunds(deps, view);
};

export const createPayoutSubject = (deps: DecidedDeps): DecisionSubject => ({
  check: bindDeps(deps, check),
  onDecided: bindDeps(deps, onDecided),
});
