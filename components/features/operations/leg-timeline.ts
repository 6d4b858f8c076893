import type { StepState } from "@/components/ui/timeline";
import type { ChainNameOf, Leg, OperationEvent } from "./types";
import { depthText } from "./sentences";

export interface LegStep {
  readonly id: "queued" | "submitted" | "source" | "bridge" | "delivery" | "refund";
  readonly title: string;
  readonly state: StepState;
  /** Confirmations, or why it failed. */
  readonly note: string | null;
  readonly transaction: { readonly txHash: string | null; readonly explorerUrl: string | null } | null;
  /** When it was done, RFC 3339. */
  readonly at: string | null;
}

/** How many of the steps queued, submitted, source, bridge, delivery are done in each state. */
const DONE = {
  queued: 0,
  submitted: 1,
  source_seen: 2,
  bridging: 3,
  filled_seen: 4,
  refunding: 3,
  refund_seen: 3,
  completed: 5,
  failed: 0,
  refunded: 3,
} as const satisfies Record<Leg["state"], number>;

const isDeep = (leg: Leg): boolean => leg.confirmations >= leg.confirmationsNeeded;
const isBack = (leg: Leg): boolean =>
  leg.state === "refunding" || leg.state === "refund_seen" || leg.state === "refunded";

const timeOf = (events: readonly OperationEvent[], leg: Leg, type: string): string | null =>
  events.findLast((event) => event.type === type && event.data.legId === leg.id)?.createdAt ?? null;

const stateAt = (done: number, position: number): StepState =>
  done > position ? "done" : done === position ? "current" : "todo";

const sourceStep = (leg: Leg, chain: string, events: readonly OperationEvent[]): LegStep => {
  const refused = leg.failure !== null && (leg.state === "source_seen" || leg.state === "failed");
  const seen = leg.txHash !== null;
  const state = refused ? "failed" : !seen ? "todo" : isDeep(leg) ? "done" : "current";
  return {
    id: "source",
    title: refused && seen ? `Refused by ${chain}` : `In a block on ${chain}`,
    state,
    note: seen ? depthText(leg) : null,
    transaction: seen ? leg : null,
    at: timeOf(events, leg, "leg.source_seen"),
  };
};

const failedSteps = (leg: Leg, chain: string, events: readonly OperationEvent[]): LegStep[] => {
  const note = leg.failure?.message ?? null;
  const sentAt = timeOf(events, leg, "leg.submitted");
  if (leg.txHash !== null) {
    const sent: LegStep = {
      id: "submitted",
      title: `Sent to ${chain}`,
      state: "done",
      note: null,
      transaction: null,
      at: sentAt,
    };
    return [sent, { ...sourceStep(leg, chain, events), state: "failed", note }];
  }
  const at = timeOf(events, leg, "leg.failed");
  const title = sentAt === null ? `Not sent on ${chain}` : `${chain} did not take it`;
  return [{ id: "submitted", title, state: "failed", note, transaction: null, at }];
};

const deliveryStep = (leg: Leg, to: string, events: readonly OperationEvent[]): LegStep => {
  const crossed = leg.kind === "bridge";
  const place = crossed ? leg.destination : null;
  return {
    id: "delivery",
    title: leg.state === "completed" || leg.state === "filled_seen" ? `Delivered on ${to}` : `Delivery on ${to}`,
    state: leg.state === "completed" ? "done" : leg.state === "filled_seen" ? "current" : "todo",
    note: place === null ? null : depthText(place),
    transaction: place,
    at: timeOf(events, leg, crossed ? "leg.filled_seen" : "leg.completed"),
  };
};

const refundStep = (leg: Leg, from: string, events: readonly OperationEvent[]): LegStep => ({
  id: "refund",
  title: leg.state === "refunding" ? `Sent back to ${from}` : `Back on ${from}`,
  state: leg.state === "refunded" ? "refunded" : "current",
  note: leg.refund === null ? "The bridge pays it back by itself." : depthText(leg.refund),
  transaction: leg.refund,
  at: timeOf(events, leg, "leg.refund_seen"),
});

/** The way of one leg, step by step: what is done, what goes on, what is to come. */
export const legSteps = (
  leg: Leg,
  toChainId: number,
  chainName: ChainNameOf,
  events: readonly OperationEvent[],
): LegStep[] => {
  const [from, to] = [chainName(leg.chainId), chainName(toChainId)];
  const plain = { note: null, transaction: null };
  const queued: LegStep = { id: "queued", title: "Signed", state: stateAt(DONE[leg.state], 0), ...plain, at: null };
  if (leg.state === "failed") return failedSteps(leg, from, events);
  const sentAt = timeOf(events, leg, "leg.submitted");
  const steps: LegStep[] = [
    { ...queued, title: queued.state === "done" ? "Signed" : "Waiting to be signed", at: sentAt },
    {
      id: "submitted",
      title: leg.state === "submitted" ? `Sent to ${from}, not in a block yet` : `Sent to ${from}`,
      state: stateAt(DONE[leg.state], 1),
      ...plain,
      at: DONE[leg.state] > 1 ? sentAt : null,
    },
    sourceStep(leg, from, events),
  ];
  if (leg.kind === "bridge") {
    steps.push({
      id: "bridge",
      title: isBack(leg) ? `Not delivered on ${to} in time` : `Crossing from ${from} to ${to}`,
      state: isBack(leg) ? "attention" : stateAt(DONE[leg.state], 3),
      ...plain,
      note: isBack(leg) ? (leg.failure?.message ?? null) : null,
      at: timeOf(events, leg, isBack(leg) ? "leg.refunding" : "leg.filled_seen"),
    });
  }
  steps.push(isBack(leg) ? refundStep(leg, from, events) : deliveryStep(leg, to, events));
  return steps;
};
