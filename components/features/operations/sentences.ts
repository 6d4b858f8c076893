import { depositSentence } from "@/components/features/deposits/words";
import { amountText } from "@/lib/core/amount-text";
import { isFinal } from "@/lib/core/status";
import type { ChainNameOf, Leg, Operation } from "./operation";
import { sumByAsset } from "./operation-sums";

interface Depth {
  readonly confirmations: number;
  readonly confirmationsNeeded: number;
}

export const depthText = ({ confirmations, confirmationsNeeded }: Depth): string =>
  `${confirmations} of ${confirmationsNeeded} confirmation${confirmationsNeeded === 1 ? "" : "s"}`;

/** Whether a failed leg may have moved money. */
const isUnclear = (leg: Leg): boolean =>
  leg.state === "failed" && leg.failure?.retryable === false;

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
      return leg.destination === null
        ? `Delivered on ${to}`
        : `Delivered on ${to}, ${depthText(leg.destination)}`;
    case "refunding":
      return `Not delivered in time; the bridge sends it back to ${from}`;
    case "needs_attention":
      return `Not delivered in time; whether it is back on ${from} needs a person's decision`;
    case "refund_seen":
      return leg.refund === null
        ? `Back on ${from}`
        : `Back on ${from}, ${depthText(leg.refund)}`;
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

/**
 * The states of open legs, from least to most advanced. The order serves to find the slowest leg,
 * which the sentence of an operation describes.
 */
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

export const statusSentence = (operation: Operation, chainName: ChainNameOf): string => {
  const { legs, status, subStatus, quoted, deposit, outcome } = operation;
  const awaitsPerson = subStatus === "awaiting_approval" || subStatus === "awaiting_signature";
  if (deposit != null) return depositSentence(deposit);
  if (isFinal(status) || awaitsPerson) return outcome.sentence;
  const to = quoted.to.chainId;
  const open = legs.filter(isOpen);
  const [slowest] = [...open].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  if (status === "pending" || slowest === undefined)
    return "Accepted; it is carried on by itself.";
  const sentence = legSentence(slowest, to, chainName);
  const late = subStatus === "delayed" ? " It takes longer than usual." : "";
  if (legs.length === 1) return `${sentence}.${late}`;
  const arrived = legs.filter((leg) => leg.state === "completed").length;
  return `${arrived} of ${legs.length} parts arrived. Slowest: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}.${late}`;
};

interface TitleWords {
  readonly addressName: (address: string) => string;
  /** Whether amounts are hidden; the title then contains only the symbols of the tokens. */
  readonly hidden: boolean;
  /** BCP 47. */
  readonly locale: string;
}

const isNothing = (amount: string): boolean => !/[1-9]/.test(amount);

/**
 * The received amount of a final operation. Before that, or when nothing was received, it is the
 * expected amount.
 */
const shownOut = ({ status, quoted, actual }: Operation): string =>
  isFinal(status) && !isNothing(actual.received.amount)
    ? actual.received.amount
    : quoted.to.amount;

/**
 * `200.00 USDC → 0.0666302 WETH` when the token changes, `1,250.00 DAI → Ada` when it does not. The
 * title of a deposit has the received amount, because a deposit may have no sources.
 */
export const operationTitle = (
  operation: Operation,
  { addressName, hidden, locale }: TitleWords,
): string => {
  const { quoted, deposit } = operation;
  const written = (amount: string, symbol: string): string =>
    hidden ? symbol : `${amountText(amount, { symbol, locale }).text} ${symbol}`;
  if (deposit !== null) {
    const { amount, token } = deposit.received;
    return `${written(amount, token.symbol)} → ${addressName(deposit.walletAddress)}`;
  }
  const sums = sumByAsset(quoted.from);
  const sent = sums.map(({ amount, symbol }) => written(amount, symbol)).join(" + ");
  const { token } = quoted.to;
  const changes = sums.some(({ assetId }) => assetId !== token.assetId);
  return `${sent} → ${changes ? written(shownOut(operation), token.symbol) : addressName(quoted.to.address)}`;
};
