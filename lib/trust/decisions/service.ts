/**
 * Votes of several people on one movement. Other modules open requests, people decide them here,
 * and a job carries the decision out.
 */
import { type Actor, mayReadPrivate, type UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import type { DomainError, ErrorCode } from "@/lib/core/errors";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { type Sql, sqlOf, sqlOn } from "@/lib/platform/db/sql";
import type { CodeChannel, OtpSent } from "@/lib/trust/proofs/service";
import {
  codeLines,
  type DecisionRequest,
  exclusionOf,
  mailedMaker,
  makersOf,
  type Requirement,
  type Subject,
  type VotingSetting,
} from "./decision";
import { needsVotes, noVotesRequested } from "./errors";
import {
  type DecisionsDeps,
  type DecisionView,
  load,
  namesIn,
  messageOf,
  refuse,
  viewOf,
  viewsOf,
  type VoteInput,
} from "./views";
import {
  askForSet,
  type AskedSet,
  type SetChannel,
  type SetInput,
  type SetVote,
  voteOnSet,
} from "./vote-set";
import { cancelDecision, castVote, type NewDecision, openDecision } from "./vote";
import {
  findOpenOf,
  findRequest,
  findApproved,
  findLatest,
  hasApproved,
  listRequests,
  markSettled,
  readRequirement,
  readVoters,
  type RequestFilter,
} from "./repository";

export type {
  DecisionRequest,
  DecisionState,
  Requirement,
  Subject,
  Verdict,
  VotingSetting,
} from "./decision";
export { countPeople, type Voters } from "./decision";
export { lockVoting, readElectorate, readRequirement } from "./repository";
export type { NewDecision } from "./vote";
export type { Decided, DecisionSubject } from "./subject";
export type { DecisionsDeps, DecisionView } from "./views";
export type { SetVote } from "./vote-set";
export { cancelDecision };

const TEMPORARY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "chain_unavailable",
  "provider_error",
  "service_unavailable",
  "signing_off",
  "rate_limited",
  "internal_error",
]);

const isTemporary = ({ code }: DomainError): boolean => TEMPORARY.has(code);

/**
 * A failed try ends the object when less than this time is left until the object expires. It is
 * twice the longest pause of a failing job, so the job might not run again before the object
 * expires.
 */
const LAST_TRY_SECONDS = 600;

/**
 * Final states of a waiting object. `cancelled`: people declined it. `expired`: its time was over.
 * `failed`: people approved it, but a rule or a balance refused it at the start.
 */
export type EndedAwaiting = "cancelled" | "expired" | "failed";

/**
 * Returns the failure that ends an object whose approval cannot be carried out. Null when the error
 * is an outage and enough time is left for another try.
 */
export const failureAfter = (
  error: DomainError,
  { expiresAt, now }: { readonly expiresAt: Date | null; readonly now: Date },
): { readonly code: string; readonly message: string; readonly retryable: boolean } | null => {
  const { code, message } = error;
  if (!isTemporary(error)) return { code, message, retryable: false };
  if (expiresAt === null || addSeconds(now, LAST_TRY_SECONDS) < expiresAt) return null;
  return {
    code,
    message: `${message} The time of its approval is over. Start it again.`,
    retryable: true,
  };
};

interface About {
  readonly projectId: string;
  readonly subject: Subject;
}

