import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import { toStored } from "@/lib/ports/routing-json";
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

/** The body from which each run's payout is made. */
export type ScheduledRequest = z.output<typeof storedRequest>;

/** Payouts to wallets that are made at given times, once a person has approved them. */
export interface PayoutSchedule {
  readonly projectId: string;
  readonly id: string;
  readonly status: ScheduleStatus;
  readonly chainId: number;
  readonly walletId: string;
  /** The totals of each run, by token. */
  readonly totals: readonly TokenTotal[];
  /** Payments of each run. */
  readonly rows: number;
  readonly reference: string | null;
  readonly startsAt: Date;
  /** Null: it runs once. */
  readonly period: Period | null;
  /** IANA name. */
  readonly timeZone: string;
  /** The last moment at which it may run; null: it runs until it is cancelled. */
  readonly endsAt: Date | null;
  /** Null unless it is active. */
  readonly nextRunAt: Date | null;
  /** SHA-256 of everything that a one-time code approves. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  /** Each run is made in this person's name. */
  readonly approvedBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A schedule with its request, which can have 10,000 rows and is therefore read only where it is needed. */
export interface FullSchedule extends PayoutSchedule {
  readonly request: ScheduledRequest;
}

/** One time at which a schedule is due. */
export interface ScheduleRun {
  readonly projectId: string;
  readonly scheduleId: string;
  readonly scheduledAt: Date;
  readonly status: z.output<typeof runStatus>;
  readonly payoutId: string | null;
  /** Why the run made no payout. */
  readonly failure: RunFailure | null;
}

/** Rows of the tables `payout_schedule` and `payout_schedule_run`. Their columns are parsed here and nowhere else. */
interface ScheduleColumns extends Omit<PayoutSchedule, "status" | "totals" | "period" | "digest"> {
  readonly status: string;
  readonly totals: unknown;
  readonly period: string | null;
  readonly digest: Uint8Array;
}
interface RunColumns extends Omit<ScheduleRun, "status" | "failure"> {
  readonly status: string;
  readonly failure: unknown;
}

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseSchedule = (row: ScheduleColumns): PayoutSchedule => ({
  projectId: row.projectId,
  id: row.id,
  status: scheduleStatus.parse(row.status),
  chainId: row.chainId,
  walletId: row.walletId,
  totals: parseTotals(row.totals),
  rows: row.rows,
  reference: row.reference,
  startsAt: row.startsAt,
  period: storedPeriod.parse(row.period),
  timeZone: row.timeZone,
  endsAt: row.endsAt,
  nextRunAt: row.nextRunAt,
  digest: new Uint8Array(row.digest),
  createdBy: row.createdBy,
  approvedBy: row.approvedBy,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseFullSchedule = (row: ScheduleColumns & { readonly request: unknown }): FullSchedule => ({
  ...parseSchedule(row),
  request: storedRequest.parse(row.request),
});

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseRun = (row: RunColumns): ScheduleRun => ({
  projectId: row.projectId,
  scheduleId: row.scheduleId,
  scheduledAt: row.scheduledAt,
  status: runStatus.parse(row.status),
  payoutId: row.payoutId,
  failure: storedFailure.parse(row.failure),
});

/** The columns that store a schedule. */
export const scheduleColumns = ({ request, totals, ...rest }: FullSchedule) => ({
  ...rest,
  request: toStored(request),
  totals: toStored(totals),
});
