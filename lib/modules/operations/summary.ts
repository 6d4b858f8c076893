import type { LEG_STATES } from "@/lib/contracts/operation-records";
import type { Status, SubStatus } from "@/lib/core/status";

export type LegState = (typeof LEG_STATES)[number];

/**
 * Allowed transitions between states. The backward ones (`submitted` after `source_seen`, `bridging` after
 * `filled_seen`, `refunding` after `refund_seen`) are for reorganisations, which remove the block in which the later
 * state was seen.
 */
export const LEG_TRANSITIONS = {
  queued: ["submitted", "failed"],
  submitted: ["source_seen", "bridging", "failed"],
  source_seen: ["submitted", "completed", "failed"],
  bridging: ["submitted", "filled_seen", "refunding"],
  filled_seen: ["submitted", "bridging", "completed"],
  refunding: ["submitted", "filled_seen", "refund_seen", "needs_attention"],
  refund_seen: ["submitted", "refunding", "needs_attention", "filled_seen", "refunded"],
  needs_attention: ["submitted", "refunding", "filled_seen", "refund_seen"],
  completed: [],
  failed: [],
  refunded: [],
} as const satisfies Record<LegState, readonly LegState[]>;

export const isLegFinal = (state: LegState): boolean => LEG_TRANSITIONS[state].length === 0;

/** From least to most advanced; an operation has the stage of its slowest leg. */
const STAGES = [
  ["queued", "queued"],
  ["submitted", "source_submitted"],
  ["source_seen", "source_confirmed"],
  ["bridging", "bridging"],
  ["filled_seen", "destination_submitted"],
] as const satisfies readonly (readonly [LegState, SubStatus])[];

const isRefunding = (state: LegState): boolean => state === "refunding" || state === "refund_seen";

export interface OperationSummary {
  readonly status: Status;
  readonly subStatus: SubStatus;
}

/** A leg as the status of its operation depends on it. */
export interface LegResult {
  readonly state: LegState;
  /** The received amount, in base units of the destination's token; null before it is known. */
  readonly receivedBase: bigint | null;
}

interface Promised {
  /** The minimum of the whole operation, in base units of the destination's token. */
  readonly minimumBase: bigint;
  /** A leg takes far longer than estimated. */
  readonly delayed?: boolean;
}

/** The stage of an operation with open legs, from the states of all legs. */
export const stageOfLegs = (states: readonly LegState[], delayed = false): SubStatus => {
  const open = states.filter((state) => !isLegFinal(state));
  if (open.includes("needs_attention")) return "needs_attention";
  if (open.some(isRefunding)) return "refunding";
  if (delayed) return "delayed";
  return STAGES.find(([state]) => open.includes(state))?.[1] ?? "queued";
};

/**
 * The status of an accepted operation, from its legs. It is completed only when the legs together delivered the promised
 * minimum; `partial` then says that a leg delivered nothing all the same.
 */
export const summarizeLegs = (legs: readonly LegResult[], { minimumBase, delayed }: Promised): OperationSummary => {
  const states = legs.map(({ state }) => state);
  if (!states.every(isLegFinal)) return { status: "processing", subStatus: stageOfLegs(states, delayed) };
  const count = (state: LegState): number => states.filter((each) => each === state).length;
  const completed = count("completed");
  const receivedBase = legs.reduce((sum, leg) => sum + (leg.state === "completed" ? (leg.receivedBase ?? 0n) : 0n), 0n);
  if (completed > 0 && receivedBase < minimumBase) return { status: "partially_completed", subStatus: "partial" };
  if (completed > 0) return { status: "completed", subStatus: completed === legs.length ? "full" : "partial" };
  if (count("refunded") > 0) return { status: "refunded", subStatus: count("failed") > 0 ? "partial" : "full" };
  return { status: "failed", subStatus: "full" };
};
