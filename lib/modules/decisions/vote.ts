import type { UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import { insertJob } from "@/lib/modules/jobs/service";
import { countApprovals, exclusionOf, makersOf, type DecisionRequest, type Vote } from "./decision";
import { decidedAlready, mayNotDecide, votedAlready } from "./errors";
import { DECIDED_QUEUE, decisionEvent, jobIdOf } from "./requests";
import { insertVote, lockRequest, moveRequest, readVoters } from "./repository";

/** How the person proved the vote. */
export interface Proven {
  readonly means: Vote["means"];
  /** Of the one-time code. */
  readonly codeId: string | null;
}

interface Cast {
  readonly actor: UserActor;
  readonly projectId: string;
  readonly id: string;
  readonly vote: Pick<Vote, "decision" | "reason"> & Proven;
  readonly now: Date;
}

/**
 * Stores a vote, and ends the request when the vote decides it. Votes on one request follow one another; earlier votes count by the
 * roles that their voters have now.
 */
export const castVote = async (tx: Tx, { actor, projectId, id, vote, now }: Cast): Promise<void> => {
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
  const data = { decision, means, subject: request.subject.id, ...(codeId === null ? {} : { codeId }) };
  await recordAudit(tx, { ...doneBy(actor), action: "approval.voted", subject: id, data, at: now });
  if (decision === "decline") return end(tx, request, { as: "declined", by: userId, now });
  const approvals = countApprovals(request, [...request.votes, stored], voters);
  if (approvals >= request.required.count) await end(tx, request, { as: "approved", by: userId, now });
};

/** Ends a request that is locked and open, and stores the job that carries its subject on. */
export const end = async (
  tx: Tx,
  request: DecisionRequest,
  { as, by, now }: { readonly as: "approved" | "declined" | "expired"; readonly by: string | null; readonly now: Date },
): Promise<void> => {
  if (!(await moveRequest(tx, request, { state: as, decidedBy: by, at: now }))) return;
  await recordEvents(tx, [decisionEvent(request, as, now)]);
  const entry = { projectId: request.projectId, actor: by ?? "service", subject: request.id, request: null, at: now };
  await recordAudit(tx, { ...entry, action: `approval.${as}`, data: { subject: request.subject.id } });
  await insertJob(tx, { id: jobIdOf(request, DECIDED_QUEUE), queue: DECIDED_QUEUE, runAt: now });
};
