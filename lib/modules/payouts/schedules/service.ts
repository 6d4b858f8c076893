/** Schedules of payouts to wallets: people create, approve and cancel them here; `runs.ts` makes the payouts that are due. */
import type { GivenCode } from "@/lib/contracts/proofs";
import { bindDeps } from "@/lib/core/bind-deps";
import { createHash } from "node:crypto";
import { actorName, requireScope, type Actor, type UserActor } from "@/lib/core/actor";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest, notFound, type ErrorDetail } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import { doneBy } from "@/lib/modules/audit/service";
import type { CodeChannel, OtpSent, OtpService } from "@/lib/modules/otp/service";
import { badCursor, rowBefore } from "../errors";
import { digestOf, readRequest, type PayoutRequest, type RequestDeps, type RequestInput } from "../wallets/request";
import type { FullSchedule, PayoutSchedule, ScheduledRequest, ScheduleRun } from "./payout-schedule";
import type { SchedulesRepository } from "./repository";
import { isTimeZone, nextRunAfter, type Period, type Timing } from "./timing";

const RUNS_SHOWN = 20;
const LINES_MAX = 5;
const YEARS_MAX_MS = 5 * 366 * 24 * 60 * 60 * 1000;

export interface SchedulesDeps extends RequestDeps {
  readonly repository: SchedulesRepository;
  readonly registry: ChainRegistry;
  readonly otp: OtpService;
  readonly clock: Clock;
}

export interface NewSchedule extends RequestInput {
  /** RFC 3339. */
  readonly startsAt: string;
  readonly every?: Period | undefined;
  readonly timeZone: string;
  readonly endsAt?: string | undefined;
}

export interface ScheduleView {
  readonly schedule: PayoutSchedule;
  /** The latest runs, newest first. */
  readonly runs: readonly ScheduleRun[];
}

/** A page of the rows that each run pays. */
export interface ScheduleItems {
  readonly schedule: FullSchedule;
  /** Index of the page's first row. */
  readonly first: number;
  readonly transfers: ScheduledRequest["transfers"];
  readonly nextCursor: string | null;
}

/** The times of a stored schedule, in the form that computes runs: `period` is `every`. */
export const timingOf = (row: Pick<PayoutSchedule, "startsAt" | "period" | "timeZone" | "endsAt">): Timing => ({
  startsAt: row.startsAt,
  every: row.period,
  timeZone: row.timeZone,
  endsAt: row.endsAt,
});

/** SHA-256 of everything that a one-time code approves: the payments of each run, and its times. */
export const scheduleDigest = (request: PayoutRequest, timing: Timing): Uint8Array<ArrayBuffer> => {
  const { startsAt, every, timeZone, endsAt } = timing;
  const when = JSON.stringify([startsAt.toISOString(), every, timeZone, endsAt?.toISOString() ?? null]);
  return new Uint8Array(createHash("sha256").update(digestOf(request)).update(when).digest());
};

/** Reads and checks the times of a schedule. @throws DomainError `invalid_request` naming every field at fault */
const readTiming = (input: NewSchedule, now: Date): Timing => {
  const timing: Timing = {
    startsAt: new Date(input.startsAt),
    every: input.every ?? null,
    timeZone: input.timeZone,
    endsAt: input.endsAt === undefined ? null : new Date(input.endsAt),
  };
  const details: ErrorDetail[] = [];
  if (!isTimeZone(timing.timeZone))
    details.push({ path: "timeZone", message: 'is no time zone; write its IANA name, like "Europe/Berlin"' });
  if (timing.startsAt <= now) details.push({ path: "startsAt", message: "is not in the future" });
  if (timing.startsAt.getTime() > now.getTime() + YEARS_MAX_MS)
    details.push({ path: "startsAt", message: "is more than five years ahead" });
  if (timing.endsAt !== null && timing.endsAt < timing.startsAt)
    details.push({ path: "endsAt", message: "is before startsAt, so it would never run" });
  if (details.length > 0) throw invalidRequest(details);
  return timing;
};

