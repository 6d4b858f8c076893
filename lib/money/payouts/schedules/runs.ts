/**
 * Creates the payouts of due schedules. Each run creates at most one payout, even when several
 * instances look for due runs at the same time.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Actor, UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, type ErrorCode, isDomainError } from "@/lib/core/errors";
import type { AuditEntry } from "@/lib/news/audit/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import type { Origin, PayoutRequest } from "../draft";
import { readRequest, type RequestDeps } from "../wallets/request";
import type { FullSchedule, PayoutSchedule, RunFailure, ScheduleRun } from "./payout-schedule";
import type { SchedulesRepository } from "./repository";
import { ScheduleCancelledError } from "../errors";
import { nextOf, scheduleDigest, timingOf } from "./service";

export interface ScheduleRunsDeps extends RequestDeps {
  readonly repository: SchedulesRepository;
  readonly payouts: {
    createPayout(actor: Actor, request: PayoutRequest, origin: Origin): Promise<unknown>;
  };
  readonly projects: Pick<ProjectsService, "list">;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * The delay in milliseconds after which a run without a payout counts as missed. The service never
 * pays a missed run later.
 */
export const GRACE_MS = 60 * 60 * 1000;
const SCHEDULES_AT_ONCE = 20;
const RUNS_AT_ONCE = 20;
/**
 * The maximum number of due runs of one schedule that one turn claims. The next turn continues with
 * the rest.
 */
const PERIODS_AT_ONCE = 100;

/**
 * Codes of errors that may be temporary: the run is tried again until it is `GRACE_MS` late. An
 * error with any other code ends the run.
 */
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
  message:
    "The service was not running when this was due. Nothing was paid, and it will not be paid by itself.",
  retryable: false,
};

const CANCELLED: RunFailure = {
  code: "cancelled",
  message: "The schedule was cancelled before this payout was made. Nothing was paid.",
  retryable: false,
};

const entryOf = (
  {
    projectId,
    scheduleId,
    scheduledAt,
  }: Pick<ScheduleRun, "projectId" | "scheduleId" | "scheduledAt">,
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

/**
 * The failure that is stored instead of the text of an error that is not a DomainError. Callers
 * read the stored failure, and such a text may contain internal details.
 */
const UNKNOWN = {
  code: "internal_error",
  message: "It could not be made because of an error of the service.",
} as const;

const keyOf = ({ scheduleId, scheduledAt }: ScheduleRun): string =>
  `schedule:${scheduleId}:${scheduledAt.toISOString()}`;

const isLate = (scheduledAt: Date, now: Date): boolean =>
  now.getTime() - scheduledAt.getTime() > GRACE_MS;

const claimDue = async (
  deps: ScheduleRunsDeps,
  due: PayoutSchedule,
  now: Date,
): Promise<void> => {
  let scheduledAt = due.nextRunAt;
  for (
    let periods = 0;
    scheduledAt !== null && scheduledAt <= now && periods < PERIODS_AT_ONCE;
    periods += 1
  ) {
    const nextRunAt = nextOf(due, scheduledAt);
    // After an outage of several periods, only the latest due run is paid. The earlier runs count
    // as missed.
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

/**
 * Reads the person who approved the schedule, with their current role in the project.
 * @throws DomainError `forbidden` when this person has left the project or is only a viewer now
 */
const approverOf = async (
  deps: ScheduleRunsDeps,
  { projectId, approvedBy }: PayoutSchedule,
): Promise<UserActor> => {
  const memberships = approvedBy === null ? [] : await deps.projects.list(approvedBy);
  const role = memberships.find((each) => each.projectId === projectId)?.role;
  if (approvedBy === null || role === undefined || role === "viewer")
    throw new DomainError(
      "forbidden",
      "The person who approved this schedule may not move the project's money any more. Nothing was paid. Cancel this schedule, then create it again.",
    );
  return { type: "user", userId: approvedBy, sessionId: "schedule", projectId, role };
};

const pay = async (
  deps: ScheduleRunsDeps,
  schedule: FullSchedule,
  run: ScheduleRun,
): Promise<void> => {
  const actor = await approverOf(deps, schedule);
  const request = await readRequest(deps, actor, schedule.request);
  if (!Buffer.from(scheduleDigest(request, timingOf(schedule))).equals(schedule.digest))
    throw new DomainError(
      "invalid_state",
      "What would be paid now is not what was approved. Nothing was paid. Cancel this schedule, then create it again.",
    );
  const { projectId, scheduleId, scheduledAt } = run;
  await deps.payouts.createPayout(actor, request, {
    key: keyOf(run),
    retryOf: null,
    run: { projectId, scheduleId, scheduledAt, askedBy: schedule.createdBy },
    // Duplicates are allowed, because a schedule repeats its payments by design.
    allowDuplicates: true,
  });
};

/** Ends a run without a payout. Returns false when the run already has a payout or a failure. */
const end = (
  deps: ScheduleRunsDeps,
  run: ScheduleRun,
  status: "missed" | "refused",
  failure: RunFailure,
): Promise<boolean> =>
  deps.repository.failed(
    run,
    { status, failure },
    entryOf(run, `run_${status}`, failure, deps.clock.now()),
  );

const fail = async (
  deps: ScheduleRunsDeps,
  run: ScheduleRun,
  error: unknown,
): Promise<boolean> => {
  if (error instanceof ScheduleCancelledError) return end(deps, run, "refused", CANCELLED);
  const { code, message } = isDomainError(error) ? error : UNKNOWN;
  const isTemporary = TEMPORARY.has(code);
  if (isTemporary && !isLate(run.scheduledAt, deps.clock.now())) return true;
  return end(deps, run, isTemporary ? "missed" : "refused", {
    code,
    message,
    retryable: false,
  });
};

/**
 * Creates the payout of a claimed run. An instance may have claimed the run long ago and stopped
 * before it created the payout. So a run is not paid when it is late, or when its schedule was
 * cancelled in the meantime.
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
      deps.log.warn(
        { err: error, scheduleId, scheduledAt },
        "a scheduled payout could not be made",
      );
  }
};

/**
 * Runs one turn: claims due runs and creates their payouts. Several instances may run turns at the
 * same time, because only one of them can claim a run.
 */
const runDue = async (deps: ScheduleRunsDeps): Promise<void> => {
  const now = deps.clock.now();
  for (const due of await deps.repository.due(now, SCHEDULES_AT_ONCE))
    await claimDue(deps, due, now);
  for (const run of await deps.repository.openRuns(RUNS_AT_ONCE)) await make(deps, run);
};

export const createScheduleRuns = (deps: ScheduleRunsDeps) => {
  return { runDue: bindDeps(deps, runDue) };
};
