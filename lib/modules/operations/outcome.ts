import { DEPOSIT_KIND } from "./deposit-kind";
import { shownChain, type ChainFacts } from "@/lib/chains/shown-chain";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/ports/routing";
import { isFinal } from "@/lib/core/status";
import { gasWaitSentence, type GasWait } from "./gas-wait";
import type { Leg } from "./leg";
import type { Operation } from "./operation";
import { isRetryable } from "./permissions";

/** A leg with its request. */
export interface LegView {
  readonly leg: Leg;
  readonly source: RouteRequest["sources"][number];
  readonly destination: RouteRequest["destination"];
}

/** Where one part of the money is. */
export interface Holding {
  /** 0x address, or the bridge's identifier of a deposit. */
  readonly wallet: string;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
  readonly note: string;
}

/** Whether a leg failed although its money may have moved. The record must not suggest to send it again then. */
const isUnclear = ({ leg }: LegView): boolean => leg.state === "failed" && !isRetryable(leg.failure);

const UNCLEAR =
  "in the source wallet as far as the chain shows, but not for certain: look at the wallet's history first";

/** The token in which the bridge carries a leg, and pays it back. */
export const bridgeStep = ({ leg, source }: LegView): { venue: string; token: Token; amountBase: bigint } => {
  const step = leg.routeLeg.steps.find((each) => each.kind === "bridge");
  return step
    ? { venue: step.venue, token: step.from, amountBase: step.amountInBase }
    : { venue: "Bridge", token: source.token, amountBase: source.amountBase };
};

const deposited = (view: LegView, note: string): Holding => {
  const { venue, ...amount } = bridgeStep(view);
  return { wallet: `${venue} deposit`, ...amount, txHash: view.leg.sourceTxHash, note };
};

/** The wallet's own transaction moves the money; until it is mined the wallet may still cancel it. */
const underWay = (leg: Leg): Pick<Holding, "txHash" | "note"> => {
  if (leg.via !== "transaction") return { txHash: null, note: "in the source wallet, about to be sent" };
  return {
    txHash: leg.walletTransactions?.transactions.at(-1)?.hash ?? null,
    note: "in the source wallet, until the transaction that it sent is mined",
  };
};

/**
 * A wallet's own transactions are not atomic: when the first was mined and the last was not, the wallet holds the token
 * that the first one bought instead of the token that it sold.
 */
const stopped = ({ leg, source }: LegView): Holding[] | null => {
  if (leg.refundedBase === null || leg.refundTxHash !== null || leg.refundToken === null) return null;
  const place = { wallet: source.owner, txHash: null };
  const left = leg.amountBase - (leg.spentBase ?? 0n);
  const bought = {
    ...place,
    token: leg.refundToken,
    amountBase: leg.refundedBase,
    note: "bought by the wallet's first transaction, and still in the source wallet",
  };
  return left > 0n
    ? [bought, { ...place, token: source.token, amountBase: left, note: "in the source wallet; not spent" }]
    : [bought];
};

const main = (view: LegView): Holding => {
  const { leg, source, destination } = view;
  const amountBase = leg.amountBase;
  const own = { wallet: source.owner, token: source.token, amountBase };
  switch (leg.state) {
    case "queued":
    case "submitted":
      return { ...own, ...underWay(leg) };
    case "failed":
      return { ...own, txHash: leg.sourceTxHash, note: "in the source wallet; nothing was taken" };
    case "source_seen":
      return leg.failure === null
        ? {
            wallet: destination.recipient,
            token: destination.token,
            amountBase: leg.receivedBase ?? 0n,
            txHash: leg.sourceTxHash,
            note: "received, waiting for confirmations",
          }
        : { ...own, txHash: leg.sourceTxHash, note: "in the source wallet; the chain refused the transaction" };
    case "bridging":
      return deposited(view, "with the bridge, waiting for a relayer");
    case "refunding":
      return deposited(view, "with the bridge, on its way back");
    case "needs_attention":
      return deposited(
        view,
        "with the bridge, or back in the source wallet already: the chains do not show it for certain",
      );
    case "filled_seen":
    case "completed": {
      const hash = leg.destTxHash ?? leg.sourceTxHash;
      const note = leg.state === "completed" ? "received" : "received, waiting for confirmations";
      return {
        wallet: destination.recipient,
        token: destination.token,
        amountBase: leg.receivedBase ?? 0n,
        txHash: hash,
        note,
      };
    }
    case "refund_seen":
    case "refunded": {
      const { token: bridgedToken, amountBase: bridged } = bridgeStep(view);
      const token = leg.refundToken ?? bridgedToken;
      const back = leg.refundedBase ?? bridged;
      return {
        wallet: source.owner,
        token,
        amountBase: back,
        txHash: leg.refundTxHash,
        note: "back in the source wallet",
      };
    }
  }
};