/** Replaces token symbols by addresses, so that each run pays the approved token even when the symbol later means another one. */
const scheduledRequest = ({ chainId, rows, reference, fundFrom }: PayoutRequest): ScheduledRequest => ({
  chainId,
  transfers: rows.map(({ recipient, token, amountBase, reference: own, note }) => ({
    address: recipient,
    amount: formatAmount(amountBase, token.decimals),
    token: token.address,
    ...(own === null ? {} : { reference: own }),
    ...(note === null ? {} : { note }),
  })),
  ...(reference === null ? {} : { reference }),
  ...(fundFrom === null ? {} : { fundFrom }),
});

const viewOf = async (deps: SchedulesDeps, schedule: PayoutSchedule): Promise<ScheduleView> => ({
  schedule,
  runs: await deps.repository.runs(schedule, RUNS_SHOWN),
});

const find = async (deps: SchedulesDeps, projectId: string, id: string): Promise<FullSchedule> => {
  const schedule = isId("payoutSchedule", id) ? await deps.repository.find(projectId, id) : null;
  if (schedule === null) throw notFound();
  return schedule;
};

const get = async (deps: SchedulesDeps, projectId: string, id: string): Promise<ScheduleView> =>
  viewOf(deps, await find(deps, projectId, id));

/** Rows of a schedule in their order; the cursor is the index of the last row of the page before. @throws DomainError `not_found`, `invalid_request` */
const items = async (
  deps: SchedulesDeps,
  projectId: string,
  id: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<ScheduleItems> => {
  const first = rowBefore(cursor) + 1;
  const schedule = await find(deps, projectId, id);
  const end = first + limit;
  const { transfers } = schedule.request;
  const nextCursor = transfers.length > end ? String(end - 1) : null;
  return { schedule, first, transfers: transfers.slice(first, end), nextCursor };
};

/**
 * Checks every row and stores the schedule, which becomes active after a person approved it. Balances are checked at each run.
 * @throws DomainError as creating a payout to wallets does for its rows; `invalid_request` for its times
 */
const create = async (deps: SchedulesDeps, actor: Actor, input: NewSchedule): Promise<ScheduleView> => {
  const now = deps.clock.now();
  const timing = readTiming(input, now);
  const request = await readRequest(deps, actor, input);
  const { projectId } = actor;
  const id = newId("payoutSchedule");
  const data = { rows: request.rows.length, every: timing.every, startsAt: timing.startsAt.toISOString() };
  const schedule: FullSchedule = {
    id,
    projectId,
    status: "awaiting_approval",
    chainId: request.chainId,
    walletId: request.treasury.id,
    request: scheduledRequest(request),
    totals: request.totals,
    rows: request.rows.length,
    reference: request.reference,
    startsAt: timing.startsAt,
    period: timing.every,
    timeZone: timing.timeZone,
    endsAt: timing.endsAt,
    nextRunAt: null,
    digest: scheduleDigest(request, timing),
    createdBy: actorName(actor),
    approvedBy: null,
    createdAt: now,
    updatedAt: now,
  };
  await deps.repository.insert(schedule, {
    ...doneBy(actor),
    action: "payout_schedule.created",
    subject: id,
    data,
    at: now,
  });
  return { schedule, runs: [] };
};

const list = async (
  deps: SchedulesDeps,
  projectId: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Promise<{ data: ScheduleView[]; nextCursor: string | null }> => {
  if (cursor !== undefined && !isId("payoutSchedule", cursor)) throw badCursor();
  const rows = await deps.repository.list({ projectId, before: cursor, limit: limit + 1 });
  const data = await Promise.all(rows.slice(0, limit).map(bindDeps(deps, viewOf)));
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.schedule.id ?? null) : null };
};

const awaiting = async (deps: SchedulesDeps, projectId: string, id: string): Promise<FullSchedule> => {
  const schedule = await find(deps, projectId, id);
  if (schedule.status !== "awaiting_approval")
    throw new DomainError("invalid_state", "This schedule does not await approval. See its record for how it stands.");
  return schedule;
};

