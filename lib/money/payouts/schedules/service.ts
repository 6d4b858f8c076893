/**
 * Schedules of payouts to wallets. People create, approve and cancel schedules here; `runs.ts`
 * creates the payouts that are due.
 */
import type { ScheduleFilter } from "./repository";
import { bindDeps } from "@/lib/core/bind-deps";
import { createHash } from "node:crypto";
import { type Actor, actorName, type UserActor } from "@/lib/core/actor";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError, type ErrorDetail, invalidRequest, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { Database } from "@/lib/platform/db/client";
import {
  idempotencyColumns,
  idempotentRequest,
  type IdempotentRequest,
  requireSameRequest,
} from "@/lib/platform/db/idempotency-keys";
import { doneBy } from "@/lib/news/audit/service";
import type { SessionMadeService } from "@/lib/trust/session-made/service";
import type { AwaitingApproval, CodeProof } from "@/lib/money/authorize/service";
import { rowBefore } from "../errors";
import {
  digestOf,
  readRequest,
  recipientsOf,
  type WalletsRequest,
  type RequestDeps,
  type RequestInput,
} from "../wallets/request";
import type {
  FullSchedule,
  PayoutSchedule,
  ScheduledRequest,
  ScheduleRun,
} from "./payout-schedule";
import type { SchedulesRepository } from "./repository";
import { isTimeZone, nextRunAfter, type Period, type Timing } from "./timing";

const RUNS_SHOWN = 20;
const LINES_MAX = 5;
const YEARS_MAX_MS = 5 * 366 * 24 * 60 * 60 * 1000;

export interface SchedulesDeps extends RequestDeps {
  readonly database: Database;
  readonly sessionMade: Pick<SessionMadeService, "makerOf" | "tellOwners">;
  readonly repository: SchedulesRepository;
  readonly registry: ChainRegistry;
  readonly clock: Clock;
}

export interface NewSchedule extends RequestInput {
  /** The caller's Idempotency-Key; null when the request has none. */
  readonly key: string | null;
  /** The time of the first run, as RFC 3339 text. */
  readonly startsAt: string;
  readonly every?: Period | undefined;
  readonly timeZone: string;
  readonly endsAt?: string | undefined;
}

export interface ScheduleView {
  readonly schedule: PayoutSchedule;
  /** The latest runs, at most `RUNS_SHOWN`, newest first. */
  readonly runs: readonly ScheduleRun[];
}

export interface ScheduleItems {
  readonly schedule: FullSchedule;
  readonly first: number;
  readonly transfers: ScheduledRequest["transfers"];
  readonly nextCursor: string | null;
}

/**
 * Returns the times of a stored schedule in the form that `timing.ts` computes with. The column
 * `period` becomes `every`.
 */
export const timingOf = (
  row: Pick<PayoutSchedule, "startsAt" | "period" | "timeZone" | "endsAt">,
): Timing => ({
  startsAt: row.startsAt,
  every: row.period,
  timeZone: row.timeZone,
  endsAt: row.endsAt,
});

/**
 * SHA-256 of everything that the approval of a schedule covers: the payments of each run, and its
 * times.
 */
export const scheduleDigest = (
  request: WalletsRequest,
  timing: Timing,
): Uint8Array<ArrayBuffer> => {
  const { startsAt, every, timeZone, endsAt } = timing;
  const when = JSON.stringify([
    startsAt.toISOString(),
    every,
    timeZone,
    endsAt?.toISOString() ?? null,
  ]);
  return new Uint8Array(createHash("sha256").update(digestOf(request)).update(when).digest());
};

/**
 * Reads and checks the times of a schedule.
 * @throws DomainError `invalid_request` naming every invalid field
 */
const readTiming = (input: Omit<NewSchedule, "key">, now: Date): Timing => {
  const timing: Timing = {
    startsAt: new Date(input.startsAt),
    every: input.every ?? null,
    timeZone: input.timeZone,
    endsAt: input.endsAt === undefined ? null : new Date(input.endsAt),
  };
  const details: ErrorDetail[] = [];
  if (!isTimeZone(timing.timeZone))
    details.push({
      path: "timeZone",
      message: 'is no time zone; write its IANA name, like "Europe/Berlin"',
    });
  if (timing.startsAt <= now)
    details.push({ path: "startsAt", message: "is not in the future" });
  if (timing.startsAt.getTime() > now.getTime() + YEARS_MAX_MS)
    details.push({ path: "startsAt", message: "is more than five years ahead" });
  if (timing.endsAt !== null && timing.endsAt < timing.startsAt)
    details.push({ path: "endsAt", message: "is before startsAt, so it would never run" });
  if (details.length > 0) throw invalidRequest(details);
  return timing;
};

/**
 * Builds the stored request of a schedule. Replaces token symbols by addresses, so that each run
 * pays the approved token even when a symbol later names another token.
 */
