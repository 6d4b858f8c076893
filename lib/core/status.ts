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
 * Transitions that are not listed are refused. `processing → cancelled` is used for a payout that sent nothing. One end is corrected: a
 * payout that failed while another operation may have paid its rows gets the end that a decision about them leads to.
 */
export const TRANSITIONS = {
  pending: ["processing", "expired", "cancelled"],
  processing: ["completed", "partially_completed", "failed", "refunded", "cancelled"],
  completed: [],
  partially_completed: [],
  failed: [],
  refunded: [],
  expired: [],
  cancelled: [],
} as const satisfies Record<Status, readonly Status[]>;

/** Whether `TRANSITIONS` allows the change from one state to the other. */
export const mayMove = (from: Status, to: Status): boolean => (TRANSITIONS[from] as readonly Status[]).includes(to);

/** Whether the state never changes again. */
export const isFinal = (status: Status): boolean => status !== "pending" && status !== "processing";

/** The substatus that is shown beside a status whose stored substatus cannot be read, because a later version wrote it. */
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