const linesOf = (deps: SchedulesDeps, schedule: FullSchedule): string[] => {
  const { name } = deps.registry.get(schedule.chainId);
  const { every, startsAt, timeZone, endsAt } = timingOf(schedule);
  const first = schedule.request.transfers.slice(0, LINES_MAX);
  const rest = schedule.rows - first.length;
  const symbols = new Map<string, string>(schedule.totals.map(({ token }) => [token.address, token.symbol]));
  return [
    every === null
      ? `Once, at ${startsAt.toISOString()}`
      : `Every ${every} from ${startsAt.toISOString()} (${timeZone})`,
    ...(endsAt === null ? [] : [`Until ${endsAt.toISOString()}`]),
    `You pay on ${name}, in ${String(schedule.rows)} payments each time:`,
    ...schedule.totals.map(
      ({ token, amountBase, rows }) =>
        `${formatAmount(amountBase, token.decimals)} ${token.symbol} in ${String(rows)} of them`,
    ),
    ...first.map(({ amount, token, address }) => `${amount} ${symbols.get(token) ?? token} to ${address}`),
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ];
};

/** Mails a one-time code for the approval. @throws DomainError `insufficient_scope`, `not_found`, `invalid_state`, `otp_channel_missing`, `rate_limited` */
const requestCode = async (deps: SchedulesDeps, actor: Actor, id: string, channel?: CodeChannel): Promise<OtpSent> => {
  requireScope(actor, "payouts:write");
  const schedule = await awaiting(deps, actor.projectId, id);
  return deps.otp.request({
    actor,
    subjectId: schedule.id,
    digest: schedule.digest,
    subject: "Your code to approve scheduled payouts",
    lines: linesOf(deps, schedule),
    channel,
  });
};

/** Approves a schedule with a one-time code. @throws DomainError `not_found`, `invalid_state`, `otp_*` */
const approve = async (deps: SchedulesDeps, actor: UserActor, id: string, code: GivenCode): Promise<ScheduleView> => {
  const schedule = await awaiting(deps, actor.projectId, id);
  const { otpId: codeId, means } = await deps.otp.consume({ actor, subjectId: id, digest: schedule.digest, code });
  const now = deps.clock.now();
  const audit = {
    ...doneBy(actor),
    action: "payout_schedule.approved",
    subject: id,
    data: { means, codeId },
    at: now,
  };
  // The first run may be due already. It is made when it is less than `GRACE_MS` late, and counts as missed otherwise.
  const next = { approvedBy: actor.userId, nextRunAt: schedule.startsAt };
  if (!(await deps.repository.approve(schedule, next, audit)))
    throw new DomainError(
      "invalid_state",
      "This schedule was approved or cancelled in the meantime. Nothing was changed; read it again.",
    );
  return get(deps, actor.projectId, id);
};

/** Cancels a schedule. Payouts of earlier runs are not affected. @throws DomainError `not_found`, `invalid_state` */
const cancel = async (deps: SchedulesDeps, actor: Actor, id: string): Promise<ScheduleView> => {
  const schedule = await find(deps, actor.projectId, id);
  const audit = { ...doneBy(actor), action: "payout_schedule.cancelled", subject: id, at: deps.clock.now() };
  if (!(await deps.repository.cancel(schedule, audit)))
    throw new DomainError(
      "invalid_state",
      "This schedule has ended or was cancelled before. Nothing was changed; create a new one.",
    );
  return get(deps, actor.projectId, id);
};

/** The service of payout schedules: each runs a payout at its times, after one approval of all of them. */
export const createSchedulesService = (deps: SchedulesDeps) => ({
  create: bindDeps(deps, create),
  get: bindDeps(deps, get),
  items: bindDeps(deps, items),
  list: bindDeps(deps, list),
  requestCode: bindDeps(deps, requestCode),
  approve: bindDeps(deps, approve),
  cancel: bindDeps(deps, cancel),
});

/** The first run after `scheduledAt`; null when there is none. */
export const nextOf = (schedule: PayoutSchedule, scheduledAt: Date): Date | null =>
  nextRunAfter(timingOf(schedule), scheduledAt);
