import type { StepState } from "@/components/ui/timeline";
import type { ChainNameOf, Leg, OperationEvent } from "./operation";
import { depthText } from "./sentences";

export interface LegStep {
  readonly id: "queued" | "submitted" | "source" | "bridge" | "delivery" | "refund";
  readonly title: string;
  readonly state: StepState;
  /** The number of confirmations, or an explanation such as the reason of a failure. */
  readonly note: string | null;
  readonly transaction: {
    readonly txHash: string | null;
    readonly explorerUrl: string | null;
  } | null;
  /** RFC 3339. */
  readonly at: string | null;
}

/**
 * For each state, how many of the steps queued, submitted, source, bridge and delivery are done.
 */
const DONE = {
  queued: 0,
  submitted: 1,
  source_seen: 2,
  bridging: 3,
  filled_seen: 4,
  refunding: 3,
  refund_seen: 3,
  needs_attention: 3,
  completed: 5,
  failed: 0,
  refunded: 3,
} as const satisfies Record<Leg["state"], number>;

const isDeep = (leg: Leg): boolean => leg.confirmations >= leg.confirmationsNeeded;
const isBack = (leg: Leg): boolean =>
  leg.state === "refunding" ||
  leg.state === "refund_seen" ||
  leg.state === "needs_attention" ||
  leg.state === "refunded";

const timeOf = (events: readonly OperationEvent[], leg: Leg, type: string): string | null =>
  events.findLast((event) => event.type === type && event.data.legId === leg.id)?.createdAt ??
  null;

const stateAt = (done: number, position: number): StepState => {
  if (done > position) return "done";
  return done === position ? "current" : "todo";
};

/** The side of a leg that each event reports. `leg.reorganised` names its side in its data. */
const SIDES = {
  "leg.source_seen": "source",
  "leg.filled_seen": "destination",
  "leg.refund_seen": "refund",
  "leg.completed": "destination",
} as const;
type Side = (typeof SIDES)[keyof typeof SIDES];

const sideOf = (event: OperationEvent): Side | null => {
  if (event.type === "leg.reorganised")
    return (event.data.side as Side | undefined) ?? "source";
  return event.type in SIDES ? SIDES[event.type as keyof typeof SIDES] : null;
};

/**
 * Whether the chain dropped the block with the transaction of this side, and the transaction has
 * not been seen since.
 */
const isDropped = (side: Side, leg: Leg, events: readonly OperationEvent[]): boolean =>
  events.findLast((event) => event.data.legId === leg.id && sideOf(event) === side)?.type ===
  "leg.reorganised";

const droppedNote = (chain: string): string =>
  `${chain} dropped the block that had it (a reorganisation). It is looked for again, and is never sent twice.`;

const SUBMITTED_TITLES = {
  user_operation: (chain) => `Sent to ${chain}`,
  transaction: (chain) => `Sent to ${chain} by the wallet itself`,
  permit: (chain) => `Sent to ${chain} by the treasury, with the permit`,
} as const satisfies Record<Leg["via"], (chain: string) => string>;

const SIGNED_TITLES = {
  user_operation: { todo: "Waiting to be signed", done: "Signed" },
  transaction: { todo: "Waiting for the wallet", done: "Signed by the wallet" },
  permit: { todo: "Permit signed, waiting for the treasury", done: "Permit signed" },
} as const satisfies Record<Leg["via"], { todo: string; done: string }>;

const submittedStep = (
  leg: Leg,
  chain: string,
  sentAt: string | null,
  events: readonly OperationEvent[],
): LegStep => {
  const dropped = leg.state === "submitted" && isDropped("source", leg, events);
  const state = stateAt(DONE[leg.state], 1);
  const sent = SUBMITTED_TITLES[leg.via](chain);
  const waiting =
    leg.via === "transaction"
      ? `Waiting for the wallet's transaction on ${chain}`
      : `${sent}, not in a block yet`;
  return {
    id: "submitted",
    title: leg.state === "submitted" ? waiting : sent,
    state: dropped ? "attention" : state,
    note: dropped ? droppedNote(chain) : null,
    transaction: null,
    at: DONE[leg.state] > 1 ? sentAt : null,
  };
};

const bridgeStep = (
  leg: Leg,
  from: string,
  to: string,
  events: readonly OperationEvent[],
): LegStep => {
  const step = { id: "bridge", transaction: null } as const;
  if (isBack(leg))
    return {
      ...step,
      title: `Not delivered on ${to} in time`,
      state: "attention",
      note: leg.failure?.message ?? null,
      at: timeOf(events, leg, "leg.refunding"),
    };
  const crossing = { ...step, title: `Crossing from ${from} to ${to}` };
  if (leg.state === "bridging" && isDropped("destination", leg, events))
    return { ...crossing, state: "attention", note: droppedNote(to), at: null };
  return {
    ...crossing,
    state: stateAt(DONE[leg.state], 3),
    note: null,
    at: timeOf(events, leg, "leg.filled_seen"),
  };
};

