import type { LegChange } from "@/lib/money/operations/leg";
import type { UserOperationReceipt } from "@/lib/chain/ports/bundler";
import {
  confirmationsOf,
  feeChange,
  type MinedSource,
  move,
  movedNothing,
  readWalletReceipt,
  type Step,
  type StepResult,
  touch,
} from "./step";
import type { BridgeProgress, RefundDoubt, RefundFound } from "@/lib/money/ports/routing";
import {
  NO_ATTENTION,
  openDoubts,
  paymentKey,
  type RefundAttention,
} from "@/lib/money/operations/refund-attention";
import { RefundTakenError } from "../errors";
import type { RefundClaim } from "@/lib/money/operations/leg-write-repository";

const userOpHashOf = ({ leg }: Step): `0x${string}` => {
  if (leg.userOpHash === null) throw new Error(`Leg ${leg.id} has no user operation.`);
  return leg.userOpHash;
};

const toMined = ({
  actualGasCost,
  paymaster,
  ...mined
}: UserOperationReceipt): MinedSource => ({
  ...mined,
  fee: { costWei: actualGasCost, paidBy: paymaster === null ? "wallet" : "sponsor" },
});

type Expectation = (source: MinedSource) => boolean;

type ReceiptTest = ((receipt: UserOperationReceipt) => boolean) | undefined;

/**
 * Finds the receipt of the user operation that was executed. The chain executes at most one of the
 * operations with these hashes.
 */
const receiptOfAny = async (
  { smartAccounts, leg }: Step,
  hashes: readonly `0x${string}`[],
  check: ReceiptTest,
): Promise<UserOperationReceipt | null> => {
  for (const hash of hashes) {
    const receipt = await smartAccounts.receipt(leg.sourceChainId, hash, leg.fromBlock, check);
    if (receipt !== null) return receipt;
  }
  return null;
};

const readOperationReceipt = async (
  step: Step,
  isExpected?: Expectation,
): Promise<MinedSource | null> => {
  const check =
    isExpected && ((receipt: UserOperationReceipt): boolean => isExpected(toMined(receipt)));
  const receipt = await receiptOfAny(
    step,
    [userOpHashOf(step), ...step.leg.earlierUserOpHashes],
    check,
  );
  return receipt === null ? null : toMined(receipt);
};

/** Reads the transaction of the leg's source; null until it is mined. */
export const readReceipt = (step: Step): Promise<MinedSource | null> =>
  step.leg.via === "transaction" ? readWalletReceipt(step) : readOperationReceipt(step);

const GONE: LegChange = {
  sourceTxHash: null,
  sourceBlock: null,
  sourceConfirmations: 0,
  gasCostWei: null,
  gasPaidBy: null,
  spentBase: null,
  receivedBase: null,
  destTxHash: null,
  destBlock: null,
  destConfirmations: 0,
  refundTxHash: null,
  refundBlock: null,
  refundedBase: null,
  refundToken: null,
  refundAttention: null,
  deposit: null,
  depositedBase: null,
  failure: null,
};

/**
 * Like `readReceipt`, but does not rely on a single node, which may lag. Null, or a receipt that
 * is not as expected, is returned only when the chain's providers agree on it.
 */
export const readAgreedReceipt = (
  step: Step,
  isExpected: Expectation,
): Promise<MinedSource | null> =>
  step.leg.via === "transaction"
    ? readWalletReceipt(step, "agreed")
    : readOperationReceipt(step, isExpected);

/**
 * The receipt of the source transaction, if it equals the stored facts. Null when the providers
 * agree that the transaction is gone or has changed.
 */
const sameReceipt = async (step: Step): Promise<MinedSource | null> => {
  const isSame = (receipt: MinedSource): boolean => saysTheSame(step, receipt);
  const receipt = await readReceipt(step);
  if (receipt !== null && isSame(receipt)) return receipt;
  const agreed = await readAgreedReceipt(step, isSame);
  return agreed !== null && isSame(agreed) ? agreed : null;
};

/**
 * Whether the receipt matches the stored facts. After a reorganisation a transaction may have other
 * effects in another block.
 */
