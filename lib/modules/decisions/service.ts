/** Votes of several people on one payment: requests are opened by other modules, decided here, and carried on by a job. */
import { givenCode } from "@/lib/contracts/proofs";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import { mayReadPrivate, type Actor, type UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { invalidRequest, notFound, type DomainError, type ErrorCode } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/db/client";
import { sqlOf, sqlOn, type Sql } from "@/lib/db/sql";
import type { ApprovalsService } from "@/lib/modules/approvals/service";
import type { CodeChannel, OtpSent, OtpService } from "@/lib/modules/otp/service";
import {
  exclusionOf,
  makersOf,
  type DecisionRequest,
  type Requirement,
  type Subject,
  type Verdict,
  type Voters,
} from "./decision";
import { decidedAlready, mayNotDecide, needsVotes, noVotesRequested, votedAlready } from "./errors";
import { codeLines, voteMessage } from "./message";
import { cancelDecision, openDecision, type NewDecision } from "./requests";
import {
  findOpenOf,
  findRequest,
  findApproved,
  hasApproved,
  listRequests,
  readRequirement,
  readVoters,
  type RequestFilter,
} from "./repository";
import { castVote, type Proven } from "./vote";

export type { DecisionRequest, DecisionState, Requirement, Subject, Verdict } from "./decision";
export type { NewDecision } from "./requests";
export { cancelDecision };

const TEMPORARY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "chain_unavailable",
  "provider_error",
  "service_unavailable",
  "signing_off",
  "rate_limited",
  "internal_error",
]);

/** Whether carrying a decided object on can succeed later: an outage, and nothing about the object itself. */
const isTemporary = ({ code }: DomainError): boolean => TEMPORARY.has(code);

/** Two of the longest pauses of a failing job: a try so shortly before the end of the object's time may be the last one. */
const LAST_TRY_SECONDS = 600;

/**
 * The failure with which an object ends whose approval could not be carried on. Null: an outage that is waited for, because the object's
 * time is long enough for another try.
 */
export const failureAfter = (
  error: DomainError,
  { expiresAt, now }: { readonly expiresAt: Date | null; readonly now: Date },
): { readonly code: string; readonly message: string; readonly retryable: boolean } | null => {
  const { code, message } = error;
  if (!isTemporary(error)) return { code, message, retryable: false };
  if (expiresAt === null || addSeconds(now, LAST_TRY_SECONDS) < expiresAt) return null;
  return { code, message: `${message} The time of its approval is over. Start it again.`, retryable: true };
};

/** How a request for votes checks and carries on its object. The module of the object, such as operations or payouts, implements it. */
export interface DecisionSubject {
  /** Checks, before an approving vote, that the object could be carried on now. @throws DomainError */
  readonly check?: (subject: { readonly projectId: string; readonly id: string }) => Promise<void>;
  /**
   * Carries the object on or ends it. It may be called again after a crash, so its effect must be a compare-and-set on the object's
   * state. A thrown error is retried by the job.
   */
  readonly onDecided: (decided: Decided) => Promise<void>;
}

export interface Decided {
  readonly projectId: string;
  /** Id of the object. */
  readonly id: string;
  readonly outcome: "approved" | "declined" | "expired";
  readonly request: DecisionRequest;
  /** Whose vote decided; null for a request that has expired. */
  readonly decidedBy: UserActor | null;
}

export interface VoteInput {
  readonly decision: Verdict;
  readonly reason?: string | undefined;
  /** The code that `requestCode` mailed, or the wallet's signature of the message in `messages`. */
  readonly otp?: string | undefined;
  /** In place of the mailed code. */
  readonly totp?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
  readonly signature?: string | undefined;
}

/** A request, and whether the person who reads it may vote on it. */
export interface DecisionView {
  readonly request: DecisionRequest;
  readonly mayDecide: boolean;
  /** The messages that the person's wallet signs; null where the person may not decide, and in lists. */
  readonly messages: Readonly<Record<Verdict, string>> | null;
}