const scheduledRequest = ({
  chainId,
  rows,
  reference,
  fundFrom,
}: WalletsRequest): ScheduledRequest => ({
  chainId,
  transfers: rows.map(({ recipient, token, amountBase, reference: rowReference, note }) => ({
    address: recipient,
    amount: formatAmount(amountBase, token.decimals),
    token: token.address,
    ...(rowReference === null ? {} : { reference: rowReference }),
    ...(note === null ? {} : { note }),
  })),
  ...(reference === null ? {} : { reference }),
  ...(fundFrom === null ? {} : { fundFrom }),
});

const viewOf = async (
  deps: SchedulesDeps,
  schedule: PayoutSchedule,
): Promise<ScheduleView> => ({
  schedule,
  runs: await deps.repository.runs(schedule, RUNS_SHOWN),
});

const find = async (
  deps: SchedulesDeps,
  projectId: string,
  id: string,
): Promise<FullSchedule> => {
  const schedule = isId("payoutSchedule", id)
    ? await deps.repository.find(projectId, id)
    : null;
  if (schedule === null) throw notFound();
  return schedule;
};

const get = async (deps: SchedulesDeps, projectId: string, id: string): Promise<ScheduleView> =>
  viewOf(deps, await find(deps, projectId, id));

/**
 * Reads a page of a schedule's rows, in the order of the request. The cursor is the index of the
 * last row of the previous page.
 * @throws DomainError `not_found`
 */
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
 * Finds the schedule that an earlier request with the same Idempotency-Key created; null when there
 * is none.
 * @throws DomainError `idempotency_mismatch` when the earlier request had different content
 */
const findEarlier = async (
  deps: SchedulesDeps,
  actor: Actor,
  request: IdempotentRequest | null,
): Promise<PayoutSchedule | null> => {
  if (request === null) return null;
  const { projectId } = actor;
  const by = { projectId, createdBy: actorName(actor), idempotencyKey: request.key };
  const found = await deps.repository.findByKey(by);
  if (found !== null) requireSameRequest(found, request);
  return found;
};

interface ScheduleParts {
  readonly request: WalletsRequest;
  readonly timing: Timing;
  readonly warnings: PayoutSchedule["warnings"];
  readonly now: Date;
}

const newSchedule = (
  actor: Actor,
  { request, timing, warnings, now }: ScheduleParts,
): Omit<FullSchedule, "madeBySession" | "idempotencyKey" | "requestDigest"> => ({
  id: newId("payoutSchedule"),
  projectId: actor.projectId,
  status: "awaiting_approval",
  chainId: request.chainId,
  walletId: request.treasury.id,
  request: scheduledRequest(request),
  totals: request.totals,
  warnings,
  rows: request.rows.length,
  reference: request.reference,
  startsAt: timing.startsAt,
  period: timing.every,
  timeZone: timing.timeZone,
  endsAt: timing.endsAt,
  nextRunAt: null,
  digest: scheduleDigest(request, timing),
  createdBy: actorName(actor),
  suspendedAt: null,
  approvedBy: null,
  createdAt: now,
  updatedAt: now,
});

/**
 * Checks every row of a request and stores a schedule, which becomes active when a person approves
 * it. Balances are checked only when a run is due. A request with the same Idempotency-Key returns
 * the first schedule.
 * @throws DomainError as `readRequest` does for the rows; `invalid_request` for the times;
 * `idempotency_mismatch`
 */
const create = async (
  deps: SchedulesDeps,
  actor: Actor,
  { key, ...input }: NewSchedule,
): Promise<ScheduleView> => {
  const call = idempotentRequest(key, input);
  const earlier = await findEarlier(deps, actor, call);
  const request = await readRequest(deps, actor, input);
  if (earlier !== null) return viewOf(deps, earlier);
  const tokens = request.totals.map(({ token }) => token);
  const warnings = await deps.recipients.warnings(recipientsOf(actor, request, tokens));
  const now = deps.clock.now();
  const timing = readTiming(input, now);
  const { projectId } = actor;
  const schedule = {
    ...newSchedule(actor, { request, timing, warnings, now }),
    ...idempotencyColumns(call),
  };
  const { id } = schedule;
  const data = {
    rows: request.rows.length,
    every: timing.every,
    startsAt: timing.startsAt.toISOString(),
  };
  const audit = {
    ...doneBy(actor),
    action: "payout_schedule.created",
    subject: id,
    data,
    at: now,
  };
  const stored = await deps.database.transaction(async (tx) => {
    const made = { ...schedule, madeBySession: await deps.sessionMade.makerOf(tx, actor) };
    if (!(await deps.repository.insert(tx, made, audit))) return null;
    const thing = { kind: "payout_schedule", id, projectId, at: now } as const;
    const lines = linesOf(deps, made);
    await deps.sessionMade.tellOwners(tx, { ...thing, sessionId: made.madeBySession, lines });
    return made;
  });
  const found = stored ?? (await findEarlier(deps, actor, call));
  if (found === null) throw new Error("A schedule was neither stored nor found.");
  return viewOf(deps, found);
};

