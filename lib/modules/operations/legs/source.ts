import type { LegChange } from "@/lib/modules/operations/leg";
import type { UserOperationReceipt } from "@/lib/ports/bundler";
import { movedNothing } from "./moved-nothing";
import { confirmationsOf, move, touch, type MinedSource, type Step, type StepResult } from "./step";
import { feeChange, readWalletReceipt } from "./wallet-receipt";

const userOpHashOf = ({ leg }: Step): `0x${string}` => {
  if (leg.userOpHash === null) throw new Error(`Leg ${leg.id} has no user operation.`);
  return leg.userOpHash;
};

const toMined = ({ actualGasCost, paymaster, ...mined }: UserOperationReceipt): MinedSource => ({
  ...mined,
  fee: { costWei: actualGasCost, paidBy: paymaster === null ? "wallet" : "sponsor" },
});

type Expectation = (source: MinedSource) => boolean;

type ReceiptTest = ((receipt: UserOperationReceipt) => boolean) | undefined;

/** The receipt of whichever of these user operations was executed; at most one of them can be. */
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

const readOperationReceipt = async (step: Step, isExpected?: Expectation): Promise<MinedSource | null> => {
  const check = isExpected && ((receipt: UserOperationReceipt): boolean => isExpected(toMined(receipt)));
  const receipt = await receiptOfAny(step, [userOpHashOf(step), ...step.leg.earlierUserOpHashes], check);
  return receipt === null ? null : toMined(receipt);
};

/** Reads the leg's source from the chain; null until it is mined. */
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
  failure: null,
};

/**
 * Like `readReceipt`, for a decision that must not rest on one node that lags behind: another answer than an expected one is given only
 * when the chain's providers agree on it.
 */
export const readAgreedReceipt = (step: Step, isExpected: Expectation): Promise<MinedSource | null> =>
  step.leg.via === "transaction" ? readWalletReceipt(step, "agreed") : readOperationReceipt(step, isExpected);

/** The receipt of the source that was seen; null when the providers agree that it is gone or says something else. */
const sameReceipt = async (step: Step): Promise<MinedSource | null> => {
  const isSame = (receipt: MinedSource): boolean => saysTheSame(step, receipt);
  const receipt = await readReceipt(step);
  if (receipt !== null && isSame(receipt)) return receipt;
  const agreed = await readAgreedReceipt(step, isSame);
  return agreed !== null && isSame(agreed) ? agreed : null;
};

/** Whether the receipt still matches the stored one. The same transaction may act differently in another block. */
const saysTheSame = ({ leg, request, routeLeg, routing }: Step, receipt: MinedSource): boolean => {
  if (receipt.txHash !== leg.sourceTxHash || receipt.blockNumber !== leg.sourceBlock) return false;
  if (!receipt.success) return leg.failure !== null;
  const outcome = routing.readSource(request, routeLeg, { ...receipt, chainId: leg.sourceChainId });
  if (movedNothing(routeLeg, outcome)) return leg.failure !== null;
  if (leg.failure !== null) return false;
  const sameDeposit = JSON.stringify(inOrder(outcome.deposit ?? null)) === JSON.stringify(inOrder(leg.deposit));
  // The source of a bridge leg does not show the received amount.
  const sameReceived = outcome.receivedBase === null || outcome.receivedBase === leg.receivedBase;
  return outcome.spentBase === leg.spentBase && sameReceived && sameDeposit;
};

/** Postgres does not keep the order of JSON keys. */
const inOrder = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
};

/** The source as the chain shows it now. */
interface LookedAt {
  readonly isFinal: boolean;
  /** Facts that the leg does not hold yet; null where nothing is new. */
  readonly news: (Required<Pick<LegChange, "sourceConfirmations">> & LegChange) | null;
}

/** Null when the source is gone after a reorganisation. */
const lookAtSource = async (step: Step): Promise<LookedAt | null> => {
  const { leg } = step;
  const needed = step.chains.confirmations(leg.sourceChainId);
  if (leg.sourceConfirmations >= needed) return { isFinal: true, news: null };
  const receipt = await sameReceipt(step);
  if (receipt === null) return null;
  const counted = await confirmationsOf(step, leg.sourceChainId, receipt.blockNumber);
  // An older head of another node takes no confirmation away.
  const sourceConfirmations = Math.max(counted, leg.sourceConfirmations);
  if (sourceConfirmations === leg.sourceConfirmations) return { isFinal: false, news: null };
  // The network fee can differ after a reorganisation, so the fee of the last receipt is stored.
  return { isFinal: sourceConfirmations >= needed, news: { sourceConfirmations, ...feeChange(receipt.fee) } };
};

/**
 * Follows the source until it has the chain's number of confirmations: `final`, `open`, `gone` after a reorganisation,
 * or `moved` when another instance moved the leg.
 */
export const followSource = async (step: Step): Promise<"final" | "open" | "gone" | "moved"> => {
  const looked = await lookAtSource(step);
  if (looked === null) return "gone";
  const { isFinal, news } = looked;
  if (news !== null) {
    if (!(await touch(step, news))) return "moved";
    step.leg.sourceConfirmations = news.sourceConfirmations;
  }
  return isFinal ? "final" : "open";
};

export const reorganised = (step: Step): Promise<StepResult> => {
  step.submittedAt.delete(step.leg.id);
  return move(step, "submitted", "leg.reorganised", GONE, { side: "source" });
};

export const sourceSeen = async (step: Step): Promise<StepResult> => {
  const looked = await lookAtSource(step);
  if (looked === null) return reorganised(step);
  const { isFinal, news } = looked;
  if (!isFinal) return news === null || (await touch(step, news)) ? "waits" : "moved";
  // The last count is stored with the move.
  if (step.leg.failure !== null) return move(step, "failed", "leg.failed", news ?? {});
  return move(step, "completed", "leg.completed", news ?? {}, { txHash: step.leg.sourceTxHash });
};