const saysTheSame = (
  { leg, request, routeLeg, routing }: Step,
  receipt: MinedSource,
): boolean => {
  if (receipt.txHash !== leg.sourceTxHash || receipt.blockNumber !== leg.sourceBlock)
    return false;
  if (!receipt.success) return leg.failure !== null;
  const outcome = routing.readSource(request, routeLeg, {
    ...receipt,
    chainId: leg.sourceChainId,
  });
  if (movedNothing(routeLeg, outcome)) return leg.failure !== null;
  if (leg.failure !== null) return false;
  const sameDeposit =
    JSON.stringify(inOrder(outcome.deposit ?? null)) === JSON.stringify(inOrder(leg.deposit));
  // The source receipt of a bridge leg does not contain the received amount.
  const sameReceived =
    outcome.receivedBase === null || outcome.receivedBase === leg.receivedBase;
  return outcome.spentBase === leg.spentBase && sameReceived && sameDeposit;
};

/** Sorts the keys of a value before it is compared, because Postgres does not keep their order. */
const inOrder = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
};

interface LookedAt {
  readonly isFinal: boolean;
  /** Facts that are not stored in the leg yet; null when there are none. */
  readonly news: (Required<Pick<LegChange, "sourceConfirmations">> & LegChange) | null;
}

/** Reads the confirmations of the source. Null when a reorganisation removed the source. */
const lookAtSource = async (step: Step): Promise<LookedAt | null> => {
  const { leg } = step;
  const needed = step.chains.confirmations(leg.sourceChainId);
  if (leg.sourceConfirmations >= needed) return { isFinal: true, news: null };
  const receipt = await sameReceipt(step);
  if (receipt === null) return null;
  const counted = await confirmationsOf(step, leg.sourceChainId, receipt.blockNumber);
  // The number of confirmations must not decrease when another node answers with an older head.
  const sourceConfirmations = Math.max(counted, leg.sourceConfirmations);
  if (sourceConfirmations === leg.sourceConfirmations) return { isFinal: false, news: null };
  // A reorganisation can change the network fee, so the fee of the latest receipt is stored.
  return {
    isFinal: sourceConfirmations >= needed,
    news: { sourceConfirmations, ...feeChange(receipt.fee) },
  };
};

/**
 * Counts the source's confirmations. `gone`: a reorganisation removed the transaction. `moved`:
 * another instance moved the leg.
 */
const followSource = async (step: Step): Promise<"final" | "open" | "gone" | "moved"> => {
  const looked = await lookAtSource(step);
  if (looked === null) return "gone";
  const { isFinal, news } = looked;
  if (news !== null) {
    if (!(await touch(step, news))) return "moved";
    step.leg.sourceConfirmations = news.sourceConfirmations;
  }
  return isFinal ? "final" : "open";
};

const reorganised = (step: Step): Promise<StepResult> => {
  step.submittedAt.delete(step.leg.id);
  return move(step, "submitted", "leg.reorganised", GONE, { side: "source" });
};

export const sourceSeen = async (step: Step): Promise<StepResult> => {
  const looked = await lookAtSource(step);
  if (looked === null) return reorganised(step);
  const { isFinal, news } = looked;
  if (!isFinal) return news === null || (await touch(step, news)) ? "waits" : "moved";
  // The last count of confirmations is stored together with the move.
  if (step.leg.failure !== null) return move(step, "failed", "leg.failed", news ?? {});
  return move(step, "completed", "leg.completed", news ?? {}, {
    txHash: step.leg.sourceTxHash,
  });
};

type Filled = Extract<BridgeProgress, { state: "filled" }>;

const trackBridge = (step: Step): Promise<BridgeProgress> =>
  step.routing.track(step.request, step.routeLeg, step.leg.deposit, step.signal);

/**
 * Like `trackBridge`, for a deposit that was seen as filled or refunded. Another state is returned
 * only when the chain's providers agree on it.
 */