const sourceStep = (leg: Leg, chain: string, events: readonly OperationEvent[]): LegStep => {
  const refused =
    leg.failure !== null && (leg.state === "source_seen" || leg.state === "failed");
  const seen = leg.txHash !== null;
  const stateOf = (): StepState => {
    if (refused) return "failed";
    if (!seen) return "todo";
    return isDeep(leg) ? "done" : "current";
  };
  return {
    id: "source",
    title: refused && seen ? `Refused by ${chain}` : `In a block on ${chain}`,
    state: stateOf(),
    note: seen ? depthText(leg) : null,
    transaction: seen ? leg : null,
    at: seen ? timeOf(events, leg, "leg.source_seen") : null,
  };
};

const failedSteps = (leg: Leg, chain: string, events: readonly OperationEvent[]): LegStep[] => {
  const note = leg.failure?.message ?? null;
  const sentAt = timeOf(events, leg, "leg.submitted");
  if (leg.txHash !== null) {
    const sent: LegStep = {
      id: "submitted",
      title: SUBMITTED_TITLES[leg.via](chain),
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
  const state = stateAt(DONE[leg.state], DONE.filled_seen);
  return {
    id: "delivery",
    title: state === "todo" ? `Delivery on ${to}` : `Delivered on ${to}`,
    state,
    note: place === null ? null : depthText(place),
    transaction: place,
    at: timeOf(events, leg, crossed ? "leg.filled_seen" : "leg.completed"),
  };
};

const REFUND_TITLES: Partial<Record<Leg["state"], (chain: string) => string>> = {
  refunding: (chain) => `Sent back to ${chain}`,
  needs_attention: (chain) => `Refund on ${chain} not certain`,
};

const REFUND_STATES: Partial<Record<Leg["state"], StepState>> = {
  refunded: "refunded",
  needs_attention: "attention",
};

const refundStep = (leg: Leg, from: string, events: readonly OperationEvent[]): LegStep => ({
  id: "refund",
  title: REFUND_TITLES[leg.state]?.(from) ?? `Back on ${from}`,
  state: REFUND_STATES[leg.state] ?? "current",
  note:
    leg.refund !== null
      ? depthText(leg.refund)
      : isDropped("refund", leg, events)
        ? droppedNote(from)
        : leg.state === "needs_attention"
          ? "A person has to decide; see below."
          : "The bridge pays it back by itself.",
  transaction: leg.refund,
  at:
    leg.state === "needs_attention"
      ? timeOf(events, leg, "leg.needs_attention")
      : (timeOf(events, leg, "leg.refund_seen") ??
        (leg.refund === null ? null : timeOf(events, leg, "leg.refund_decided"))),
});

const lateNote = (leg: Leg, step: LegStep): string => {
  if (step.id === "submitted" && leg.via === "transaction")
    return "Taking longer than usual. The money is in the wallet; raise the fee of the transaction there if it does not come.";
  if (step.id === "refund")
    return "Taking longer than usual. The money is with the bridge, which pays it back to the wallet. Nothing to do.";
  if (step.id === "bridge" || step.id === "delivery")
    return "Taking longer than usual. The money is with the bridge: it is delivered, or sent back after the bridge's deadline. Nothing to do.";
  return "Taking longer than usual. The money is in the wallet until the transaction is in a block. Nothing to do.";
};

const joined = (note: string | null, more: string): string =>
  note === null ? more : `${note.replace(/[.]?$/, ".")} ${more}`;

const withLateNote = (leg: Leg, steps: readonly LegStep[]): LegStep[] => {
  const late = steps.find((step) => step.state === "current");
  return steps.map((step) =>
    step === late ? { ...step, note: joined(step.note, lateNote(leg, step)) } : step,
  );
};

export interface LegSurroundings {
  readonly toChainId: number;
  readonly chainName: ChainNameOf;
  readonly events: readonly OperationEvent[];
  readonly delayed?: boolean;
}

export const legSteps = (
  leg: Leg,
  { toChainId, chainName, events, delayed = false }: LegSurroundings,
): LegStep[] => {
  const [from, to] = [chainName(leg.chainId), chainName(toChainId)];
  if (leg.state === "failed") return failedSteps(leg, from, events);
  const sentAt = timeOf(events, leg, "leg.submitted");
  const queued = stateAt(DONE[leg.state], 0);
  const steps: LegStep[] = [
    {
      id: "queued",
      title: SIGNED_TITLES[leg.via][queued === "done" ? "done" : "todo"],
      state: queued,
      note: null,
      transaction: null,
      at: sentAt,
    },
    submittedStep(leg, from, sentAt, events),
    sourceStep(leg, from, events),
  ];
  if (leg.kind === "bridge") steps.push(bridgeStep(leg, from, to, events));
  steps.push(isBack(leg) ? refundStep(leg, from, events) : deliveryStep(leg, to, events));
  return delayed && leg.status === "processing" ? withLateNote(leg, steps) : steps;
};
