/** Creates the payouts of due schedules. Each run creates one payout, once, also when several instances look for due runs. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, isDomainError, type ErrorCode } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import { readRequest, type RequestDeps } from "../wallets/request";
import type { WalletPayoutsService } from "../wallets/service";
import type { FullSchedule, PayoutSchedule, RunFailure, ScheduleRun } from "./payout-schedule";
import type { SchedulesRepository } from "./repository";
import { ScheduleCancelledError } from "../errors";
import { nextOf, scheduleDigest, timingOf } from "./service";

export interface ScheduleRunsDeps extends RequestDeps {
  readonly repository: SchedulesRepository;
  readonly payouts: Pick<WalletPayoutsService, "createScheduled">;
  readonly projects: Pick<ProjectsService, "list">;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

/** Milliseconds after which a run without a payout counts as missed. A missed run is never paid automatically. */
export const GRACE_MS = 60 * 60 * 1000;
const SCHEDULES_AT_ONCE = 20;
const RUNS_AT_ONCE = 20;
/** The most periods of one schedule that one turn marks as missed; the next turn continues. */
const PERIODS_AT_ONCE = 100;

/** Errors after which the run is tried again, until it is `GRACE_MS` late. */
const TEMPORARY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "chain_unavailable",
  "provider_error",
  "service_unavailable",
  "signing_off",
  "rate_limited",
  "internal_error",
]);

const MISSED: RunFailure = {
  code: "missed",
  message: "The service was not running when this was due. Nothing was paid, and it will not be paid by itself.",
  retryable: false,
};

const CANCELLED: RunFailure = {
  code: "cancelled",
  message: "The schedule was cancelled before this payout was made. Nothing was paid.",
  retryable: false,
};

const entryOf = (
  { projectId, scheduleId, scheduledAt }: Pick<ScheduleRun, "projectId" | "scheduleId" | "scheduledAt">,
  action: "run_missed" | "run_refused",
  failure: RunFailure,
  at: Date,
): AuditEntry => ({
  projectId,
  actor: "system",
  action: `payout_schedule.${action}`,
  subject: scheduleId,
  data: { scheduledAt: scheduledAt.toISOString(), code: failure.code },
  request: null,
  at,
});

/** Replaces an error that is no DomainError, because its text may contain internal details. */
const UNKNOWN = {
  code: "internal_error",
  message: "It could not be made because of an error of the service.",
} as const;

const keyOf = ({ scheduleId, scheduledAt }: ScheduleRun): string =>
  `schedule:${scheduleId}:${scheduledAt.toISOString()}`;

const isLate = (scheduledAt: Date, now: Date): boolean => now.getTime() - scheduledAt.getTime() > GRACE_MS;

/** Claims every run of a schedule that is due. */
const claimDue = async (deps: ScheduleRunsDeps, due: PayoutSchedule, now: Date): Promise<void> => {
  let scheduledAt = due.nextRunAt;
  for (let periods = 0; scheduledAt !== null && scheduledAt <= now && periods < PERIODS_AT_ONCE; periods += 1) {
    const nextRunAt = nextOf(due, scheduledAt);
    // After an outage of several periods only the latest run is made; earlier runs count as missed.
    const missed = isLate(scheduledAt, now) || (nextRunAt !== null && nextRunAt <= now);
    const at = { projectId: due.projectId, scheduleId: due.id, scheduledAt };
    const run = {
      scheduledAt,
      nextRunAt,
      status: missed ? "missed" : "started",
      failure: missed ? MISSED : null,
    } as const;
    const audit = missed ? entryOf(at, "run_missed", MISSED, now) : null;
    if (!(await deps.repository.claim(due, run, audit, now))) return;
    scheduledAt = nextRunAt;
  }
};

/** The person who approved the schedule, with their present role in the project. @throws DomainError `forbidden` */
const approverOf = async (deps: ScheduleRunsDeps, { projectId, approvedBy }: PayoutSchedule): Promise<UserActor> => {
  const memberships = approvedBy === null ? [] : await deps.projects.list(approvedBy);
  const role = memberships.find((each) => each.projectId === projectId)?.role;
  if (approvedBy === null || role === undefined || role === "viewer")
    throw new DomainError("forbidden", "Whoever approved this schedule may not move the project's money any more.");
  return { type: "user", userId: approvedBy, sessionId: "schedule", projectId, role };
};

const pay = async (deps: ScheduleRunsDeps, schedule: FullSchedule, run: ScheduleRun): Promise<void> => {
  const actor = await approverOf(deps, schedule);
  const request = await readRequest(deps, actor, schedule.request);
  if (!Buffer.from(scheduleDigest(request, timingOf(schedule))).equals(schedule.digest))
    throw new DomainError(
      "invalid_state",
      "What would be paid now is not what was approved: create the schedule again.",
    );
  await deps.payouts.createScheduled(actor, request, {
    scheduleId: schedule.id,
    askedBy: schedule.createdBy,
    key: keyOf(run),
    take: (sql, payoutId) => deps.repository.take(sql, run, payoutId),
  });
};

/** Ends a run without a payout. False when the run has a payout or a failure already. */
const end = (
  deps: ScheduleRunsDeps,
  run: ScheduleRun,
  status: "missed" | "refused",
  failure: RunFailure,
): Promise<boolean> =>
  deps.repository.failed(run, { status, failure }, entryOf(run, `run_${status}`, failure, deps.clock.now()));

const fail = async (deps: ScheduleRunsDeps, run: ScheduleRun, error: unknown): Promise<boolean> => {
  if (error instanceof ScheduleCancelledError) return end(deps, run, "refused", CANCELLED);
  const { code, message } = isDomainError(error) ? error : UNKNOWN;
  const isTemporary = TEMPORARY.has(code);
  if (isTemporary && !isLate(run.scheduledAt, deps.clock.now())) return true;
  return end(deps, run, isTemporary ? "missed" : "refused", { code, message, retryable: false });
};

/**
 * Creates the payout of a claimed run, once. The run may have been claimed long ago by an instance that was killed before it created the
 * payout; a run that is late, or whose schedule was cancelled, is not paid.
 */
const make = async (deps: ScheduleRunsDeps, run: ScheduleRun): Promise<void> => {
  const schedule = await deps.repository.find(run.projectId, run.scheduleId);
  if (schedule === null) return;
  if (schedule.status === "cancelled") {
    await end(deps, run, "refused", CANCELLED);
    return;
  }
  if (isLate(run.scheduledAt, deps.clock.now())) {
    await end(deps, run, "missed", MISSED);
    return;
  }
  try {
    await pay(deps, schedule, run);
  } catch (error) {
    const { scheduleId, scheduledAt } = run;
    if (await fail(deps, run, error))
      deps.log.warn({ err: error, scheduleId, scheduledAt }, "a scheduled payout could not be made");
  }
};

/** One turn: claims due runs and creates their payouts. Several instances may take turns at the same time. */
const runDue = async (deps: ScheduleRunsDeps): Promise<void> => {
  const now = deps.clock.now();
  for (const due of await deps.repository.due(now, SCHEDULES_AT_ONCE)) await claimDue(deps, due, now);
  for (const run of await deps.repository.openRuns(RUNS_AT_ONCE)) await make(deps, run);
};

export const createScheduleRuns = (deps: ScheduleRunsDeps) => {
  return { runDue: bindDeps(deps, runDue) };
};
