import type { ChainNameOf, Leg, Operation, OperationEvent } from "@/components/features/operations/types";
import { legSentence } from "@/components/features/operations/sentences";
import { isFinal } from "@/lib/core/status";
import { legProgress, type ProgressTimes } from "./leg-progress";
import type { FlowHop, FlowLeg, FlowModel, FlowTransaction } from "./types";

export interface FlowWords {
  readonly chainName: ChainNameOf;
  readonly addressName: (address: string) => string;
}

interface Surroundings extends FlowWords {
  readonly events: readonly OperationEvent[];
  readonly nowMs: number;
}

const isHop = (step: { readonly kind: string; readonly venue: string }): step is FlowHop => step.kind !== "transfer";

const eventsOf = (events: readonly OperationEvent[], leg: Leg): OperationEvent[] =>
  events.filter(({ data }) => data.legId === leg.id);

/** When a leg began to move, by its first event, else by the operation. */
export const timesOf = (
  operation: Operation,
  leg: Leg,
  { events, nowMs }: Pick<Surroundings, "events" | "nowMs">,
): ProgressTimes => ({
  nowMs,
  startedMs: Date.parse(eventsOf(events, leg)[0]?.createdAt ?? operation.createdAt),
  delayed: operation.subStatus === "delayed",
});

const transactionsOf = (leg: Leg): FlowTransaction[] =>
  [
    { label: "Sent", hash: leg.txHash },
    { label: "Delivered", hash: leg.destination?.txHash ?? null },
    { label: "Refund", hash: leg.refund?.txHash ?? null },
  ].flatMap(({ label, hash }) => (hash === null ? [] : [{ label, hash }]));

const legOf = (operation: Operation, leg: Leg, around: Surroundings): FlowLeg => ({
  id: leg.id,
  from: {
    name: around.addressName(leg.walletAddress),
    address: leg.walletAddress,
    chainName: around.chainName(leg.chainId),
  },
  amount: leg.sent.amount,
  symbol: leg.sent.token.symbol,
  // All legs bring the same token, so their minima compare their worths.
  worth: Number(leg.minimum.amount),
  hops: leg.route.steps.filter(isHop),
  sentence: legSentence(leg, operation.quoted.to.chainId, around.chainName),
  transactions: transactionsOf(leg),
  at: eventsOf(around.events, leg).at(-1)?.createdAt ?? null,
  ...legProgress(leg, timesOf(operation, leg, around)),
});

/** The requested amounts in place of legs, for an operation that has none yet or never will. */
const plannedLegs = ({ quoted, status }: Operation, { chainName, addressName }: FlowWords): FlowLeg[] =>
  quoted.from.map((source, index) => ({
    id: String(index),
    from: { name: addressName(source.address), address: source.address, chainName: chainName(source.chainId) },
    amount: source.amount,
    symbol: source.token.symbol,
    worth: 1,
    hops: [],
    look: "planned",
    fill: 0,
    back: 0,
    coin: null,
    sentence: isFinal(status) ? "Nothing was sent" : "Nothing was sent yet",
    transactions: [],
    at: null,
  }));

const isNothing = (amount: string): boolean => !/[1-9]/.test(amount);

const destinationOf = ({ quoted, actual, status, legs }: Operation, words: FlowWords): FlowModel["to"] => {
  const { to } = quoted;
  const place = {
    name: words.addressName(to.address),
    address: to.address,
    chainName: words.chainName(to.chainId),
    symbol: to.token.symbol,
  };
  const arrived = actual.received.amount;
  if (isFinal(status)) {
    const nothing = isNothing(arrived);
    return { ...place, amount: arrived, suffix: nothing ? "arrived" : null, minimum: null };
  }
  if (legs.length > 1 && !isNothing(arrived))
    return { ...place, amount: arrived, suffix: "so far", minimum: to.minAmount };
  return { ...place, amount: to.amount, suffix: "expected", minimum: to.minAmount };
};

/** An operation as a picture of its money. */
export const operationFlow = (operation: Operation, around: Surroundings): FlowModel => ({
  legs:
    operation.legs.length === 0
      ? plannedLegs(operation, around)
      : operation.legs.map((leg) => legOf(operation, leg, around)),
  to: destinationOf(operation, around),
  fee: null,
});