const list = async (
  deps: SchedulesDeps,
  projectId: string,
  { cursor, limit, ...filter }: ScheduleFilter & { cursor?: string | undefined; limit: number },
): Promise<{ data: ScheduleView[]; nextCursor: string | null }> => {
  const rows = await deps.repository.list({
    projectId,
    filter,
    before: cursor,
    limit: limit + 1,
  });
  const data = await Promise.all(rows.slice(0, limit).map(bindDeps(deps, viewOf)));
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.schedule.id ?? null) : null };
};

const awaiting = async (
  deps: SchedulesDeps,
  projectId: string,
  id: string,
): Promise<FullSchedule> => {
  const schedule = await find(deps, projectId, id);
  if (schedule.status !== "awaiting_approval")
    throw new DomainError(
      "invalid_state",
      "This schedule does not await approval. See its record for how it stands.",
    );
  if (schedule.suspendedAt !== null)
    throw new DomainError(
      "invalid_state",
      "This schedule is suspended, because the session that made it was ended. Restore it first (POST /me/sessions/made/restore), or cancel it.",
    );
  return schedule;
};

const linesOf = (deps: SchedulesDeps, schedule: FullSchedule): string[] => {
  const { name } = deps.registry.get(schedule.chainId);
  const { every, startsAt, timeZone, endsAt } = timingOf(schedule);
  const first = schedule.request.transfers.slice(0, LINES_MAX);
  const rest = schedule.rows - first.length;
  const symbols = new Map<string, string>(
    schedule.totals.map(({ token }) => [token.address, token.symbol]),
  );
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
    ...first.map(
      ({ amount, token, address }) => `${amount} ${symbols.get(token) ?? token} to ${address}`,
    ),
    ...(rest > 0 ? [`and ${String(rest)} more`] : []),
  ];
};

/**
 * Describes a schedule that awaits approval, for the one-time code that approves it. The function
 * `approve` of the result makes the schedule active.
 * @throws DomainError `not_found`; `invalid_state` when the schedule does not await approval or is
 * suspended
 */
const awaitingApproval = async (
  deps: SchedulesDeps,
  actor: UserActor,
  id: string,
): Promise<AwaitingApproval> => {
  const schedule = await awaiting(deps, actor.projectId, id);
  const approve = async ({ codeId, means }: CodeProof): Promise<void> => {
    const audit = {
      ...doneBy(actor),
      action: "payout_schedule.approved",
      subject: id,
      data: { means, codeId },
      at: deps.clock.now(),
    };
    // The start of the schedule may already be in the past, so its first run may be due
    // immediately. This run is paid when it is less than `GRACE_MS` late, and counts as missed
    // otherwise.
    const next = { approvedBy: actor.userId, nextRunAt: schedule.startsAt };
    if (!(await deps.repository.approve(schedule, next, audit)))
      throw new DomainError(
        "invalid_state",
        "This schedule was approved, suspended or cancelled in the meantime. Nothing was changed; read it again.",
      );
  };
  return {
    id: schedule.id,
    digest: schedule.digest,
    title: "Your code to approve scheduled payouts",
    lines: () => linesOf(deps, schedule),
    votedAs: null,
    approve,
  };
};

/**
 * Cancels a schedule. Payouts that earlier runs created are not affected.
 * @throws DomainError `not_found`; `invalid_state` when the schedule has ended
 */
const cancel = async (deps: SchedulesDeps, actor: Actor, id: string): Promise<ScheduleView> => {
  const schedule = await find(deps, actor.projectId, id);
  const audit = {
    ...doneBy(actor),
    action: "payout_schedule.cancelled",
    subject: id,
    at: deps.clock.now(),
  };
  const isCancelled = await deps.repository.cancel(schedule, audit);
  const found = await get(deps, actor.projectId, id);
  // A schedule that is already cancelled is a success too: the caller may repeat a request whose
  // answer was lost.
  if (isCancelled || found.schedule.status === "cancelled") return found;
  throw new DomainError(
    "invalid_state",
    "This schedule has ended. Nothing was changed; create a new one.",
  );
};

/**
 * Creates the service of payout schedules. A schedule creates a payout at each of its times, after
 * one approval for all of them.
 */
export const createSchedulesService = (deps: SchedulesDeps) => ({
  create: bindDeps(deps, create),
  get: bindDeps(deps, get),
  items: bindDeps(deps, items),
  list: bindDeps(deps, list),
  awaiting: bindDeps(deps, awaitingApproval),
  cancel: bindDeps(deps, cancel),
});

/** Returns the time of the first run after `scheduledAt`; null when there is none. */
export const nextOf = (schedule: PayoutSchedule, scheduledAt: Date): Date | null =>
  nextRunAfter(timingOf(schedule), scheduledAt);
