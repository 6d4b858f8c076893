import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import { recipientWarnings } from "@/lib/contracts/warnings";
import { toStored } from "@/lib/platform/db/codecs";
import type { TokenTotal } from "../wallets/rows";
import { parseTotals, scheduledFundFrom } from "../wallets/wallet-payout";
import type { Period } from "./timing";

const scheduleStatus = z.enum(["awaiting_approval", "active", "ended", "cancelled"]);
const runStatus = z.enum(["started", "missed", "refused"]);
const storedPeriod = z.enum(["day", "week", "month"]).nullable();
const storedFailure = failureRecord.nullable();
const storedRequest = z.object({
  chainId: z.int(),
  transfers: z.array(
    z.object({
      address: z.string(),
      amount: z.string(),
      token: z.string(),
      reference: z.string().optional(),
      note: z.string().optional(),
    }),
  ),
  reference: z.string().optional(),
  fundFrom: scheduledFundFrom,
});

export type ScheduleStatus = z.output<typeof scheduleStatus>;
export type RunFailure = z.output<typeof failureRecord>;

/** The request body from which each run of a schedule creates its payout. */
export type ScheduledRequest = z.output<typeof storedRequest>;

/**
 * A schedule creates payouts to wallets at fixed times. A person approves it once, for all of its
 * runs.
 */
export interface PayoutSchedule {
  readonly projectId: string;
  readonly id: string;
  readonly status: ScheduleStatus;
  readonly chainId: number;
  readonly walletId: string;
  /** The amounts that each run pays, summed by token. */
  readonly totals: readonly TokenTotal[];
  /** Warnings about the recipients when the schedule was created. */
  readonly warnings: z.output<typeof recipientWarnings>;
  readonly rows: number;
  readonly reference: string | null;
  readonly startsAt: Date;
  /** The period between two runs. Null: the schedule runs once. */
  readonly period: Period | null;
  /** IANA name of the time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /**
   * The latest time at which the schedule may run. Null: the schedule runs until it is cancelled.
   */
  readonly endsAt: Date | null;
  /** The time of the next run; null unless the schedule is active. */
  readonly nextRunAt: Date | null;
  /**
   * SHA-256 of everything that the approval covers: the payments of each run, and its times. Each
   * run compares it before it pays.
   */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** The id of the user or API key that created the schedule, from `actorName`. */
  readonly createdBy: string;
  readonly idempotencyKey: string | null;
  /**
   * SHA-256 of the request that created the schedule, to detect a different request with the same
   * key.
   */
  readonly requestDigest: Uint8Array<ArrayBuffer> | null;
  /**
   * The session that created the schedule, until an approval confirms the schedule. When this
   * session is ended, the schedule is suspended. Null after the approval, or when no session sent
   * the request.
   */
  readonly madeBySession: string | null;
  /**
   * The time at which the schedule was suspended, because `madeBySession` was ended. A suspended
   * schedule cannot be approved. Null when the schedule is not suspended.
   */
  readonly suspendedAt: Date | null;
  /**
   * The user who approved the schedule; null before the approval. Each run acts with the rights of
   * this user.
   */
  readonly approvedBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/**
 * A schedule with its request. The request can have 10,000 rows, so it is read only where it is
 * needed.
 */
export interface FullSchedule extends PayoutSchedule {
  readonly request: ScheduledRequest;
}

export interface ScheduleRun {
  readonly projectId: string;
  readonly scheduleId: string;
  readonly scheduledAt: Date;
  readonly status: z.output<typeof runStatus>;
  readonly payoutId: string | null;
  readonly failure: RunFailure | null;
}

/** A row of the table `payout_schedule`, before `parseSchedule`. */
interface ScheduleColumns extends Omit<
  PayoutSchedule,
  "status" | "totals" | "warnings" | "period" | "digest" | "requestDigest"
> {
  readonly status: string;
  readonly totals: unknown;
  readonly warnings: unknown;
  readonly period: string | null;
  readonly digest: Uint8Array;
  readonly requestDigest: Uint8Array | null;
}
/** A row of the table `payout_schedule_run`, before `parseRun`. */
interface RunColumns extends Omit<ScheduleRun, "status" | "failure"> {
  readonly status: string;
  readonly failure: unknown;
}

/**
 * Parses a row of the table `payout_schedule`.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
export const parseSchedule = (row: ScheduleColumns): PayoutSchedule => ({
  ...row,
  status: scheduleStatus.parse(row.status),
  totals: parseTotals(row.totals),
  warnings: recipientWarnings.parse(row.warnings),
  period: storedPeriod.parse(row.period),
  digest: new Uint8Array(row.digest),
  requestDigest: row.requestDigest === null ? null : new Uint8Array(row.requestDigest),
});

/**
 * Parses a schedule together with its request.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
export const parseFullSchedule = (
  row: ScheduleColumns & { readonly request: unknown },
): FullSchedule => ({
  ...parseSchedule(row),
  request: storedRequest.parse(row.request),
});

/**
 * Parses a row of the table `payout_schedule_run`.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
export const parseRun = (row: RunColumns): ScheduleRun => ({
  projectId: row.projectId,
  scheduleId: row.scheduleId,
  scheduledAt: row.scheduledAt,
  status: runStatus.parse(row.status),
  payoutId: row.payoutId,
  failure: storedFailure.parse(row.failure),
});

export const scheduleColumns = ({ request, totals, warnings, ...rest }: FullSchedule) => ({
  ...rest,
  request: toStored(request),
  totals: toStored(totals),
  warnings: toStored(warnings),
});
