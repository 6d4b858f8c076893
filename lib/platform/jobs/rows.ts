import { int, nullable, type RowOf, table, text, time } from "@/lib/platform/db/table";

// Table `job`, as it is read for each purpose.

export const claimedJobs = table({
  id: text,
  queue: text,
  /**
   * W3C Trace Context `traceparent` of the span in which the job was created; null without tracing.
   */
  traceparent: nullable(text),
  /** Consecutive failed turns before this one. */
  failures: int,
});

export type ClaimedJob = RowOf<typeof claimedJobs>;

/** A job that failed too often. No worker claims it until a person resumes it. */
export const parkedJobs = table({
  /** Id of the operation, payout or mail that the job works on. */
  id: text,
  queue: text,
  /** Null for a job of the whole installation, such as a mail. */
  projectId: nullable(text),
  failures: int,
  lastError: nullable(text),
  parkedAt: time,
});

export type ParkedJob = RowOf<typeof parkedJobs>;
