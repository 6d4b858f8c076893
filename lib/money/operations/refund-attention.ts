/** Column `refund_attention` of a leg: the evidence about a refund that the chains do not prove. */
import { z } from "zod";
import type { RefundDoubt, RefundPayment } from "@/lib/money/ports/routing";
import { storedBase, storedHex } from "@/lib/platform/db/codecs";

const doubt = z.object({
  chainId: z.int(),
  txHash: storedHex,
  blockNumber: storedBase,
  logIndex: z.int(),
  paidBase: storedBase,
  reason: z.string(),
});

export const storedRefundAttention = z.object({
  /**
   * Payments that may be the refund and that nobody has ruled out. Empty when nothing was paid, or
   * when a person has decided.
   */
  doubts: z.array(doubt),
  /** The keys of payments that a person ruled out. */
  setAside: z.array(z.string()),
  /** The ISO date until which a person chose to wait; null when nobody did. */
  waitUntil: z.string().nullable(),
  /** The payment that a person named as the refund; null when nobody did. */
  decided: z.object({ txHash: storedHex, logIndex: z.int(), by: z.string() }).nullable(),
});

export type RefundAttention = z.output<typeof storedRefundAttention>;

export const NO_ATTENTION: RefundAttention = {
  doubts: [],
  setAside: [],
  waitUntil: null,
  decided: null,
};

export const paymentKey = ({
  chainId,
  txHash,
  logIndex,
}: Pick<RefundPayment, "chainId" | "txHash" | "logIndex">) =>
  `${chainId}:${txHash}:${logIndex}`;

export const openDoubts = (
  attention: RefundAttention | null,
  doubts: readonly RefundDoubt[],
): RefundDoubt[] =>
  doubts.filter((each) => attention?.setAside.includes(paymentKey(each)) !== true);