/**
 * Where each part of a leg's money is, including the part that a swap did not use and that stays in the source wallet.
 */
export const holdingsOf = (view: LegView): Holding[] => {
  const holdings = stopped(view) ?? [main(view), ...unspent(view)];
  return isUnclear(view) ? holdings.map((holding) => ({ ...holding, note: UNCLEAR })) : holdings;
};

const unspent = ({ leg, source }: LegView): Holding[] => {
  const spent = leg.spentBase;
  if (spent === null || leg.state === "failed" || leg.failure !== null) return [];
  const amountBase = leg.amountBase - spent;
  if (amountBase <= 0n) return [];
  const note = "not needed, still in the source wallet";
  return [{ wallet: source.owner, token: source.token, amountBase, txHash: leg.sourceTxHash, note }];
};

const placesOf = (views: readonly LegView[], chains: ChainFacts): string[] => [
  ...new Set(views.map(({ source }) => `${source.owner} on ${shownChain(chains, source.token.chainId).name}`)),
];

/** Advice about legs that did not deliver. With an unclear leg it is only the warning, even if other legs are clear. */
const nextForTheRest = (
  legs: readonly LegView[],
  chains: ChainFacts,
  whereAllIsClear: (places: string) => string,
): string => {
  const unclear = placesOf(legs.filter(isUnclear), chains);
  const clear = placesOf(legs, chains).filter((place) => !unclear.includes(place));
  if (unclear.length === 0) return whereAllIsClear(clear.join(", "));
  const warning = `As far as the chain shows, money is still in ${unclear.join(", ")}, but that is not certain: look at the wallet's history first, before you send anything again.`;
  return clear.length === 0 ? warning : `${warning} What is in ${clear.join(", ")} can be sent with a new quote.`;
};

/** The network fees that the operation waits for now. A note about a leg that the chain took meanwhile does not count. */
export const gasWaitsOf = ({ status, legs, gasWaits }: Operation): readonly GasWait[] => {
  if (isFinal(status)) return [];
  const isAhead = (chainId: number): boolean =>
    legs.some((leg) => leg.sourceChainId === chainId && (leg.state === "queued" || leg.state === "submitted"));
  return legs.length === 0 ? gasWaits : gasWaits.filter(({ chainId }) => isAhead(chainId));
};

const nextOfDeposit = ({ status, subStatus }: Operation): string => {
  if (status === "failed") return "Nothing to do: the deposit never became final. Its sender still has the money.";
  if (subStatus === "quarantined")
    return "Look at who sent it. An owner or an admin releases it; until then its money cannot be moved.";
  return status === "completed"
    ? "Nothing to do: everything arrived."
    : "Nothing to do: it counts once its block is final.";
};

/** One sentence that tells the person what they can do now. */
export const nextActionOf = (operation: Operation, views: readonly LegView[], chains: ChainFacts): string => {
  if (operation.isIncomplete === true)
    return "Look at the chains for where the money is, and update every instance of the service: this record was stored by another version.";
  if (operation.kind === DEPOSIT_KIND) return nextOfDeposit(operation);
  const rest = views.filter(({ leg }) => leg.state === "failed" || leg.state === "refunded");
  const waits = gasWaitSentence(gasWaitsOf(operation), chains);
  if (waits !== null) return waits;
  switch (operation.status) {
    case "completed":
    case "partially_completed":
      if (rest.length === 0 && operation.status === "completed") return "Nothing to do: everything arrived.";
      if (views.length === 0) return "The rest is still in the private wallet's notes.";
      if (rest.length === 0) return "Less than the minimum arrived: the token's contract kept a part on its way.";
      return nextForTheRest(rest, chains, (places) => `The rest is in ${places}; ask for a new quote to send it.`);
    case "failed":
    case "refunded":
      return nextForTheRest(rest, chains, (places) => `The money is in ${places}. Ask for a new quote to try again.`);
    case "cancelled":
    case "expired":
      return "Ask for a new quote to try again.";
    case "pending":
      return operation.subStatus === "awaiting_approval"
        ? "Approve it with a one-time code, or cancel it. Nothing is sent before."
        : "Nothing to do: it is carried on by itself, also when this page is closed.";
    case "processing":
      if (operation.subStatus === "needs_attention")
        return "Look at the part that needs attention, and decide there whether its refund has arrived in the source wallet. It cannot be retried before.";
      return operation.subStatus === "refunding"
        ? "Nothing to do: the bridge sends the money back by itself."
        : operation.subStatus === "delayed"
          ? "Nothing to do: it takes longer than expected. It is delivered, or sent back after the bridge's deadline."
          : views.some(({ leg }) => leg.state === "submitted" && leg.via === "transaction")
            ? "Nothing to do once the wallet has sent its transactions: it goes on as soon as the chain shows them."
            : "Nothing to do: it is carried on by itself, also when this page is closed.";
  }
};
