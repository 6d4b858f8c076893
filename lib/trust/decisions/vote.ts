import {
  type Actor,
  actorName,
  otherHolders,
  responsibleUserId,
  type UserActor,
} from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { currentTraceparent } from "@/lib/core/tracing";
import type { Sql } from "@/lib/platform/db/sql";
import { doneBy, recordAudit, recordAuditOn } from "@/lib/news/audit/service";
import { type NewEvent, recordEvents, recordEventsOn } from "@/lib/news/events/service";
import { announceJob, insertJob } from "@/lib/platform/jobs/service";
import {
  countApprovals,
  type DecisionRequest,
  type DecisionState,
  exclusionOf,
  makersOf,
  type Requirement,
  type Subject,
  type Vote,
} from "./decision";
import { decidedAlready, mayNotDecide, otherSubject, votedAlready } from "./errors";
import {
  cancelOf,
  findOpenOf,
  insertRequest,
  insertRequestJob,
  insertVote,
  lockRequest,
  moveRequest,
  readVoters,
} from "./repository";
import type { Proven } from "@/lib/trust/proofs/service";
import { notFound } from "@/lib/core/errors";
import type { Tx } from "@/lib/platform/db/client";

// Opens and closes requests in the transaction of the change that needs them.

export interface NewDecision {
  readonly projectId: string;
  readonly subject: Subject;
  /** SHA-256 of everything that is approved; proofs are bound to it. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly title: string;
  readonly lines: readonly string[];
  readonly maker: Actor;
  readonly required: Requirement;
  readonly expiresAt: Date;
  /** True for a private operation. Default false. */
  readonly private?: boolean;
}

/** The queue that mails about a request and expires it. */
const REQUEST_QUEUE = "decision";
/** The queue that carries out decided requests. */
const DECIDED_QUEUE = "decided";

// Includes the project, because the key of a request consists of project and id, but a job has a
// single id.
const jobIdOf = (
  { projectId, id }: Pick<DecisionRequest, "projectId" | "id">,
  queue: string,
): string => `${projectId}/${id}/${queue}`;

type Told = Pick<
  DecisionRequest,
  "projectId" | "id" | "subject" | "title" | "required" | "expiresAt" | "private"
>;

const decisionEvent = (
  request: Told,
  state: Exclude<DecisionState, "cancelled">,
  at: Date,
): NewEvent => ({
  projectId: request.projectId,
  type: state === "open" ? "approval.requested" : `approval.${state}`,
  objectId: request.id,
  private: request.private,
  data: {
    decisionId: request.id,
    subjectType: request.subject.type,
    subjectId: request.subject.id,
    title: request.title,
    state,
    approvalsRequired: request.required.count,
    expiresAt: request.expiresAt.toISOString(),
  },
  at,
});

/**
 * Opens a request, or returns the open request about the same subject and digest.
 * @returns its id
 * @throws DomainError `invalid_state` when the open request about the subject has another digest
 */
export const openDecision = async (
  sql: Sql,
  input: NewDecision,
  createdAt: Date,
): Promise<string> => {
  const { projectId, subject, digest, maker } = input;
  const id = newId("decision");
  const { private: isPrivate = false } = input;
  const made = {
    maker: actorName(maker),
    makerUserId: responsibleUserId(maker),
    otherMakers: otherHolders(maker),
  };
  if (!(await insertRequest(sql, { ...input, ...made, private: isPrivate, id, createdAt }))) {
    const open = await findOpenOf(sql, projectId, subject);
    if (open === null || !Buffer.from(open.digest).equals(digest)) throw otherSubject();
    return open.id;
  }
  const request = { ...input, id, private: isPrivate };
  await insertRequestJob(sql, {
    id: jobIdOf(request, REQUEST_QUEUE),
    queue: REQUEST_QUEUE,
    runAt: createdAt,
    traceparent: currentTraceparent(),
  });
  announceJob(sql, REQUEST_QUEUE);
  await recordEventsOn(sql, [decisionEvent(request, "open", createdAt)]);
  const data = {
    subject: subject.id,
    approvalsRequired: input.required.count,
    roles: input.required.roles.join(", "),
  };
  await recordAuditOn(sql, {
    ...doneBy(maker),
    action: "approval.requested",
    subject: id,
    data,
    at: createdAt,
  });
  return id;
};

/**
 * Ends the open request about a subject that was cancelled, in the transaction that cancels the
 * subject.
 */
export const cancelDecision = (
  sql: Sql,
  about: { readonly projectId: string; readonly subject: Subject; readonly at: Date },
): Promise<void> => cancelOf(sql, about);

interface Cast {
  readonly actor: UserActor;
  readonly projectId: string;
  readonly id: string;
  readonly vote: Pick<Vote, "decision" | "reason"> & Proven;
  readonly now: Date;
}

/**
 * Stores a vote, and ends the request when the vote decides it. Votes on one request are stored
 * one after another. Earlier votes count by the current roles of their voters.
 */
export const castVote = async (
  tx: Tx,
  { actor, projectId, id, vote, now }: Cast,
): Promise<void> => {
  const request = await lockRequest(tx, { projectId, id });
  if (request === null) throw notFound();
  if (request.state !== "open") throw decidedAlready(request.state);
  if (request.expiresAt <= now) throw decidedAlready("expired");
  const { userId } = actor;
  const userIds = [userId, ...makersOf(request), ...request.votes.map((other) => other.userId)];
  const voters = await readVoters(tx, { projectId, userIds, lock: true });
  const why = exclusionOf(request, userId, voters);
  if (why !== null) throw mayNotDecide(why, request);
  const { decision, means, codeId } = vote;
  const stored = { ...vote, userId, createdAt: now };
  if (!(await insertVote(tx, request, stored))) throw votedAlready();
  const data = {
    decision,
    means,
    subject: request.subject.id,
    ...(codeId === null ? {} : { codeId }),
  };
  await recordAudit(tx, {
    ...doneBy(actor),
    action: "approval.voted",
    subject: id,
    data,
    at: now,
  });
  if (decision === "decline") return end(tx, request, { as: "declined", by: userId, now });
  const approvals = countApprovals(request, [...request.votes, stored], voters);
  if (approvals >= request.required.count)
    await end(tx, request, { as: "approved", by: userId, now });
};

/** Ends a locked, open request, and stores the job that carries the decision out. */
export const end = async (
  tx: Tx,
  request: DecisionRequest,
  {
    as,
    by,
    now,
  }: {
    readonly as: "approved" | "declined" | "expired";
    readonly by: string | null;
    readonly now: Date;
  },
): Promise<void> => {
  if (!(await moveRequest(tx, request, { state: as, decidedBy: by, at: now }))) return;
  await recordEvents(tx, [decisionEvent(request, as, now)]);
  const entry = {
    projectId: request.projectId,
    actor: by ?? "service",
    subject: request.id,
    request: null,
    at: now,
  };
  await recordAudit(tx, {
    ...entry,
    action: `approval.${as}`,
    data: { subject: request.subject.id },
  });
  await insertJob(tx, {
    id: jobIdOf(request, DECIDED_QUEUE),
    queue: DECIDED_QUEUE,
    runAt: now,
  });
};
