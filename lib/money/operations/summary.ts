import type { LEG_STATES } from "@/lib/contracts/operation-records";
import { type Status, SUB_STATUSES, type SubStatus } from "@/lib/core/status";

export type LegState = (typeof LEG_STATES)[number];

/**
 * The allowed transitions. The backward ones (`submitted` after `source_seen`, `bridging` after
 * `filled_seen`, `refunding` after `refund_seen`) are for reorganisations, which remove the block
 * in which the later state was seen.
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

/**
 * For each state of an open leg, the stage of the operation, from least to most advanced. An
 * operation has the stage of its slowest leg.
 */
const STAGES = [
  ["queued", "queued"],
  ["submitted", "source_submitted"],
  ["source_seen", "source_confirmed"],
  ["bridging", "bridging"],
  ["filled_seen", "destination_submitted"],
] as const satisfies readonly (readonly [LegState, SubStatus])[];

const isRefunding = (state: LegState): boolean =>
  state === "refunding" || state === "refund_seen";

export interface OperationSummary {
  readonly status: Status;
  readonly subStatus: SubStatus;
}

export interface LegResult {
  readonly state: LegState;
  /** The received amount, in base units of the destination's token; null before it is known. */
  readonly receivedBase: bigint | null;
}

interface Promised {
  /** The minimum of the whole operation, in base units of the destination's token. */
  readonly minimumBase: bigint;
  readonly delayed?: boolean;
}

export const stageOfLegs = (states: readonly LegState[], delayed = false): SubStatus => {
  const open = states.filter((state) => !isLegFinal(state));
  if (open.includes("needs_attention")) return "needs_attention";
  if (open.some(isRefunding)) return "refunding";
  if (delayed) return "delayed";
  return STAGES.find(([state]) => open.includes(state))?.[1] ?? "queued";
};

/**
 * The status of an accepted operation, derived from its legs. `completed` requires that the legs
 * together delivered the promised minimum; the subStatus is then `partial` when one of the legs
 * delivered nothing.
 */
export const summarizeLegs = (
  legs: readonly LegResult[],
  { minimumBase, delayed }: Promised,
): OperationSummary => {
  const states = legs.map(({ state }) => state);
  if (!states.every(isLegFinal))
    return { status: "processing", subStatus: stageOfLegs(states, delayed) };
  const count = (state: LegState): number => states.filter((each) => each === state).length;
  const completed = count("completed");
  const receivedBase = legs.reduce(
    (sum, leg) => sum + (leg.state === "completed" ? (leg.receivedBase ?? 0n) : 0n),
    0n,
  );
  if (completed > 0 && receivedBase < minimumBase)
    return { status: "partially_completed", subStatus: "partial" };
  if (completed > 0)
    return { status: "completed", subStatus: completed === legs.length ? "full" : "partial" };
  if (count("refunded") > 0)
    return { status: "refunded", subStatus: count("failed") > 0 ? "partial" : "full" };
  return { status: "failed", subStatus: "full" };
};

// Every possible change of an operation's status and subStatus, by kind of operation. The database
// writes check `TRANSITIONS` of lib/core/status.ts; status-changes.test.ts compares it with these
// tables and with the code. The operation of a deposit takes its state from the deposit
// (deposits/deposit.ts) and is not in these tables.

export type State = `${Status}/${SubStatus}`;
export type StateChanges = Readonly<Partial<Record<State, readonly State[]>>>;

/**
 * The states after `awaiting_approval`. An operation that ends before it runs keeps its subStatus,
 * which shows how far it had come.
 */
const AWAITING: readonly State[] = [
  "pending/prepared",
  "cancelled/awaiting_approval",
  "expired/awaiting_approval",
  "failed/awaiting_approval",
];

/**
 * Operations with legs: swaps, transfers, shields and public exits. The slowest leg determines the
 * stage. A reorganisation moves a leg backwards, and its operation with it.
 */
export const LEG_CHANGES: StateChanges = {
  "pending/awaiting_approval": AWAITING,
  // Legs that a linked wallet sent are submitted before the operation begins, so the operation may
  // skip `processing/queued`.
  "pending/prepared": [
    "cancelled/prepared",
    "processing/queued",
    "processing/source_submitted",
  ],
  "processing/queued": [
    "processing/source_submitted",
    "processing/source_confirmed",
    "processing/bridging",
    "processing/destination_submitted",
    "processing/delayed",
    "processing/refunding",
    "completed/partial",
    "partially_completed/partial",
    "refunded/partial",
    "failed/full",
  ],
  "processing/source_submitted": [
    "processing/source_confirmed",
    "processing/bridging",
    "processing/destination_submitted",
    "processing/delayed",
    "processing/refunding",
    "completed/partial",
    "partially_completed/partial",
    "refunded/partial",
    "failed/full",
  ],
  "processing/source_confirmed": [
    "processing/source_submitted",
    "processing/bridging",
    "processing/destination_submitted",
    "processing/delayed",
    "processing/refunding",
    "completed/full",
    "completed/partial",
    "partially_completed/partial",
    "refunded/partial",
    "failed/full",
  ],
  "processing/bridging": [
    "processing/source_submitted",
    "processing/destination_submitted",
    "processing/delayed",
    "processing/refunding",
  ],
  "processing/destination_submitted": [
    "processing/source_submitted",
    "processing/bridging",
    "processing/delayed",
    "completed/full",
    "completed/partial",
    "partially_completed/partial",
  ],
  "processing/delayed": [
    "processing/refunding",
    "completed/full",
    "completed/partial",
    "partially_completed/partial",
    "refunded/partial",
    "failed/full",
  ],
  "processing/refunding": [
    "processing/queued",
    "processing/source_submitted",
    "processing/source_confirmed",
    "processing/bridging",
    "processing/destination_submitted",
    "processing/needs_attention",
    "completed/partial",
    "partially_completed/partial",
    "refunded/full",
    "refunded/partial",
  ],
  "processing/needs_attention": [
    "processing/queued",
    "processing/source_submitted",
    "processing/source_confirmed",
    "processing/bridging",
    "processing/destination_submitted",
    "processing/refunding",
  ],
};

/** Operations that spend private notes. They have no legs. */
export const PRIVATE_CHANGES: StateChanges = {
  "pending/awaiting_approval": AWAITING,
  "pending/prepared": [
    "pending/proving",
    "processing/queued",
    "processing/source_submitted",
    "cancelled/prepared",
  ],
  "pending/proving": ["processing/queued", "processing/source_submitted", "cancelled/proving"],
  // Each proof is submitted as soon as it is built. An operation with several proofs stays in this
  // state until its last proof is submitted.
  "processing/source_submitted": [
    "completed/full",
    "partially_completed/partial",
    "failed/queued",
  ],
  "processing/queued": ["failed/queued"],
};

/**
 * The subStatuses in which a pending operation can end with this status. Cancelling and expiring
 * change only the status.
 */
export const subStatusesBefore = (
  changes: StateChanges,
  status: "cancelled" | "expired",
): SubStatus[] =>
  SUB_STATUSES.filter(
    (subStatus) => changes[`pending/${subStatus}`]?.includes(`${status}/${subStatus}`) === true,
  );
