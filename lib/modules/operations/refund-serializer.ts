import type { z } from "zod";
import { shownChain, type ChainFacts } from "@/lib/chains/shown-chain";
import type { legRecord } from "@/lib/contracts/operation-records";
import { amountRecord } from "./amount-serializer";
import { bridgeStep, type LegView } from "./outcome";
import { NO_ATTENTION } from "./refund-attention";

const UNCLEAR =
  "The bridge paid the wallet, but the chains do not show for certain that this refund is in it. Compare the payments with what the bridge owes, then decide.";
const OVERDUE =
  "The bridge has not refunded this within a day after its deadline, as far as the chains show. Look in the wallet's history for a payment, or ask the bridge with the deposit's transaction, then decide.";

/** The facts by which a person decides about a refund; null for a leg that needs no attention. */
export const toRefundAttention = (view: LegView, chains: ChainFacts): z.output<typeof legRecord>["attention"] => {
  const { leg } = view;
  if (leg.state !== "needs_attention") return null;
  const { doubts, setAside } = leg.refundAttention ?? NO_ATTENTION;
  const { token, amountBase } = bridgeStep(view);
  const { explorerUrl } = shownChain(chains, leg.sourceChainId);
  return {
    reason: doubts.length === 0 ? "overdue" : "unclear_payment",
    message: doubts.length === 0 ? OVERDUE : UNCLEAR,
    expected: amountRecord(token, amountBase),
    depositTxHash: leg.sourceTxHash,
    payments: doubts.map(({ chainId, txHash, paidBase, reason }) => ({
      chainId,
      txHash,
      explorerUrl: explorerUrl === undefined ? null : `${explorerUrl}/tx/${txHash}`,
      paid: amountRecord(token, paidBase),
      reason,
    })),
    setAside: setAside.length,
  };
};
