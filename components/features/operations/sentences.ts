import { depositSentence } from "@/components/features/deposits/words";
import { isFinal } from "@/lib/core/status";
import type { ChainNameOf, Leg, Operation } from "./types";

interface Depth {
  readonly confirmations: number;
  readonly confirmationsNeeded: number;
}

/** `1 of 2 confirmations`. */
export const depthText = ({ confirmations, confirmationsNeeded }: Depth): string =>
  `${confirmations} of ${confirmationsNeeded} confirmation${confirmationsNeeded === 1 ? "" : "s"}`;

/** Failed, and the money may have moved all the same. */
const isUnclear = (leg: Leg): boolean => leg.state === "failed" && leg.failure?.retryable === false;

/** Describes the present state of one leg, without promises. */
export const legSentence = (leg: Leg, toChainId: number, chainName: ChainNameOf): string => {
  const from = chainName(leg.chainId);
  const to = chainName(toChainId);
  switch (leg.state) {
    case "queued":
      return leg.via === "permit"
        ? `The treasury is about to use the permit on ${from}`
        : `Waiting to be sent on ${from}`;
    case "submitted":
      return leg.via === "transaction"
        ? `Waiting for the wallet's own transaction to be in a block on ${from}`
        : `Sent to ${from}, not in a block yet`;
    case "source_seen":
      return leg.failure === null
        ? `In a block on ${from}, ${depthText(leg)}`
        : `Refused by ${from}, ${depthText(leg)} of that`;
    case "bridging":
      return `On the way from ${from} to ${to}, ${depthText(leg)} on ${from}`;
    case "filled_seen":
      return leg.destination === null ? `Delivered on ${to}` : `Delivered on ${to}, ${depthText(leg.destination)}`;
    case "refunding":
      return `Not delivered in time; the bridge sends it back to ${from}`;
    case "needs_attention":
      return `Not delivered in time; whether it is back on ${from} needs a person's decision`;
    case "refund_seen":
      return leg.refund === null ? `Back on ${from}` : `Back on ${from}, ${depthText(leg.refund)}`;
    case "completed":
      return `Arrived on ${to}`;
    case "failed":
      return isUnclear(leg)
        ? `Failed; whether the money left the wallet on ${from} is not certain`
        : `Failed; the money is in the wallet on ${from}`;
    case "refunded":
      return `Sent back to the wallet on ${from}`;
  }
};

/** From least to most advanced; an operation is as far as its slowest leg. */
const ORDER: readonly Leg["state"][] = [
  "needs_attention",
  "refunding",
  "refund_seen",
  "queued",
  "submitted",
  "source_seen",
  "bridging",
  "filled_seen",
];

const isOpen = (leg: Leg): boolean => !isFinal(leg.status);

const FINAL_SENTENCES: Partial<Record<Operation["status"], string>> = {
  partially_completed: "A part arrived",
  failed: "Nothing arrived; the money is in the source wallets",
  refunded: "Nothing arrived; the money is back",
  expired: "Not executed in time; nothing was sent",
  cancelled: "Cancelled; nothing was sent",
};

/** The state of the whole operation in one sentence, with a full stop. */
export const statusSentence = (operation: Operation, chainName: ChainNameOf): string => {
  const { legs, status, subStatus, quoted, deposit } = operation;
  if (deposit != null) return depositSentence(deposit);
  const to = quoted.to.chainId;
  if (isFinal(status)) {
    if (legs.some(isUnclear)) return "Not all of it arrived, and where the rest is is not certain.";
    if (status !== "completed") return `${FINAL_SENTENCES[status] ?? "Ended"}.`;
    return subStatus === "partial" ? "A part arrived." : `Arrived on ${chainName(to)}.`;
  }
  if (status === "pending" && subStatus === "awaiting_approval") return "Waiting for approval; nothing was sent.";
  if (status === "pending" && subStatus === "awaiting_signature") return "Waiting for a signature; nothing was sent.";
  const open = legs.filter(isOpen);
  const [slowest] = [...open].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  if (status === "pending" || slowest === undefined) return "Accepted; it is carried on by itself.";
  const sentence = legSentence(slowest, to, chainName);
  const late = subStatus === "delayed" ? " It takes longer than usual." : "";
  if (legs.length === 1) return `${sentence}.${late}`;
  const arrived = legs.filter((leg) => leg.state === "completed").length;
  return `${arrived} of ${legs.length} parts arrived. Slowest: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}.${late}`;
};
