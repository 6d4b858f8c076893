import { type Actor, actorName } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { doneBy, type AuditEntry } from "@/lib/news/audit/service";
import type { RefundFound, Routing } from "@/lib/money/ports/routing";
import type { Leg, LegChange } from "./leg";
import { refundChange } from "./legs/source";
import type { Operation } from "./operation";
import { bridgeStep } from "./outcome";
import { NO_ATTENTION, paymentKey } from "./refund-attention";
import { RefundTakenError } from "./errors";
import type { RefundDecisionRepository } from "./step-repository";
import type { LegMove } from "./step-decision";

/**
 * Milliseconds for which the decision to keep waiting is valid. Afterwards a decision is requested
 * again.
 */
const KEEP_WAITING_MS = 24 * 3_600_000;
const READ_TIMEOUT_MS = 20_000;

export interface RefundDecisionDeps {
  readonly decisions: RefundDecisionRepository;
  readonly routing: Pick<Routing, "refundsIn">;
  readonly clock: Clock;
  /** The operation as the actor may see it. @throws DomainError `not_found` */
  getFor(actor: Actor, id: string): Promise<Operation>;
}

export type RefundDecision =
  | { readonly decision: "refunded"; readonly txHash: string }
  | { readonly decision: "not_refunded_keep_waiting" };

interface Asked {
  readonly actor: Actor;
  readonly operation: Operation;
  readonly leg: Leg;
}

const decidedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This part does not wait for a decision any more: somebody else decided, or the chains showed its refund. Nothing was changed; look at the operation again.",
  );

const auditOf = ({ actor, leg }: Asked, decision: RefundDecision, at: Date): AuditEntry => ({
  ...doneBy(actor),
  action: "operation.refund_decided",
  subject: leg.operationId,
  data: { legId: leg.id, ...decision },
  at,
});

/**
 * The payments in the transaction that the person named.
 * @throws DomainError `invalid_request` when none of the payments is large enough
 */
const paymentsIn = async (
  deps: RefundDecisionDeps,
  { operation, leg }: Asked,
  hash: string,
) => {
  const txHash = hash.toLowerCase() as `0x${string}`;
  const { request } = operation;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const found = await deps.routing.refundsIn(
    request,
    leg.routeLeg,
    leg.deposit,
    { txHash },
    signal,
  );
  if (found.length > 0) return found;
  const source = request.sources[leg.routeLeg.sourceIndex];
  const { token, amountBase } =
    source === undefined
      ? { token: request.destination.token, amountBase: leg.amountBase }
      : bridgeStep({ leg, source });
  const owed = `${formatAmount(amountBase, token.decimals)} ${token.symbol}`;
  const message = `This transaction has no transfer of at least ${owed} to ${leg.walletAddress} after the bridge's deadline on chain ${String(leg.sourceChainId)}. Nothing was changed. Check the hash, or keep waiting.`;
  throw invalidRequest([{ path: "txHash", message }]);
};

export const createRefundDecisions = (deps: RefundDecisionDeps) => {
  const { decisions, clock } = deps;

  const moveOf = (
    { actor, leg }: Asked,
    to: LegMove["to"],
    change: LegChange,
    data: object,
    now: Date,
  ): LegMove => ({
    leg,
    to,
    change,
    event: { type: "leg.refund_decided", data: { ...data, by: actorName(actor) } },
    now,
  });

  const keepWaiting = async (asked: Asked, decision: RefundDecision): Promise<void> => {
    const now = clock.now();
    const { doubts, setAside } = asked.leg.refundAttention ?? NO_ATTENTION;
    const refundAttention = {
      ...NO_ATTENTION,
      setAside: [...new Set([...setAside, ...doubts.map(paymentKey)])],
      waitUntil: new Date(now.getTime() + KEEP_WAITING_MS).toISOString(),
    };
    const move = moveOf(
      asked,
      "refunding",
      { refundAttention },
      { decision: decision.decision },
      now,
    );
    if (!(await decisions.store(move, auditOf(asked, decision, now)))) throw decidedMeanwhile();
  };

  const claim = async (
    asked: Asked,
    decision: RefundDecision,
    found: RefundFound,
  ): Promise<void> => {
    const now = clock.now();
    const by = actorName(asked.actor);
    const { txHash, logIndex, chainId } = found;
    const before = asked.leg.refundAttention ?? NO_ATTENTION;
    const change = {
      ...refundChange(found),
      refundAttention: { ...before, decided: { txHash, logIndex, by } },
    };
    const move = moveOf(
      asked,
      "refund_seen",
      change,
      { decision: decision.decision, txHash, chainId },
      now,
    );
    const refund = { payment: found, amountBase: found.refundedBase, decidedBy: by };
    if (!(await decisions.store({ ...move, refund }, auditOf(asked, decision, now))))
      throw decidedMeanwhile();
  };

  /** Claims the first payment in the transaction whose unclaimed part is large enough. */
  const refunded = async (
    asked: Asked,
    decision: RefundDecision & { readonly txHash: string },
  ): Promise<void> => {
    let taken: RefundTakenError | null = null;
    for (const found of await paymentsIn(deps, asked, decision.txHash)) {
      try {
        await claim(asked, decision, found);
        return;
      } catch (error) {
        if (!(error instanceof RefundTakenError)) throw error;
        taken = error;
      }
    }
    if (taken !== null) throw taken;
  };

  /**
   * Records a person's decision about a leg that needs attention. `refunded` is checked against the
   * named transaction, and the leg then follows that payment like any refund.
   * `not_refunded_keep_waiting` rules the known payments out and continues the search.
   * @throws DomainError `forbidden`, `not_found`, `invalid_state` when the leg does not wait for a
   * decision or other legs have claimed the payment, `invalid_request` when the transaction does
   * not pay the refund, `chain_unavailable`
   */
  return async (
    actor: Actor,
    { id: operationId, legId }: { readonly id: string; readonly legId: string },
    decision: RefundDecision,
  ): Promise<Operation> => {
    const operation = await deps.getFor(actor, operationId);
    const leg = operation.legs.find(({ id }) => id === legId);
    if (leg === undefined) throw notFound();
    if (leg.state !== "needs_attention") throw decidedMeanwhile();
    const asked = { actor, operation, leg };
    await (decision.decision === "refunded"
      ? refunded(asked, decision)
      : keepWaiting(asked, decision));
    return deps.getFor(actor, operationId);
  };
};
