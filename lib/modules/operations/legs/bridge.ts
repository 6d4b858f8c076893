import type { BridgeProgress, RefundFound } from "@/lib/ports/routing";
import type { LegChange } from "@/lib/modules/operations/leg";
import { followSource, reorganised } from "./source";
import { confirmationsOf, move, touch, type Step, type StepResult } from "./step";

type Filled = Extract<BridgeProgress, { state: "filled" }>;

export const trackBridge = (step: Step): Promise<BridgeProgress> =>
  step.routing.track(step.request, step.routeLeg, step.leg.deposit, step.signal);

/** Like `trackBridge`, for a deposit that was seen in this state: it is in another one when the chain's providers agree. */
export const trackSeen = async (step: Step, expects: "filled" | "refunded"): Promise<BridgeProgress> => {
  const progress = await trackBridge(step);
  if (progress.state === expects) return progress;
  return step.routing.track(step.request, step.routeLeg, step.leg.deposit, step.signal, { expects });
};

export const toFilled = (step: Step, progress: Filled): Promise<StepResult> =>
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
 * Follows a destination transaction: `final` at the chain's depth, `open` before, `moved` when another instance moved
 * the leg.
 */
export const followDestination = async (
  step: Step,
  progress: Filled | RefundFound,
  side: "dest" | "refund",
): Promise<"final" | "open" | "moved"> => {
  const { leg } = step;
  const needed = step.chains.confirmations(progress.chainId);
  const counted = await confirmationsOf(step, progress.chainId, progress.blockNumber);
  const [block, hash] = side === "dest" ? [leg.destBlock, leg.destTxHash] : [leg.refundBlock, leg.refundTxHash];
  const isSame = block === progress.blockNumber && hash === progress.txHash;
  // An older head of another node takes no confirmation away.
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
    const gone: LegChange = { destTxHash: null, destBlock: null, destConfirmations: 0, receivedBase: null };
    return move(step, "bridging", "leg.reorganised", gone, { side: "destination" });
  }
  const destination = await followDestination(step, progress, "dest");
  if (destination === "moved") return "moved";
  if (destination === "open" || source === "open") return "waits";
  return move(step, "completed", "leg.completed", { receivedBase: progress.receivedBase }, { txHash: progress.txHash });
};