const trackSeen = async (
  step: Step,
  expects: "filled" | "refunded",
): Promise<BridgeProgress> => {
  const progress = await trackBridge(step);
  if (progress.state === expects) return progress;
  return step.routing.track(step.request, step.routeLeg, step.leg.deposit, step.signal, {
    expects,
  });
};

const toFilled = (step: Step, progress: Filled): Promise<StepResult> =>
  move(
    step,
    "filled_seen",
    "leg.filled_seen",
    {
      destTxHash: progress.txHash,
      destBlock: progress.blockNumber,
      destConfirmations: 1,
      receivedBase: progress.receivedBase,
      refundAttention: null,
    },
    { txHash: progress.txHash, chainId: progress.chainId },
  );

export const bridging = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackBridge(step);
  switch (progress.state) {
    case "filled":
      return toFilled(step, progress);
    case "expired":
    case "refunded":
      return move(step, "refunding", "leg.refunding");
    case "waiting":
      return "waits";
  }
};

/**
 * Counts a destination transaction's confirmations: `final` when there are enough, `moved` when
 * another instance moved the leg.
 */
const followDestination = async (
  step: Step,
  progress: Filled | RefundFound,
  side: "dest" | "refund",
): Promise<"final" | "open" | "moved"> => {
  const { leg } = step;
  const needed = step.chains.confirmations(progress.chainId);
  const counted = await confirmationsOf(step, progress.chainId, progress.blockNumber);
  const [block, hash] =
    side === "dest" ? [leg.destBlock, leg.destTxHash] : [leg.refundBlock, leg.refundTxHash];
  const isSame = block === progress.blockNumber && hash === progress.txHash;
  // The number of confirmations must not decrease when another node answers with an older head.
  const confirmations = isSame ? Math.max(counted, leg.destConfirmations) : counted;
  if (confirmations !== leg.destConfirmations || !isSame) {
    const place =
      side === "dest"
        ? { destTxHash: progress.txHash, destBlock: progress.blockNumber }
        : { refundTxHash: progress.txHash, refundBlock: progress.blockNumber };
    if (!(await touch(step, { ...place, destConfirmations: confirmations }))) return "moved";
  }
  return confirmations >= needed ? "final" : "open";
};

export const filledSeen = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackSeen(step, "filled");
  if (progress.state !== "filled") {
    const gone: LegChange = {
      destTxHash: null,
      destBlock: null,
      destConfirmations: 0,
      receivedBase: null,
    };
    return move(step, "bridging", "leg.reorganised", gone, { side: "destination" });
  }
  const destination = await followDestination(step, progress, "dest");
  if (destination === "moved") return "moved";
  if (destination === "open" || source === "open") return "waits";
  return move(
    step,
    "completed",
    "leg.completed",
    { receivedBase: progress.receivedBase },
    { txHash: progress.txHash },
  );
};

// Steps of a bridge leg after its deposit expired, until the refund is final or a person has to
// decide.

/**
 * Milliseconds after the deadline at which a missing refund needs a person's decision. Bridges
 * normally refund within a few hours.
 */
const OVERDUE_MS = 24 * 3_600_000;

const NOT_FILLED = {
  code: "not_filled",
  message:
    "No relayer delivered at least the minimum in time, so the money was sent back to the wallet.",
  retryable: true,
};

const TAKEN = "Refunds of other deposits of this wallet already account for this payment.";

const claimOf = (found: RefundFound, decidedBy: string | null): RefundClaim => ({
  payment: found,
  amountBase: found.refundedBase,
  decidedBy,
});

export const refundChange = (found: RefundFound): LegChange => ({
  refundTxHash: found.txHash,
  refundBlock: found.blockNumber,
  destConfirmations: 1,
  refundedBase: found.refundedBase,
  refundToken: found.token,
});

const NO_REFUND: LegChange = {
  refundTxHash: null,
  refundBlock: null,
  destConfirmations: 0,
  refundedBase: null,
};

