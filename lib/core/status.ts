/** The statuses that operations, transfers, payouts and private operations share. */
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
 * The allowed changes of a status. `pending → failed` is for operations that people approved and a
 * rule refused at the start. `processing → cancelled` is for a payout that sent nothing. One
 * correction is not in this table: a payout that failed because another operation may have paid
 * its rows gets another final status after people have decided about these rows.
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

/** Whether `TRANSITIONS` allows the change from one status to the other. */
export const mayMove = (from: Status, to: Status): boolean =>
  (TRANSITIONS[from] as readonly Status[]).includes(to);

/** Whether the status never changes again. */
export const isFinal = (status: Status): boolean =>
  status !== "pending" && status !== "processing";

/**
 * Whether the operation was approved, but refused at the start by a rule or for lack of balance.
 */
export const isRefusedAtStart = ({
  status,
  subStatus,
}: {
  readonly status: Status;
  readonly subStatus: SubStatus;
}): boolean => status === "failed" && subStatus === "awaiting_approval";