export interface DecisionsDeps {
  readonly database: Database;
  readonly otp: Pick<OtpService, "request" | "consume">;
  readonly approvals: Pick<ApprovalsService, "checkSignature">;
  readonly people: {
    signInWallet(userId: string): Promise<{ readonly address: string } | null>;
  };
  /** By the type of subject. Called long after the composition is complete. */
  readonly subjects: () => Readonly<Record<string, DecisionSubject>>;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** The object is one of a project's; a request about it is found by both. */
interface About {
  readonly projectId: string;
  readonly subject: Subject;
}

export interface DecisionsService {
  /**
   * Opens a request in the caller's transaction, once for each subject and digest. Those who may decide are mailed after the commit.
   * @returns its id
   * @throws DomainError `invalid_state` when a request about the same subject with another digest is open
   */
  open(tx: Tx, input: NewDecision): Promise<string>;
  /** As `open`, for transactions on a connection of the raw pools. */
  openOn(sql: Sql, input: NewDecision): Promise<string>;
  /** The project's setting for what awaits approval; null when the code of one person approves. */
  requirementOf(projectId: string, sql?: Pick<Sql, "query">): Promise<Requirement | null>;
  /** Whether people of the project have approved exactly this. */
  isApproved(projectId: string, subject: Subject, digest: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** The requirement of the approved request about this subject, which its votes have met; null when there is none of this id. */
  approvedBy(
    sql: Pick<Sql, "query">,
    request: { readonly projectId: string; readonly decisionId: string; readonly subject: Subject },
  ): Promise<Requirement | null>;
  /**
   * Refuses to let one person's code approve an object: a request about it is open, or the project demands votes.
   * @throws DomainError `invalid_state`, naming the request in `decisionId`
   */
  refuseCode(about: About): Promise<void>;
  /**
   * Counts the person's vote. The vote that completes the request also stores the job that carries its subject on; one vote to decline
   * ends the request.
   * @throws DomainError `not_found`; `forbidden` for a role or person that may not decide; `invalid_state` when it is decided, has
   *   expired, or the person has voted; `otp_*`, `invalid_signature`, `chain_unavailable`, and what the subject's check throws
   */
  decide(actor: UserActor, id: string, input: VoteInput): Promise<DecisionView>;
  /** The people among them who may vote on the request while it is open. */
  eligible(projectId: string, id: string, userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Mails a code for one vote on the request. @throws DomainError as `decide`; `otp_channel_missing`, `rate_limited`, `provider_error` */
  requestCode(actor: UserActor, id: string, channel?: CodeChannel): Promise<OtpSent>;
  /** @throws DomainError `not_found` */
  get(actor: Actor, id: string): Promise<DecisionView>;
  /** Newest first. @throws DomainError `invalid_request` for a cursor that no list gave */
  list(
    actor: Actor,
    query: RequestFilter & { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<{ readonly data: readonly DecisionView[]; readonly nextCursor: string | null }>;
}

const VERDICTS = ["approve", "decline"] as const;

/** The service of votes: requests about objects of other modules, which `deps.subjects` checks and carries on. */
export const createDecisionsService = (deps: DecisionsDeps): DecisionsService => {
  const { database, clock } = deps;
  const { prisma } = database;
  const reader = sqlOn(database.pool);
  return {
    open: (tx, input) => openDecision(sqlOf(tx), input, clock.now()),
    openOn: (sql, input) => openDecision(sql, input, clock.now()),
    requirementOf: (projectId, sql = reader) => readRequirement(sql, projectId),
    isApproved: (projectId, subject, digest) => hasApproved(prisma, { projectId, subject, digest }),
    approvedBy: findApproved,
    refuseCode: async ({ projectId, subject }) => {
      const open = await findOpenOf(reader, projectId, subject);
      const request = open === null ? null : await findRequest(prisma, { projectId, id: open.id });
      if (request !== null) throw needsVotes(request);
      if ((await readRequirement(reader, projectId)) !== null) throw noVotesRequested();
    },
    eligible: async (projectId, id, userIds) => {
      const request = await findRequest(prisma, { projectId, id });
      if (request?.state !== "open") return new Set();
      const voters = await readVoters(prisma, { projectId, userIds: [...userIds, ...makersOf(request)], lock: false });
      return new Set(userIds.filter((userId) => exclusionOf(request, userId, voters) === null));
    },
    get: async (actor, id) => viewOf(deps, actor, await load(deps, actor, id)),
    list: createList(deps),
    requestCode: async (actor, id, channel) => {
      const request = await load(deps, actor, id);
      await refuse(deps, actor, request);
      return deps.otp.request({
        actor,
        subjectId: request.id,
        digest: request.digest,
        subject: "Your code to vote on a payment",
        lines: codeLines(request),
        channel,
      });
    },
    decide: async (actor, id, input) => {
      const request = await load(deps, actor, id);
      await refuse(deps, actor, request);
      const { projectId, subject } = request;
      if (input.decision === "approve") await deps.subjects()[subject.type]?.check?.({ projectId, id: subject.id });
      const proven = await prove(deps, actor, request, input);
      const { decision, reason = null } = input;
      await database.transaction((tx) =>
        castVote(tx, { actor, id: request.id, projectId, vote: { decision, reason, ...proven }, now: clock.now() }),
      );
      return viewOf(deps, actor, await load(deps, actor, id));
    },
  };
};

const load = async (deps: DecisionsDeps, actor: Actor, id: string): Promise<DecisionRequest> => {
  const { projectId } = actor;
  const request = isId("decision", id) ? await findRequest(deps.database.prisma, { projectId, id }) : null;
  if (request === null || (request.private && !mayReadPrivate(actor))) throw notFound();
  return request;
};

/** The rules that the vote's transaction checks again. @throws DomainError `forbidden`, `invalid_state` */
const refuse = async (deps: DecisionsDeps, actor: UserActor, request: DecisionRequest): Promise<void> => {
  requirePermission(actor, "money:move");
  if (request.state !== "open") throw decidedAlready(request.state);
  if (request.expiresAt <= deps.clock.now()) throw decidedAlready("expired");
  const why = await whyNot(deps, actor, request);
  if (why === "voted") throw votedAlready();
  if (why !== null) throw mayNotDecide(why, request);
};

const votersOf = (
  { database }: DecisionsDeps,
  { projectId, userId }: UserActor,
  requests: readonly DecisionRequest[],
): Promise<Voters> => {
  const userIds = [userId, ...requests.flatMap(makersOf)];
  return readVoters(database.prisma, { projectId, userIds, lock: false });
};

const whyNotBy = (userId: string, request: DecisionRequest, voters: Voters): "role" | "maker" | "voted" | null =>
  request.votes.some((vote) => vote.userId === userId) ? "voted" : exclusionOf(request, userId, voters);

const whyNot = async (deps: DecisionsDeps, actor: UserActor, request: DecisionRequest) =>
  whyNotBy(actor.userId, request, await votersOf(deps, actor, [request]));

const prove = async (
  deps: DecisionsDeps,
  actor: UserActor,
  request: DecisionRequest,
  { decision, signature = "0x", ...codes }: VoteInput,
): Promise<Proven> => {
  const code = givenCode(codes);
  if (code !== undefined) {
    const { otpId, means } = await deps.otp.consume({ actor, subjectId: request.id, digest: request.digest, code });
    return { means, codeId: otpId };
  }
  const message = await messageOf(deps, actor, request, decision);
  await deps.approvals.checkSignature({ userId: actor.userId, message, signature, path: "signature" });
  return { means: "signature", codeId: null };
};

const messageOf = async (
  { people, publicUrl }: DecisionsDeps,
  { userId }: UserActor,
  request: DecisionRequest,
  verdict: Verdict,
): Promise<string> => {
  const wallet = await people.signInWallet(userId);
  if (wallet === null) throw notFound();
  return voteMessage(request, { verdict, publicUrl, person: wallet.address });
};

/** Keys read requests; only people decide. */
const isOpenFor = ({ clock }: DecisionsDeps, actor: Actor, { state, expiresAt }: DecisionRequest): actor is UserActor =>
  actor.type === "user" && state === "open" && expiresAt > clock.now();

const viewOf = async (deps: DecisionsDeps, actor: Actor, request: DecisionRequest): Promise<DecisionView> => {
  if (!isOpenFor(deps, actor, request) || (await whyNot(deps, actor, request)) !== null)
    return { request, mayDecide: false, messages: null };
  const [approve, decline] = await Promise.all(VERDICTS.map((verdict) => messageOf(deps, actor, request, verdict)));
  return { request, mayDecide: true, messages: { approve: approve ?? "", decline: decline ?? "" } };
};

/** Without messages, which would need a read for each request. */
const viewsOf = async (
  deps: DecisionsDeps,
  actor: Actor,
  requests: readonly DecisionRequest[],
): Promise<DecisionView[]> => {
  const open = requests.filter((request) => isOpenFor(deps, actor, request));
  const voters: Voters = actor.type === "user" && open.length > 0 ? await votersOf(deps, actor, open) : new Map();
  return requests.map((request) => {
    const mayDecide = isOpenFor(deps, actor, request) && whyNotBy(actor.userId, request, voters) === null;
    return { request, mayDecide, messages: null };
  });
};

const createList =
  (deps: DecisionsDeps): DecisionsService["list"] =>
  async (actor, { cursor, limit, ...filter }) => {
    if (cursor !== undefined && !isId("decision", cursor))
      throw invalidRequest([{ path: "cursor", message: "is not one that a list gave" }]);
    const { projectId } = actor;
    const seen = { ...filter, withPrivate: mayReadPrivate(actor) };
    const query = { projectId, filter: seen, before: cursor, limit: limit + 1 };
    const rows = await listRequests(deps.database.prisma, query);
    const shown = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
    return { data: await viewsOf(deps, actor, shown), nextCursor };
  };
