/**
 * Describes an operation for people: where its money is, why the operation ended, and what to do
 * next. Pure: the result depends only on the operation's state, failure and legs.
 */
import { WAITS_FOR_APPROVAL } from "@/lib/core/approval-advice";
import { shownChain, type ChainFacts } from "@/lib/chain/shown-chain";
import { movementKind, type MovementKindName } from "@/lib/core/movement-kinds";
import { isFinal, isRefusedAtStart, type SubStatus } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/core/route-request";
import { DEPOSIT_KIND, type Operation } from "./operation";
import { gasWaitSentence, type GasWait } from "./gas-wait";
import type { Leg } from "./leg";
import { isRetryable } from "./permissions";

/** Returns words for the place where the money of an operation is before it moves. */
const originOf = ({ kind }: Pick<Operation, "kind">): string =>
  movementKind(kind)?.startsIn ?? "its wallet";

export interface LegView {
  readonly kind: MovementKindName;
  readonly leg: Leg;
  readonly source: RouteRequest["sources"][number];
  readonly destination: RouteRequest["destination"];
}

export interface Holding {
  /** 0x address, or the bridge's identifier of a deposit. */
  readonly wallet: string;
  readonly token: Token;
  readonly amountBase: bigint;
  readonly txHash: string | null;
  readonly note: string;
}

/**
 * Whether a leg failed although its money may have moved. For such a leg the advice must not
 * suggest to send again.
 */
const isUnclear = ({ leg }: LegView): boolean =>
  leg.state === "failed" && !isRetryable(leg.failure);

const unclearIn = (origin: string): string =>
  `in ${origin} as far as the chain shows, but not for certain: look at the wallet's history first`;

/**
 * The token that the bridge carries and refunds for a leg, with the deposited amount, or the quoted
 * amount while the deposit is unknown.
 */
export const bridgeStep = ({
  leg,
  source,
}: Pick<LegView, "leg" | "source">): { venue: string; token: Token; amountBase: bigint } => {
  const step = leg.routeLeg.steps.find((each) => each.kind === "bridge");
  return step
    ? {
        venue: step.venue,
        token: step.from,
        amountBase: leg.depositedBase ?? step.amountInBase,
      }
    : { venue: "Bridge", token: source.token, amountBase: source.amountBase };
};

const deposited = (view: LegView, note: string): Holding => {
  const { venue, ...amount } = bridgeStep(view);
  return { wallet: `${venue} deposit`, ...amount, txHash: view.leg.sourceTxHash, note };
};

/**
 * The note on the money of a leg that is not mined yet. `txHash` is the linked wallet's
 * transaction. Until it is mined the money is in the wallet, which may still cancel the
 * transaction.
 */
const underWay = (leg: Leg, origin: string): Pick<Holding, "txHash" | "note"> => {
  if (leg.via !== "transaction")
    return { txHash: null, note: `in ${origin}, about to be sent` };
  return {
    txHash: leg.walletTransactions?.transactions.at(-1)?.hash ?? null,
    note: `in ${origin}, until the transaction that it sent is mined`,
  };
};