export interface DecisionsService {
  /**
   * Opens a request in the caller's transaction, once for each subject and digest. Possible voters
   * are mailed after the commit.
   * @returns its id
   * @throws DomainError `invalid_state` when a request about the same subject with another digest
   * is open
   */
  open(tx: Tx, input: NewDecision): Promise<string>;
  /** Like `open`, for callers that have the transaction as `Sql`. */
  openOn(sql: Sql, input: NewDecision): Promise<string>;
  /** The votes that the project's setting demands; null when the code of one person suffices. */
  requirementOf(projectId: string, sql?: Pick<Sql, "query">): Promise<VotingSetting | null>;
  /** Whether people of the project have approved the subject with exactly this digest. */
  isApproved(
    projectId: string,
    subject: Subject,
    digest: Uint8Array<ArrayBuffer>,
  ): Promise<boolean>;
  /** The newest request about the subject, in any state; null when there is none. */
  latestAbout(about: About, db?: Queryable): Promise<DecisionRequest | null>;
  /**
   * The requirement that the votes of an approved request have met. Null when no approved request
   * has this id and subject.
   */
  approvedBy(
    sql: Pick<Sql, "query">,
    request: {
      readonly projectId: string;
      readonly decisionId: string;
      readonly subject: Subject;
    },
  ): Promise<Requirement | null>;
  /**
   * Records that a decided request was carried out, in the transaction that carries it out. The
   * record prevents a second execution for subjects without a state column that could prevent it.
   * @returns false if the request was carried out before
   */
  settle(tx: Tx, request: Pick<DecisionRequest, "projectId" | "id">): Promise<boolean>;
  /**
   * Refuses to let one person's code approve an object, when a request about it is open or the
   * project demands votes.
   * @throws DomainError `invalid_state`; its `decisionId` names the request when one is open
   */
  refuseCode(about: About): Promise<void>;
  /**
   * Counts the person's vote. The vote that completes the request also stores the job that carries
   * the decision out. One declining vote ends the request.
   * @throws DomainError `not_found`; `forbidden` for a role or person that may not decide;
   * `invalid_state` when the request is decided or has expired, or when the person has voted;
   * `otp_*`, `invalid_signature`, `chain_unavailable`, and the errors of the subject's check
   */
  decide(actor: UserActor, id: string, input: VoteInput): Promise<DecisionView>;
  /** Returns those of `userIds` who may vote on the request while it is open. */
  eligible(
    projectId: string,
    id: string,
    userIds: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /**
   * Mails a code for one vote on the request, or returns the challenge for a passkey.
   * @throws the DomainErrors of `decide`; `otp_channel_missing`, `rate_limited`, `provider_error`
   */
  requestCode(actor: UserActor, id: string, channel?: CodeChannel): Promise<OtpSent>;
  /**
   * Mails a code, or returns the challenge for a passkey, or only the message for the wallet, to
   * approve exactly this set of requests.
   * @throws the DomainErrors of `requestCode`, for the first request on which the person may not
   * vote
   */
  requestSetCode(
    actor: UserActor,
    ids: readonly string[],
    channel?: SetChannel,
  ): Promise<AskedSet>;
  /**
   * Counts the person's approval of each request of the set, with one proof for exactly this set.
   * When the vote on one request is refused, the votes on the others are still counted.
   * @returns one result for each request, in the order of `ids`
   * @throws DomainError `not_found` for an unknown request; the error of the first request when no
   * vote counts; `otp_*`, `invalid_signature`, `chain_unavailable`
   */
  approveSet(
    actor: UserActor,
    ids: readonly string[],
    input: SetInput,
  ): Promise<readonly SetVote[]>;
  /** The request, as the actor sees it. @throws DomainError `not_found` */
  get(actor: Actor, id: string): Promise<DecisionView>;
  /** A page of the project's requests, newest first. */
  list(
    actor: Actor,
    query: RequestFilter & { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<{ readonly data: readonly DecisionView[]; readonly nextCursor: string | null }>;
}

/**
 * The service of votes: requests about objects of other modules, which `deps.subjects` checks and
 * carries out.
 */
export const createDecisionsService = (deps: DecisionsDeps): DecisionsService => {
  const { database, clock } = deps;
  const { prisma } = database;
  const reader = sqlOn(database.pool);
  return {
    open: (tx, input) => openDecision(sqlOf(tx), input, clock.now()),
    openOn: (sql, input) => openDecision(sql, input, clock.now()),
    requirementOf: (projectId, sql = reader) => readRequirement(sql, projectId),
    isApproved: (projectId, subject, digest) =>
      hasApproved(prisma, { projectId, subject, digest }),
    latestAbout: (about, db = prisma) => findLatest(db, about),
    approvedBy: findApproved,
    settle: (tx, request) => markSettled(tx, request, clock.now()),
    refuseCode: async ({ projectId, subject }) => {
      const open = await findOpenOf(reader, projectId, subject);
      const request =
        open === null ? null : await findRequest(prisma, { projectId, id: open.id });
      if (request !== null) throw needsVotes(request);
      if ((await readRequirement(reader, projectId)) !== null) throw noVotesRequested();
    },
    eligible: async (projectId, id, userIds) => {
      const request = await findRequest(prisma, { projectId, id });
      if (request?.state !== "open") return new Set();
      const voters = await readVoters(prisma, {
        projectId,
        userIds: [...userIds, ...makersOf(request)],
        lock: false,
      });
      return new Set(userIds.filter((userId) => exclusionOf(request, userId, voters) === null));
    },
    get: async (actor, id) => viewOf(deps, actor, await load(deps, actor, id)),
    list: createList(deps),
    requestCode: async (actor, id, channel) => {
      const request = await load(deps, actor, id);
      await refuse(deps, actor, request);
      const names = await namesIn(deps, request.projectId, [request]);
      return deps.otp.request({
        actor,
        subjectId: request.id,
        digest: request.digest,
        subject: "Your code to vote on a payment",
        lines: codeLines(request, mailedMaker(request, names)),
        channel,
      });
    },
    requestSetCode: (actor, ids, channel = "email") => askForSet(deps, actor, { ids, channel }),
    approveSet: (actor, ids, input) => voteOnSet(deps, actor, { ids, input }),
    decide: async (actor, id, input) => {
      const request = await load(deps, actor, id);
      await refuse(deps, actor, request);
      const { projectId, subject } = request;
      if (input.decision === "approve")
        await deps.subjects()[subject.type]?.check?.({ projectId, id: subject.id });
      const { decision, reason = null } = input;
      const message = await messageOf(deps, actor, request, decision);
      const voted = { id: request.id, digest: request.digest, message, path: "signature" };
      const proven = await deps.approvals.prove(actor, voted, input);
      await database.transaction((tx) =>
        castVote(tx, {
          actor,
          id: request.id,
          projectId,
          vote: { decision, reason, ...proven },
          now: clock.now(),
        }),
      );
      return viewOf(deps, actor, await load(deps, actor, id));
    },
  };
};

const createList =
  (deps: DecisionsDeps): DecisionsService["list"] =>
  async (actor, { cursor, limit, ...filter }) => {
    const { projectId } = actor;
    const seen = { ...filter, withPrivate: mayReadPrivate(actor) };
    const query = { projectId, filter: seen, before: cursor, limit: limit + 1 };
    const rows = await listRequests(deps.database.prisma, query);
    const shown = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
    return { data: await viewsOf(deps, actor, shown), nextCursor };
  };
