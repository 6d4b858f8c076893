import type { Role } from "@/lib/core/actor";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import type {
  DecisionRequest as RequestRow,
  DecisionVote as VoteRow,
} from "@/lib/platform/db/generated/client";
import { type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import { mailboxOf } from "@/lib/core/mailbox";
import type {
  ApproverRole,
  DecisionRequest,
  DecisionState,
  Requirement,
  Subject,
  Verdict,
  Vote,
  Voters,
  VotingSetting,
} from "./decision";
import { newRequests, requirements, votingSettings } from "./rows";

const VOTES = { votes: { orderBy: { createdAt: "asc" } } } as const;

// The casts are safe, because CHECK constraints allow only the texts of these types in the columns.
const parseVote = ({ userId, decision, reason, means, createdAt }: VoteRow): Vote => ({
  userId,
  decision: decision as Verdict,
  reason,
  means: means as Vote["means"],
  createdAt,
});

const parseRequest = ({
  votes,
  ...row
}: RequestRow & { votes: VoteRow[] }): DecisionRequest => ({
  projectId: row.projectId,
  id: row.id,
  subject: { type: row.subjectType, id: row.subjectId },
  digest: new Uint8Array(row.digest),
  title: row.title,
  lines: row.lines,
  maker: row.maker,
  makerUserId: row.makerUserId,
  otherMakers: row.otherMakers,
  required: {
    count: row.votesRequired,
    roles: row.roles as ApproverRole[],
    excludeMaker: row.excludeMaker,
    demandedBy: row.demandedBy,
  },
  state: row.state as DecisionState,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  notifiedAt: row.notifiedAt,
  decidedAt: row.decidedAt,
  decidedBy: row.decidedBy,
  settledAt: row.settledAt,
  private: row.private,
  votes: votes.map(parseVote),
});

const MEMBERS_MAX = 1000;

interface Key {
  readonly projectId: string;
  readonly id: string;
}

type NewRequest = Omit<
  DecisionRequest,
  "state" | "notifiedAt" | "decidedAt" | "decidedBy" | "settledAt" | "votes"
>;

/** Returns false when a request about the subject is open already. */
export const insertRequest = async (db: Sql, request: NewRequest): Promise<boolean> => {
  const { subject, required } = request;
  const row = {
    ...request,
    subjectType: subject.type,
    subjectId: subject.id,
    votesRequired: required.count,
    roles: required.roles,
    excludeMaker: required.excludeMaker,
    demandedBy: required.demandedBy ?? [],
  };
  const inserted = await db.change(sql`
    INSERT INTO decision_request (state, ${newRequests.names})
    SELECT 'open', ${newRequests.names} FROM ${newRequests.list([row])} AS request
    ON CONFLICT (project_id, subject_type, subject_id) WHERE state = 'open' DO NOTHING`);
  return inserted === 1;
};

export const insertRequestJob = async (
  db: Sql,
  job: {
    readonly id: string;
    readonly queue: string;
    readonly runAt: Date;
    readonly traceparent: string | null;
  },
): Promise<void> => {
  await db.change(sql`
    INSERT INTO job (id, queue, run_at, traceparent)
    VALUES (${job.id}, ${job.queue}, ${job.runAt}::timestamptz, ${job.traceparent})`);
};

const openRequests = newRequests.pick("id", "digest");

export const findOpenOf = (
  db: Sql,
  projectId: string,
  { type, id }: Subject,
): Promise<RowOf<typeof openRequests> | null> =>
  openRequests.first(
    db,
    sql`
      SELECT ${openRequests.columns("r")} FROM decision_request r
      WHERE r.project_id = ${projectId}
        AND r.subject_type = ${type}
        AND r.subject_id = ${id}
        AND r.state = 'open'`,
  );

/** Cancels the open request about a subject that was cancelled. */
export const cancelOf = async (
  db: Sql,
  { projectId, subject, at }: { projectId: string; subject: Subject; at: Date },
): Promise<void> => {
  await db.change(sql`
    UPDATE decision_request SET
      state = 'cancelled',
      decided_at = ${at}::timestamptz,
      settled_at = ${at}::timestamptz
    WHERE project_id = ${projectId}
      AND subject_type = ${subject.type}
      AND subject_id = ${subject.id}
      AND state = 'open'`);
};

/** The project's setting; null when one person's code suffices. */
export const readRequirement = async (
  db: SqlReader,
  projectId: string,
): Promise<VotingSetting | null> => {
  const setting = await votingSettings.first(
    db,
    sql`
      SELECT approvals_count AS count, approvals_roles AS roles,
        approvals_exclude_maker AS "excludeMaker", approvals_exempt_keys AS "exemptKeys"
      FROM project
      WHERE id = ${projectId}`,
  );
  return setting === null || setting.count === 0 ? null : setting;
};

export const findRequest = async (
  db: Queryable,
  { projectId, id }: Key,
): Promise<DecisionRequest | null> => {
  const row = await db.decisionRequest.findUnique({
    where: { projectId_id: { projectId, id } },
    include: VOTES,
  });
  return row === null ? null : parseRequest(row);
};

/** The project's requests with these ids, in any order. Ids without a request are left out. */
export const findRequests = async (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<DecisionRequest[]> => {
  const rows = await db.decisionRequest.findMany({
    where: { projectId, id: { in: [...ids] } },
    include: VOTES,
  });
  return rows.map(parseRequest);
};

export const findLatest = async (
  db: Queryable,
  { projectId, subject }: { readonly projectId: string; readonly subject: Subject },
): Promise<DecisionRequest | null> => {
  const where = { projectId, subjectType: subject.type, subjectId: subject.id };
  const row = await db.decisionRequest.findFirst({
    where,
    include: VOTES,
    orderBy: { id: "desc" },
  });
  return row === null ? null : parseRequest(row);
};

/** Locks the request, so that votes, expiry and cancelling run one after another. */
export const lockRequest = async (tx: Tx, key: Key): Promise<DecisionRequest | null> => {
  await sqlOf(tx).query(sql`
    SELECT 1 FROM decision_request
    WHERE project_id = ${key.projectId} AND id = ${key.id}
    FOR NO KEY UPDATE`);
  return findRequest(tx, key);
};

export const hasApproved = async (
  db: Queryable,
  {
    projectId,
    subject,
    digest,
  }: { projectId: string; subject: Subject; digest: Uint8Array<ArrayBuffer> },
): Promise<boolean> => {
  const where = {
    projectId,
    subjectType: subject.type,
    subjectId: subject.id,
    digest,
    state: "approved",
  };
  return (await db.decisionRequest.findFirst({ where, select: { id: true } })) !== null;
};

/**
 * The requirement of the approved request about this subject with this id; null when there is none.
 */
export const findApproved = (
  db: SqlReader,
  {
    projectId,
    decisionId,
    subject,
  }: { projectId: string; decisionId: string; subject: Subject },
): Promise<Requirement | null> =>
  requirements.first(
    db,
    sql`
      SELECT votes_required AS count, roles, exclude_maker AS "excludeMaker"
      FROM decision_request
      WHERE project_id = ${projectId}
        AND id = ${decisionId}
        AND subject_type = ${subject.type}
        AND subject_id = ${subject.id}
        AND state = 'approved'`,
  );

export interface RequestFilter {
  readonly state?: DecisionState | undefined;
  readonly subjectType?: string | undefined;
  readonly subjectId?: string | undefined;
  /** False when requests about private operations are left out. Default true. */
  readonly withPrivate?: boolean;
}

/**
 * At most `limit` requests that match `filter`, newest first. With `before`, only requests older
 * than the request with this id.
 */
export const listRequests = async (
  db: Queryable,
  {
    projectId,
    filter,
    before,
    limit,
  }: { projectId: string; filter: RequestFilter; before: string | undefined; limit: number },
): Promise<DecisionRequest[]> => {
  const { state, subjectType, subjectId, withPrivate = true } = filter;
  const rows = await db.decisionRequest.findMany({
    where: {
      projectId,
      ...(state === undefined ? {} : { state }),
      ...(subjectType === undefined ? {} : { subjectType }),
      ...(subjectId === undefined ? {} : { subjectId }),
      ...(withPrivate ? {} : { private: false }),
      ...(before === undefined ? {} : { id: { lt: before } }),
    },
    include: VOTES,
    orderBy: { id: "desc" },
    take: limit,
  });
  return rows.map(parseRequest);
};

/** Returns false when the person has voted already. */
export const insertVote = async (
  tx: Tx,
  key: Key,
  vote: Vote & { readonly codeId: string | null },
): Promise<boolean> => {
  const { projectId, id: requestId } = key;
  const { count } = await tx.decisionVote.createMany({
    data: [{ projectId, requestId, ...vote }],
    skipDuplicates: true,
  });
  return count === 1;
};

/** Ends an open request. Returns false when it is no longer open. */
export const moveRequest = async (
  tx: Tx,
  { projectId, id }: Key,
  to: { readonly state: DecisionState; readonly decidedBy: string | null; readonly at: Date },
): Promise<boolean> => {
  const { state, decidedBy, at: decidedAt } = to;
  const where = { projectId, id, state: "open" };
  const { count } = await tx.decisionRequest.updateMany({
    where,
    data: { state, decidedBy, decidedAt },
  });
  return count === 1;
};

/** Records that the request's notice was stored. Returns false when that happened before. */
export const markNotified = async (
  tx: Tx,
  { projectId, id }: Key,
  at: Date,
): Promise<boolean> => {
  const where = { projectId, id, state: "open", notifiedAt: null };
  return (await tx.decisionRequest.updateMany({ where, data: { notifiedAt: at } })).count === 1;
};

/** Records that a decided request was carried out. Returns false when that happened before. */
export const markSettled = async (
  db: Queryable,
  { projectId, id }: Key,
  at: Date,
): Promise<boolean> => {
  const where = { projectId, id, settledAt: null };
  return (await db.decisionRequest.updateMany({ where, data: { settledAt: at } })).count === 1;
};

/**
 * The roles and addresses of the users `userIds`. With `lock`, changes of their roles wait for the
 * end of the transaction, so that a vote counts by the role at the moment of counting.
 */
export const readVoters = async (
  db: Queryable,
  {
    projectId,
    userIds,
    lock,
  }: {
    readonly projectId: string;
    readonly userIds: readonly string[];
    readonly lock: boolean;
  },
): Promise<Voters> => {
  const ids = [...new Set(userIds)];
  if (lock)
    await sqlOf(db).query(sql`
      SELECT 1 FROM membership
      WHERE project_id = ${projectId} AND user_id = ANY(${ids}::text[])
      ORDER BY user_id FOR SHARE`);
  const users = await db.user.findMany({
    where: { id: { in: ids } },
    select: {
      id: true,
      email: true,
      emailVerifiedAt: true,
      memberships: { where: { projectId }, select: { role: true } },
    },
  });
  return new Map(
    users.map(({ id, email, emailVerifiedAt, memberships }) => [
      id,
      {
        role: (memberships[0]?.role ?? null) as Role | null,
        ...addressOf({ email, emailVerifiedAt }),
      },
    ]),
  );
};

const addressOf = ({
  email,
  emailVerifiedAt,
}: {
  readonly email: string | null;
  readonly emailVerifiedAt: Date | null;
}) =>
  emailVerifiedAt === null || email === null
    ? { email: null, mailbox: null }
    : { email: email.toLowerCase(), mailbox: mailboxOf(email) };

export const readMembers = async (
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<{ readonly name: string; readonly userIds: readonly string[] }> => {
  const project = await db.project.findUniqueOrThrow({
    where: { id: projectId },
    select: {
      name: true,
      memberships: { select: { userId: true }, orderBy: { createdAt: "asc" }, take: limit },
    },
  });
  return { name: project.name, userIds: project.memberships.map(({ userId }) => userId) };
};

const columnsOf = (required: VotingSetting | null) =>
  required === null
    ? {
        approvalsCount: 0,
        approvalsRoles: [],
        approvalsExcludeMaker: true,
        approvalsExemptKeys: false,
      }
    : {
        approvalsCount: required.count,
        approvalsRoles: [...required.roles],
        approvalsExcludeMaker: required.excludeMaker,
        approvalsExemptKeys: required.exemptKeys,
      };

/** Replaces the project's setting. Returns false when the stored setting is no longer `from`. */
export const writeRequirement = async (
  tx: Tx,
  {
    projectId,
    from,
    to,
  }: { projectId: string; from: VotingSetting | null; to: VotingSetting | null },
): Promise<boolean> => {
  const { approvalsRoles, ...before } = columnsOf(from);
  const where = { id: projectId, ...before, approvalsRoles: { equals: approvalsRoles } };
  return (await tx.project.updateMany({ where, data: columnsOf(to) })).count === 1;
};

/**
 * Serialises changes of the project's members, of its setting and of its vote rules until the
 * transaction ends.
 */
export const lockVoting = async (tx: Tx, projectId: string): Promise<void> => {
  await sqlOf(tx).query(sql`SELECT 1 FROM project WHERE id = ${projectId} FOR UPDATE`);
};

export const readElectorate = async (db: Queryable, projectId: string): Promise<Voters> => {
  const { userIds } = await readMembers(db, projectId, MEMBERS_MAX);
  return readVoters(db, { projectId, userIds, lock: false });
};