const main = (view: LegView): Holding => {
  const { leg, source, destination } = view;
  const amountBase = leg.amountBase;
  const own = { wallet: source.owner, token: source.token, amountBase };
  const origin = originOf(view);
  switch (leg.state) {
    case "queued":
    case "submitted":
      return { ...own, ...underWay(leg, origin) };
    case "failed":
      return { ...own, txHash: leg.sourceTxHash, note: `in ${origin}; nothing was taken` };
    case "source_seen":
      return leg.failure === null
        ? {
            wallet: destination.recipient,
            token: destination.token,
            amountBase: leg.receivedBase ?? 0n,
            txHash: leg.sourceTxHash,
            note: "received, waiting for confirmations",
          }
        : {
            ...own,
            txHash: leg.sourceTxHash,
            note: `in ${origin}; the chain refused the transaction`,
          };
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
      const note =
        leg.state === "completed" ? "received" : "received, waiting for confirmations";
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
 * Where each part of a leg's money is, including a part that the token's contract did not transfer.
 */
const holdingsOfLeg = (view: LegView): Holding[] => {
  const holdings = [main(view), ...unspent(view)];
  if (!isUnclear(view)) return holdings;
  return holdings.map((holding) => ({ ...holding, note: unclearIn(originOf(view)) }));
};

/**
 * The money of a deposit is in the wallet from the deposit's first block on. When a reorganisation
 * removed the deposit, the money never left the sender.
 */
const holdingsOfDeposit = (operation: Operation): Holding[] => {
  const { status, subStatus, request, minimumBase } = operation;
  if (status === "failed") return [];
  const { token, recipient } = request.destination;
  const note =
    subStatus === "quarantined"
      ? "in the wallet, and kept back until a person releases it"
      : status === "completed"
        ? "received"
        : "in the wallet, until its block is final";
  return [{ wallet: recipient, token, amountBase: minimumBase, txHash: null, note }];
};

/** Failure code of a private step whose note an unknown transaction has spent. */
const NOTE_SPENT = "note_spent";

const waitingNote = ({ kind, status, subStatus, failure, quoted }: Operation): string => {
  const origin = originOf({ kind });
  if (status === "pending" && subStatus === "awaiting_approval")
    return `in ${origin}, until somebody approves`;
  if (status === "pending" && subStatus === "proving")
    return `in ${origin}, while the proof is being made`;
  if (status === "pending") return `in ${origin}, about to be sent`;
  if (status === "processing") return `in ${origin}, until its transactions are final`;
  if (failure?.code === NOTE_SPENT) return unclearIn(origin);
  const nothing = (quoted.spentBase ?? 0n) === 0n;
  return nothing ? `in ${origin}; nothing was taken` : `in ${origin}, not spent`;
};

/**
 * Where the money of an operation without legs is: the operation awaits approval, ended before it
 * got legs, or spends private notes.
 */
const holdingsWithoutLegs = (operation: Operation): Holding[] => {
  const { request, quoted } = operation;
  const { receivedBase = 0n, spentBase = 0n } = quoted;
  const { token, recipient } = request.destination;
  const note = waitingNote(operation);
  const left = request.sources
    .map((source) => ({
      wallet: source.owner,
      token: source.token,
      amountBase: source.amountBase - spentBase,
      txHash: null,
      note,
    }))
    .filter(({ amountBase }) => amountBase > 0n);
  if (receivedBase === 0n) return left;
  const arrived = {
    wallet: recipient,
    token,
    amountBase: receivedBase,
    txHash: null,
    note: "received",
  };
  return [arrived, ...left];
};

export const viewsOf = ({ kind, legs, request }: Operation): LegView[] =>
  legs.map((leg) => {
    const source = request.sources[leg.routeLeg.sourceIndex];
    if (source === undefined) throw new Error(`Leg ${leg.id} has no source.`);
    return { kind: kind as MovementKindName, leg, source, destination: request.destination };
  });

const holdingsOf = (operation: Operation, views: readonly LegView[]): Holding[] => {
  if (operation.kind === DEPOSIT_KIND) return holdingsOfDeposit(operation);
  if (views.length > 0) return views.flatMap(holdingsOfLeg);
  return holdingsWithoutLegs(operation);
};

const unspent = ({ leg, source }: LegView): Holding[] => {
  const spent = leg.spentBase;
  if (spent === null || leg.state === "failed" || leg.failure !== null) return [];
  const amountBase = leg.amountBase - spent;
  if (amountBase <= 0n) return [];
  const note = "not taken, still in the source wallet";
  return [
    { wallet: source.owner, token: source.token, amountBase, txHash: leg.sourceTxHash, note },
  ];
};

const placesOf = (views: readonly LegView[], chains: ChainFacts): string[] => [
  ...new Set(
    views.map((view) => {
      const { owner, token } = view.source;
      const origin = originOf(view);
      return origin === "the source wallet"
        ? `${owner} on ${shownChain(chains, token.chainId).name}`
        : origin;
    }),
  ),
];

/**
 * Advice about legs that did not deliver. When a leg is unclear, the advice begins with a warning,
 * and only the money of the other legs may be sent again.
 */
const nextForTheRest = (
  legs: readonly LegView[],
  chains: ChainFacts,
  whereAllIsClear: (places: string) => string,
): string => {
  const unclear = placesOf(legs.filter(isUnclear), chains);
  const clear = placesOf(legs, chains).filter((place) => !unclear.includes(place));
  if (unclear.length === 0) return whereAllIsClear(clear.join(", "));
  const warning = `As far as the chain shows, money is still in ${unclear.join(", ")}, but that is not certain: look at the wallet's history first, before you send anything again.`;
  return clear.length === 0
    ? warning
    : `${warning} What is in ${clear.join(", ")} can be sent with a new quote.`;
};

/**
 * The network fees that the operation waits for. A stored wait for a chain counts only while a leg
 * with this source chain is queued or submitted.
 */
export const gasWaitsOf = ({ status, legs, gasWaits }: Operation): readonly GasWait[] => {
  if (isFinal(status)) return [];
  const isAhead = (chainId: number): boolean =>
    legs.some(
      (leg) =>
        leg.sourceChainId === chainId && (leg.state === "queued" || leg.state === "submitted"),
    );
  return legs.length === 0 ? gasWaits : gasWaits.filter(({ chainId }) => isAhead(chainId));
};

const nextOfDeposit = ({ status, subStatus }: Operation): string => {
  if (status === "failed")
    return "Nothing to do: the deposit never became final. Its sender still has the money.";
  if (subStatus === "quarantined")
    return "Look at who sent it. An owner or an admin releases it; until then its money cannot be moved.";
  return status === "completed"
    ? "Nothing to do: everything arrived."
    : "Nothing to do: it counts once its block is final.";
};

const nextWithoutLegs = (operation: Operation): string => {
  const origin = originOf(operation);
  if (isRefusedAtStart(operation))
    return `Nothing was sent; the money is in ${origin}. Ask again once the reason has passed.`;
  if (operation.failure?.code === NOTE_SPENT)
    return `The money was in ${origin}, and whether it still is is not certain: look at the chain first, before you send anything again.`;
  return operation.status === "failed"
    ? `The money is in ${origin}. Try it again, or ask for something else.`
    : `The rest is still in ${origin}.`;
};

const nextOfEnded = (
  operation: Operation,
  views: readonly LegView[],
  chains: ChainFacts,
): string => {
  const { status } = operation;
  const rest = views.filter(({ leg }) => leg.state === "failed" || leg.state === "refunded");
  if (status === "completed" && rest.length === 0) return "Nothing to do: everything arrived.";
  if (views.length === 0) return nextWithoutLegs(operation);
  if (status === "failed" || status === "refunded")
    return nextForTheRest(
      rest,
      chains,
      (places) => `The money is in ${places}. Ask for a new quote to try again.`,
    );
  if (rest.length === 0)
    return "Less than the minimum arrived: the token's contract kept a part on its way.";
  return nextForTheRest(
    rest,
    chains,
    (places) => `The rest is in ${places}; ask for a new quote to send it.`,
  );
};

const BY_ITSELF = "Nothing to do: it is carried on by itself, also when this page is closed.";

const NEXT_OF_OPEN: Partial<Record<SubStatus, string>> = {
  needs_attention:
    "Look at the part that needs attention, and decide there whether its refund has arrived in the source wallet. It cannot be retried before.",
  refunding: "Nothing to do: the bridge sends the money back by itself.",
  delayed:
    "Nothing to do: it takes longer than expected. It is delivered, or sent back after the bridge's deadline.",
};

const nextOfOpen = ({ status, subStatus }: Operation, views: readonly LegView[]): string => {
  if (status === "pending")
    return subStatus === "awaiting_approval"
      ? `${WAITS_FOR_APPROVAL} Nothing is sent before.`
      : BY_ITSELF;
  const advice = NEXT_OF_OPEN[subStatus];
  if (advice !== undefined) return advice;
  return views.some(({ leg }) => leg.state === "submitted" && leg.via === "transaction")
    ? "Nothing to do once the wallet has sent its transactions: it goes on as soon as the chain shows them."
    : BY_ITSELF;
};

const nextActionOf = (
  operation: Operation,
  views: readonly LegView[],
  chains: ChainFacts,
): string => {
  if (operation.kind === DEPOSIT_KIND) return nextOfDeposit(operation);
  const waits = gasWaitSentence(gasWaitsOf(operation), chains);
  if (waits !== null) return waits;
  switch (operation.status) {
    case "pending":
    case "processing":
      return nextOfOpen(operation, views);
    case "cancelled":
    case "expired":
      return "Ask for a new quote to try again.";
    case "completed":
    case "partially_completed":
    case "failed":
    case "refunded":
      return nextOfEnded(operation, views, chains);
  }
};

const sentenceOfDeposit = ({ status, subStatus }: Operation): string => {
  if (status === "failed") return "The deposit never became final; its sender has the money.";
  if (subStatus === "quarantined") return "Kept back until a person releases it.";
  return status === "completed" ? "Received." : "Received; its block is not final yet.";
};

const sentenceOfFailed = (operation: Operation, views: readonly LegView[]): string => {
  const origin = originOf(operation);
  if (isRefusedAtStart(operation))
    return "It was approved, and refused when it was to start. Nothing was sent.";
  const isUncertain = views.some(isUnclear) || operation.failure?.code === NOTE_SPENT;
  return isUncertain
    ? `Nothing arrived, and whether the money is still in ${origin} is not certain.`
    : `Nothing arrived. The money is in ${origin}.`;
};

const PENDING_SENTENCES: Partial<Record<SubStatus, string>> = {
  awaiting_approval: "Waiting for approval. Nothing was sent.",
  awaiting_signature: "Waiting for a signature. Nothing was sent.",
  proving: "The proof is being made. Nothing was sent yet.",
};

const PROCESSING_SENTENCES: Partial<Record<SubStatus, string>> = {
  refunding: "It was not delivered in time; the bridge sends the money back.",
  needs_attention:
    "It was not delivered in time, and whether the money is back needs a person's decision.",
  delayed: "It is on its way, and takes longer than usual.",
};

const sentenceOfOpen = ({ status, subStatus }: Operation): string =>
  status === "pending"
    ? (PENDING_SENTENCES[subStatus] ?? "It was accepted and is about to be sent.")
    : (PROCESSING_SENTENCES[subStatus] ?? "It is on its way.");

const sentenceOfArrived = ({ kind, request }: Operation, chains: ChainFacts): string =>
  kind === "shield"
    ? "Shielded. The note can be spent once the deposit is approved."
    : `Arrived on ${shownChain(chains, request.destination.token.chainId).name}.`;

const sentenceOf = (
  operation: Operation,
  views: readonly LegView[],
  chains: ChainFacts,
): string => {
  if (operation.kind === DEPOSIT_KIND) return sentenceOfDeposit(operation);
  const isUncertain = views.some(isUnclear);
  switch (operation.status) {
    case "pending":
    case "processing":
      return sentenceOfOpen(operation);
    case "completed":
      if (operation.subStatus !== "partial") return sentenceOfArrived(operation, chains);
      return isUncertain
        ? "The promised amount arrived, and where the rest is is not certain."
        : "The promised amount arrived; the rest did not.";
    case "partially_completed":
      return isUncertain
        ? "A part arrived, and where the rest is is not certain."
        : "A part arrived; the rest did not.";
    case "refunded":
      return isUncertain
        ? "Nothing arrived. A part is back, and where the rest is is not certain."
        : "Nothing arrived. The money is back in the source wallet.";
    case "failed":
      return sentenceOfFailed(operation, views);
    case "cancelled":
      return "Cancelled. Nothing was sent.";
    case "expired":
      return "Nobody approved it in time. Nothing was sent.";
  }
};

export interface Outcome {
  readonly sentence: string;
  readonly holdings: readonly Holding[];
  readonly nextAction: string;
}

export const outcomeOf = (operation: Operation, chains: ChainFacts): Outcome => {
  const views = viewsOf(operation);
  return {
    sentence: sentenceOf(operation, views, chains),
    holdings: holdingsOf(operation, views),
    nextAction: nextActionOf(operation, views, chains),
  };
};
