/** The steps of a bridge leg whose deposit expired: until the refund is final, or a person has to decide. */
import type { BridgeProgress, RefundDoubt, RefundFound } from "@/lib/ports/routing";
import type { LegChange } from "@/lib/modules/operations/leg";
import { NO_ATTENTION, openDoubts, paymentKey, type RefundAttention } from "@/lib/modules/operations/refund-attention";
import { RefundTakenError } from "../errors";
import type { RefundClaim } from "@/lib/modules/operations/refund-claim-repository";
import { followDestination, toFilled, trackBridge, trackSeen } from "./bridge";
import { followSource, reorganised } from "./source";
import { move, touch, type Step, type StepResult } from "./step";

/** How long after the deadline a refund may take before a person is asked. Bridges refund within a few hours. */
const OVERDUE_MS = 24 * 3_600_000;

const NOT_FILLED = {
  code: "not_filled",
  message: "No relayer delivered at least the minimum in time, so the money was sent back to the wallet.",
  retryable: true,
};

const TAKEN = "Refunds of other deposits of this wallet already account for this payment.";

const claimOf = (found: RefundFound, decidedBy: string | null): RefundClaim => ({
  payment: found,
  amountBase: found.refundedBase,
  decidedBy,
});

/** The columns that a leg gets when the refund of its deposit is seen on the chain. */
export const refundChange = (found: RefundFound): LegChange => ({
  refundTxHash: found.txHash,
  refundBlock: found.blockNumber,
  destConfirmations: 1,
  refundedBase: found.refundedBase,
  refundToken: found.token,
});

const NO_REFUND: LegChange = { refundTxHash: null, refundBlock: null, destConfirmations: 0, refundedBase: null };

const toRefundSeen = async (step: Step, found: RefundFound): Promise<StepResult> => {
  const change = { ...refundChange(found), refundAttention: null };
  const data = { txHash: found.txHash, chainId: found.chainId };
  try {
    return await move(step, "refund_seen", "leg.refund_seen", change, data, { refund: claimOf(found, null) });
  } catch (error) {
    if (error instanceof RefundTakenError) return noteDoubts(step, [{ ...found, reason: TAKEN }]);
    throw error;
  }
};

const isOverdue = ({ leg, clock }: Step): boolean => {
  const deadline = (leg.fillDeadline ?? leg.updatedAt).getTime() + OVERDUE_MS;
  const chosen = leg.refundAttention?.waitUntil ?? null;
  return clock.now().getTime() > Math.max(deadline, chosen === null ? 0 : new Date(chosen).getTime());
};

const sameDoubts = (a: readonly RefundDoubt[], b: readonly RefundDoubt[]): boolean =>
  JSON.stringify(a.map((each) => [paymentKey(each), each.reason])) ===
  JSON.stringify(b.map((each) => [paymentKey(each), each.reason]));

/** Asks a person when a payment may be the refund, or when none came for too long. */
const noteDoubts = async (step: Step, found: readonly RefundDoubt[]): Promise<StepResult> => {
  const before = step.leg.refundAttention ?? NO_ATTENTION;
  const doubts = openDoubts(before, found).map(({ chainId, txHash, blockNumber, logIndex, paidBase, reason }) => {
    return { chainId, txHash, blockNumber, logIndex, paidBase, reason };
  });
  const refundAttention: RefundAttention = { ...before, doubts, decided: null };
  if (step.leg.state === "needs_attention") {
    if (sameDoubts(before.doubts, doubts)) return "waits";
    return (await touch(step, { refundAttention })) ? "waits" : "moved";
  }
  if (doubts.length === 0 && !isOverdue(step)) return "waits";
  const data = { reason: doubts.length === 0 ? "overdue" : "unclear_payment" };
  return move(step, "needs_attention", "leg.needs_attention", { refundAttention }, data);
};

/** Looks for the refund. A leg that needs attention goes on by itself when the chains show its refund for certain after all. */
export const refunding = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackBridge(step);
  switch (progress.state) {
    case "filled":
      return toFilled(step, progress);
    case "refunded":
      return toRefundSeen(step, progress);
    case "expired":
      return noteDoubts(step, progress.doubts ?? []);
    case "waiting":
      return "waits";
  }
};

/** The payment that a person named, while the chain has it. A deposit that was filled after all is not refunded. */
const trackDecided = async (step: Step, decided: NonNullable<RefundAttention["decided"]>): Promise<BridgeProgress> => {
  const { routing, request, routeLeg, leg, signal } = step;
  const progress = await trackBridge(step);
  if (progress.state === "filled") return progress;
  const named = { txHash: decided.txHash, agreed: true };
  const found = await routing.refundsIn(request, routeLeg, leg.deposit, named, signal);
  // A reorganisation may give the same transfer another place in its block.
  const only = found.length === 1 ? found[0] : undefined;
  const same = found.find(({ logIndex }) => logIndex === decided.logIndex) ?? only;
  return same === undefined ? { state: "expired" } : { state: "refunded", ...same };
};

const notRefundedAnyMore = (step: Step): Promise<StepResult> => {
  const { refundAttention } = step.leg;
  const data = { side: "refund" };
  if (refundAttention?.decided == null) return move(step, "refunding", "leg.reorganised", NO_REFUND, data);
  const change = { ...NO_REFUND, refundAttention: { ...refundAttention, decided: null } };
  return move(step, "needs_attention", "leg.reorganised", change, data);
};

export const refundSeen = async (step: Step): Promise<StepResult> => {
  const decided = step.leg.refundAttention?.decided ?? null;
  const progress = decided === null ? await trackSeen(step, "refunded") : await trackDecided(step, decided);
  if (progress.state === "filled") return toFilled(step, progress);
  if (progress.state !== "refunded") return notRefundedAnyMore(step);
  const followed = await followDestination(step, progress, "refund");
  if (followed !== "final") return followed === "moved" ? "moved" : "waits";
  try {
    // Claimed again: a reorganisation may have given the transfer another place, and earlier versions claimed nothing.
    const refund = claimOf(progress, decided?.by ?? null);
    return await move(
      step,
      "refunded",
      "leg.refunded",
      { failure: NOT_FILLED },
      { txHash: progress.txHash },
      { refund },
    );
  } catch (error) {
    if (error instanceof RefundTakenError) return notRefundedAnyMore(step);
    throw error;
  }
};
