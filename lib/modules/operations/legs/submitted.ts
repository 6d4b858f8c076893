import { isDomainError } from "@/lib/core/errors";
import { toDecimal } from "@/lib/db/decimal";
import type { UserOperation } from "@/lib/ports/bundler";
import { storedUserOperation, toStored } from "@/lib/ports/routing-json";
import type { LegChange } from "@/lib/modules/operations/repository";
import { movedNothing, NOTHING_MOVED } from "./moved-nothing";
import { readReceipt } from "./source";
import { fail, move, type MinedSource, type Step, type StepResult } from "./step";
import { followWallet, lookAtUnknown } from "./wallet-transactions";
import { stoppedChange } from "./wallet-receipt";

const SUBMIT_AGAIN_MS = 4000;
/** Blocks may carry clocks that run ahead or behind a little. */
const VALIDITY_MARGIN_SECONDS = 15;

/** Offers the signed operation until it is mined or cannot be any more; looks for what a wallet sends by itself. */
export const submitted = async (step: Step): Promise<StepResult> => {
  const { leg } = step;
  // What only its hash is known of is looked at first, the sale before a bridge too: its receipt is a part of the leg's.
  const looked = leg.via === "transaction" ? await lookAtUnknown(step) : null;
  if (looked?.learned) return "moved";
  const receipt = await readReceipt(step);
  if (receipt !== null) return seen(step, receipt);
  if (leg.via === "transaction") return followWallet(step, looked);
  const expired = await hasExpired(step);
  if (expired) {
    return fail(step, {
      code: "source_expired",
      message:
        "The chain did not take the transaction in time. It can no longer be executed; the money is in the wallet.",
      retryable: true,
    });
  }
  const now = step.clock.now().getTime();
  if (now - (step.submittedAt.get(leg.id) ?? 0) < SUBMIT_AGAIN_MS) return "waits";
  step.submittedAt.set(leg.id, now);
  try {
    await step.accounts.submit(leg.sourceChainId, userOperationOf(step));
  } catch (error) {
    // Refused now is not refused for good: an earlier offer may be on its way. What settles it is a receipt, or the end of its validity.
    if (!isDomainError(error)) throw error;
  }
  return "waits";
};

const userOperationOf = ({ leg }: Step): UserOperation => storedUserOperation.parse(leg.userOperation);

/** Only when its time is over on the chain itself, at depth, and its nonce is unused, it can never be executed. */
const hasExpired = async (step: Step): Promise<boolean> => {
  const { leg, chains, accounts } = step;
  if (leg.validUntil === null) return false;
  const head = await chains.head(leg.sourceChainId);
  const depthSeconds = (chains.confirmations(leg.sourceChainId) * chains.blockTimeMs(leg.sourceChainId)) / 1000;
  const end = leg.validUntil.getTime() / 1000 + depthSeconds + VALIDITY_MARGIN_SECONDS;
  if (Number(head.timestamp) <= end) return false;
  const at = { blockNumber: head.number };
  const { sender } = userOperationOf(step);
  if (await accounts.wasExecuted(leg.sourceChainId, sender, leg.id, at)) return false;
  // The receipt once more: a node that lags behind must not make an executed operation look like one that never was.
  return (await readReceipt(step)) === null;
};

const seen = async (step: Step, receipt: MinedSource): Promise<StepResult> => {
  const { leg, routeLeg, request } = step;
  const mined: LegChange = { sourceTxHash: receipt.txHash, sourceBlock: receipt.blockNumber, sourceConfirmations: 1 };
  const data = { txHash: receipt.txHash, chainId: leg.sourceChainId };
  if (!receipt.success) {
    const failure = {
      code: "source_reverted",
      message:
        "The chain refused the swap: its price fell below the minimum, or a balance was gone. The money is in the wallet.",
      retryable: true,
    };
    return move(
      step,
      "source_seen",
      "leg.source_seen",
      { ...mined, failure, ...stoppedChange(step, receipt) },
      { ...data, reverted: true },
    );
  }
  const outcome = step.routing.readSource(request, routeLeg, { ...receipt, chainId: leg.sourceChainId });
  if (movedNothing(routeLeg, outcome)) {
    const change = { ...mined, failure: toStored(NOTHING_MOVED), spentBase: toDecimal(0n) };
    return move(step, "source_seen", "leg.source_seen", change, { ...data, reverted: false });
  }
  const change: LegChange = {
    ...mined,
    spentBase: toDecimal(outcome.spentBase),
    receivedBase: outcome.receivedBase === null ? null : toDecimal(outcome.receivedBase),
    ...(outcome.deposit === null || outcome.deposit === undefined ? {} : { deposit: toStored(outcome.deposit) }),
  };
  return move(step, leg.kind === "bridge" ? "bridging" : "source_seen", "leg.source_seen", change, data);
};