const toRefundSeen = async (step: Step, found: RefundFound): Promise<StepResult> => {
  const change = { ...refundChange(found), refundAttention: null };
  const data = { txHash: found.txHash, chainId: found.chainId };
  try {
    return await move(step, "refund_seen", "leg.refund_seen", change, data, {
      refund: claimOf(found, null),
    });
  } catch (error) {
    if (error instanceof RefundTakenError)
      return noteDoubts(step, [{ ...found, reason: TAKEN }]);
    throw error;
  }
};

const isOverdue = ({ leg, clock }: Step): boolean => {
  const deadline = (leg.fillDeadline ?? leg.updatedAt).getTime() + OVERDUE_MS;
  const chosen = leg.refundAttention?.waitUntil ?? null;
  return (
    clock.now().getTime() > Math.max(deadline, chosen === null ? 0 : new Date(chosen).getTime())
  );
};

const sameDoubts = (a: readonly RefundDoubt[], b: readonly RefundDoubt[]): boolean =>
  JSON.stringify(a.map((each) => [paymentKey(each), each.reason])) ===
  JSON.stringify(b.map((each) => [paymentKey(each), each.reason]));

/** Requests a person's decision when a payment may be the refund, or when the refund is overdue. */
const noteDoubts = async (step: Step, found: readonly RefundDoubt[]): Promise<StepResult> => {
  const before = step.leg.refundAttention ?? NO_ATTENTION;
  const doubts = openDoubts(before, found).map(
    ({ chainId, txHash, blockNumber, logIndex, paidBase, reason }) => {
      return { chainId, txHash, blockNumber, logIndex, paidBase, reason };
    },
  );
  const refundAttention: RefundAttention = { ...before, doubts, decided: null };
  if (step.leg.state === "needs_attention") {
    if (sameDoubts(before.doubts, doubts)) return "waits";
    return (await touch(step, { refundAttention })) ? "waits" : "moved";
  }
  if (doubts.length === 0 && !isOverdue(step)) return "waits";
  const data = { reason: doubts.length === 0 ? "overdue" : "unclear_payment" };
  return move(step, "needs_attention", "leg.needs_attention", { refundAttention }, data);
};

/**
 * Looks for the refund. A leg that needs attention continues without a person when the chains later
 * prove its refund.
 */
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

/**
 * Reads the state of a refund that a person named. `filled` when the deposit was filled and so is
 * not refunded; `expired` when the chain no longer has the named payment.
 */
const trackDecided = async (
  step: Step,
  decided: NonNullable<RefundAttention["decided"]>,
): Promise<BridgeProgress> => {
  const { routing, request, routeLeg, leg, signal } = step;
  const progress = await trackBridge(step);
  if (progress.state === "filled") return progress;
  const named = { txHash: decided.txHash, agreed: true };
  const found = await routing.refundsIn(request, routeLeg, leg.deposit, named, signal);
  // A reorganisation can change the transfer's log index, so a sole payment in the transaction is
  // also accepted.
  const only = found.length === 1 ? found[0] : undefined;
  const same = found.find(({ logIndex }) => logIndex === decided.logIndex) ?? only;
  return same === undefined ? { state: "expired" } : { state: "refunded", ...same };
};

const notRefundedAnyMore = (step: Step): Promise<StepResult> => {
  const { refundAttention } = step.leg;
  const data = { side: "refund" };
  if (refundAttention?.decided == null)
    return move(step, "refunding", "leg.reorganised", NO_REFUND, data);
  const change = { ...NO_REFUND, refundAttention: { ...refundAttention, decided: null } };
  return move(step, "needs_attention", "leg.reorganised", change, data);
};

export const refundSeen = async (step: Step): Promise<StepResult> => {
  const decided = step.leg.refundAttention?.decided ?? null;
  const progress =
    decided === null ? await trackSeen(step, "refunded") : await trackDecided(step, decided);
  if (progress.state === "filled") return toFilled(step, progress);
  if (progress.state !== "refunded") return notRefundedAnyMore(step);
  const followed = await followDestination(step, progress, "refund");
  if (followed !== "final") return followed === "moved" ? "moved" : "waits";
  try {
    // The refund is claimed again, because the claim names the log index, which a reorganisation
    // can change.
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
