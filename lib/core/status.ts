/** The states that operations, transfers, payouts and private operations share. */
export const STATUSES = [
  "pending",
  "processing",
  "completed",
  "partially_completed",
  "failed",
  "refunded",
  "expired",
  "cancelled",
] as const;
export type Status = (typeof STATUSES)[number];

export const SUB_STATUSES = [
  "created",
  "awaiting_otp",
  "awaiting_approval",
  "awaiting_signature",
  "prepared",
  "proving",
  "queued",
  "source_submitted",
  "source_confirmed",
  "bridging",
  "destination_submitted",
  "delayed",
  "refunding",
  "needs_attention",
  "confirming",
  "quarantined",
  "full",
  "partial",
] as const;
export type SubStatus = (typeof SUB_STATUSES)[number];

/**
 * Transitions that are not listed are refused. `pending → failed` is used for operations that
 * people approved and a rule refused at the start. `processing → cancelled` is used for a payout
 * that sent nothing. One final state may be corrected: a payout that failed while another operation
 * may have paid its rows changes to the state that follows from the decision about them.
 */
export const TRANSITIONS = {
  pending: ["processing", "failed", "expired", "cancelled"],
  processing: ["completed", "partially_completed", "failed", "refunded", "cancelled"],
  completed: [],
  partially_completed: [],
  failed: [],
  refunded: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<Status, readonly Status[]>;

/** Whether `TRANSITIONS` allows the change from one state to the other. */
export const mayMove = (from: Status, to: Status): boolean =>
  (TRANSITIONS[from] as readonly Status[]).includes(to);

/** Whether the state never changes again. */
export const isFinal = (status: Status): boolean =>
  status !== "pending" && status !== "processing";

/** Whether people approved the operation, and a rule or a balance refused it at the start. */
export const isRefusedAtStart = ({
  status,
  subStatus,
}: {
  readonly status: Status;
  readonly subStatus: SubStatus;
}): boolean => status === "failed" && subStatus === "awaiting_approval";

/** The substatus that is shown when the stored one is unknown, because a later version wrote it. */
export const SUB_STATUS_OF: Readonly<Record<Status, SubStatus>> = {
  pending: "created",
  processing: "queued",
  completed: "full",
  partially_completed: "partial",
  failed: "full",
  refunded: "full",
  expired: "full",
  cancelled: "full",
};
