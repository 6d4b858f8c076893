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
  refunding: ["submitted", "filled_seen", "refund_seen"],
  refund_seen: ["submitted", "refunding", "filled_seen", "refunded"],
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

/**
 * The status of an accepted operation, from the states of its legs. `delayed`: a leg takes far longer than estimated.
 */
export const summarizeLegs = (states: readonly LegState[], delayed = false): OperationSummary => {
  const open = states.filter((state) => !isLegFinal(state));
  if (open.length > 0) {
    if (open.some(isRefunding)) return { status: "processing", subStatus: "refunding" };
    if (delayed) return { status: "processing", subStatus: "delayed" };
    const slowest = STAGES.find(([state]) => open.includes(state));
    return { status: "processing", subStatus: slowest?.[1] ?? "queued" };
  }
  const count = (state: LegState): number => states.filter((each) => each === state).length;
  const completed = count("completed");
  if (completed === states.length) return { status: "completed", subStatus: "full" };
  if (completed > 0) return { status: "completed", subStatus: "partial" };
  if (count("refunded") > 0) return { status: "refunded", subStatus: count("failed") > 0 ? "partial" : "full" };
  return { status: "failed", subStatus: "full" };
};
