/**
 * Every change of an operation's status and subStatus, by what drives the operation. `TRANSITIONS` of lib/core/status.ts is what the
 * database writes check; status-changes.test.ts holds these tables and the code that makes the changes to each other. The operation of a
 * deposit shows the state of its deposit (deposits/operation-state.ts), and is not in these tables.
 */
import { SUB_STATUSES, type Status, type SubStatus } from "@/lib/core/status";

export type State = `${Status}/${SubStatus}`;
export type StateChanges = Readonly<Partial<Record<State, readonly State[]>>>;

/** An end before the operation runs keeps the subStatus, which says how far it had come. */
const AWAITING: readonly State[] = ["pending/prepared", "cancelled/awaiting_approval", "expired/awaiting_approval"];

/**
 * Operations with legs: swaps, transfers, shields and public exits. The stage is that of the slowest leg; reorganisations move legs, and
 * with them the operation, backwards.
 */
export const LEG_CHANGES: StateChanges = {
  "pending/awaiting_approval": AWAITING,
  // Legs that a linked wallet sent are submitted before the operation begins.
  "pending/prepared": ["cancelled/prepared", "processing/queued", "processing/source_submitted"],
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

/** Operations that spend private notes, without legs. */
export const PRIVATE_CHANGES: StateChanges = {
  "pending/awaiting_approval": AWAITING,
  "pending/prepared": ["pending/proving", "processing/queued", "processing/source_submitted", "cancelled/prepared"],
  "pending/proving": ["processing/queued", "processing/source_submitted", "cancelled/proving"],
  // Each proof that is made is submitted; an operation of several stays there.
  "processing/source_submitted": ["completed/full", "partially_completed/partial", "failed/queued"],
  "processing/queued": ["failed/queued"],
};

/**
 * The subStatuses in which a pending operation can end with this status. Cancelling and expiring change the status alone.
 */
export const subStatusesBefore = (changes: StateChanges, status: "cancelled" | "expired"): SubStatus[] =>
  SUB_STATUSES.filter((subStatus) => changes[`pending/${subStatus}`]?.includes(`${status}/${subStatus}`) === true);
