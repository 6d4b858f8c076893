/** Opens and closes requests in the transaction of the change that needs them. */
import { actorName, otherHolders, responsibleUserId, type Actor } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import { currentTraceparent } from "@/lib/core/tracing";
import type { Sql } from "@/lib/db/sql";
import { doneBy, recordAuditOn } from "@/lib/modules/audit/service";
import { recordEventsOn, type NewEvent } from "@/lib/modules/events/service";
import { announceJob } from "@/lib/modules/jobs/service";
import type { DecisionRequest, DecisionState, Requirement, Subject } from "./decision";
import { otherSubject } from "./errors";
import { cancelOf, findOpenOf, insertRequest, insertRequestJob } from "./repository";

export interface NewDecision {
  readonly projectId: string;
  readonly subject: Subject;
  /** SHA-256 of everything that is approved; proofs are bound to it. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** The subject of the approval, in one line. */
  readonly title: string;
  /** Every value that is approved, in words, a line each. */
  readonly lines: readonly string[];
  readonly maker: Actor;
  readonly required: Requirement;
  readonly expiresAt: Date;
  /** About a private operation. Default false. */
  readonly private?: boolean;
}

/** Mails about a request and ends it in time. */
export const REQUEST_QUEUE = "decision";
/** Carries the subject of a decided request on. */
export const DECIDED_QUEUE = "decided";

// A job has only one id, and the key of a request begins with the project.
export const jobIdOf = ({ projectId, id }: Pick<DecisionRequest, "projectId" | "id">, queue: string): string =>
  `${projectId}/${id}/${queue}`;

type Told = Pick<DecisionRequest, "projectId" | "id" | "subject" | "title" | "required" | "expiresAt" | "private">;

export const decisionEvent = (request: Told, state: Exclude<DecisionState, "cancelled">, at: Date): NewEvent => ({
  projectId: request.projectId,
  type: state === "open" ? "approval.requested" : `approval.${state}`,
  objectId: request.id,
  private: request.private,
  data: {
    approvalId: request.id,
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
 * Opens a request, once: an open one about the same subject and digest is returned as it is.
 * @returns its id
 * @throws DomainError `invalid_state` when one about the same subject with another digest is open
 */
export const openDecision = async (sql: Sql, input: NewDecision, createdAt: Date): Promise<string> => {
  const { projectId, subject, digest, maker } = input;
  const id = newId("decision");
  const { private: isPrivate = false } = input;
  const made = { maker: actorName(maker), makerUserId: responsibleUserId(maker), otherMakers: otherHolders(maker) };
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
  const data = { subject: subject.id, approvalsRequired: input.required.count, roles: input.required.roles.join(", ") };
  await recordAuditOn(sql, { ...doneBy(maker), action: "approval.requested", subject: id, data, at: createdAt });
  return id;
};

/** Ends the open request about a subject that was cancelled, in the transaction that cancels the subject. */
export const cancelDecision = (
  sql: Sql,
  about: { readonly projectId: string; readonly subject: Subject; readonly at: Date },
): Promise<void> => cancelOf(sql, about);
