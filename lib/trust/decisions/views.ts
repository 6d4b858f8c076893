/** How people see requests: who may vote on which, and what a wallet signs. */
import { type Actor, mayReadPrivate, type UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { requirePermission } from "@/lib/core/permissions";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { ActorNames } from "@/lib/news/audit/service";
import type { Database } from "@/lib/platform/db/client";
import type { ApprovalsService, OtpService } from "@/lib/trust/proofs/service";
import {
  countApprovals,
  type DecisionRequest,
  exclusionOf,
  makersOf,
  namedMaker,
  type Verdict,
  voteMessage,
  type Voters,
} from "./decision";
import { decidedAlready, mayNotDecide, votedAlready } from "./errors";
import { findRequests, readVoters } from "./repository";
import type { DecisionSubject } from "./subject";

export interface DecisionView {
  readonly request: DecisionRequest;
  /** The names of the person or API key that asked, and of the people who voted, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  /** The approvals that count now. */
  readonly approvals: number;
  readonly mayDecide: boolean;
  /**
   * The messages that the person's wallet can sign; null when the person may not decide, and in
   * lists.
   */
  readonly messages: Readonly<Record<Verdict, string>> | null;
}

export interface VoteInput {
  readonly decision: Verdict;
  readonly reason?: string | undefined;
  /**
   * The mailed code. The fields below are other proofs; `signature` is the wallet's signature of
   * the message that names the vote.
   */
  readonly otp?: string | undefined;
  readonly totp?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
  readonly signature?: string | undefined;
}

export interface DecisionsDeps {
  readonly database: Database;
  readonly otp: Pick<OtpService, "request">;
  readonly approvals: Pick<ApprovalsService, "prove">;
  readonly people: {
    signInWallet(userId: string): Promise<{ readonly address: string } | null>;
  };
  readonly actorNames: ActorNames;
  /**
   * Returns the handlers of the objects that people vote on, by the type of the object. It is a
   * function, because the modules that provide the handlers are composed later.
   */
  readonly subjects: () => Readonly<Record<string, DecisionSubject>>;
  readonly publicUrl: string;
  readonly clock: Clock;
}

/** The request with this id. @throws DomainError `not_found` when the caller may not know it */
export const load = async (
  deps: DecisionsDeps,
  actor: Actor,
  id: string,
): Promise<DecisionRequest> => {
  const [request] = await loadAll(deps, actor, [id]);
  if (request === undefined) throw notFound();
  return request;
};

/**
 * The requests with these ids, in the order of the ids.
 * @throws DomainError `not_found` when the caller may not know one of them
 */
export const loadAll = async (
  { database }: DecisionsDeps,
  actor: Actor,
  ids: readonly string[],
): Promise<DecisionRequest[]> => {
  if (!ids.every((id) => isId("decision", id))) throw notFound();
  const found = await findRequests(database.prisma, actor.projectId, ids);
  const known = new Map(
    found
      .filter((request) => !request.private || mayReadPrivate(actor))
      .map((request) => [request.id, request]),
  );
  return ids.map((id) => {
    const request = known.get(id);
    if (request === undefined) throw notFound();
    return request;
  });
};

/**
 * Checks, before a proof is used, whether the person may vote on the request. The transaction that
 * counts the vote checks this again.
 * @throws DomainError `forbidden`, `invalid_state`
 */
export const refuse = async (
  deps: DecisionsDeps,
  actor: UserActor,
  request: DecisionRequest,
): Promise<void> => {
  requirePermission(actor, "money:move");
  if (request.state !== "open") throw decidedAlready(request.state);
  if (request.expiresAt <= deps.clock.now()) throw decidedAlready("expired");
  const why = await whyNot(deps, actor, request);
  if (why === "voted") throw votedAlready();
  if (why !== null) throw mayNotDecide(why, request);
};

const votersOf = (
  { database }: DecisionsDeps,
  { projectId }: Actor,
  { userIds, requests }: Readers,
): Promise<Voters> =>
  readVoters(database.prisma, {
    projectId,
    userIds: [
      ...userIds,
      ...requests.flatMap((request) => [
        ...makersOf(request),
        ...request.votes.map(({ userId }) => userId),
      ]),
    ],
    lock: false,
  });

interface Readers {
  /** People whose right to vote is read. */
  readonly userIds: readonly string[];
  readonly requests: readonly DecisionRequest[];
}

const whyNotBy = (
  userId: string,
  request: DecisionRequest,
  voters: Voters,
): "role" | "maker" | "voted" | null =>
  request.votes.some((vote) => vote.userId === userId)
    ? "voted"
    : exclusionOf(request, userId, voters);

const whyNot = async (deps: DecisionsDeps, actor: UserActor, request: DecisionRequest) => {
  const readers = { userIds: [actor.userId], requests: [request] };
  return whyNotBy(actor.userId, request, await votersOf(deps, actor, readers));
};

/** The address of the wallet with which the person signs votes. */
export const signerOf = async (
  { people }: Pick<DecisionsDeps, "people">,
  { userId }: UserActor,
): Promise<string> => {
  const wallet = await people.signInWallet(userId);
  if (wallet === null) throw notFound();
  return wallet.address;
};

/** The names of the people and API keys that made the requests or voted on them, by their ids. */
export const namesIn = (
  { actorNames }: Pick<DecisionsDeps, "actorNames">,
  projectId: string,
  requests: readonly DecisionRequest[],
): Promise<ReadonlyMap<string, string>> =>
  actorNames.of(
    projectId,
    requests.flatMap(({ maker, votes }) => [maker, ...votes.map(({ userId }) => userId)]),
  );

/** The message with which the person's wallet signs this vote. */
export const messageOf = async (
  deps: DecisionsDeps,
  actor: UserActor,
  request: DecisionRequest,
  verdict: Verdict,
): Promise<string> => {
  const { publicUrl } = deps;
  const [person, names] = await Promise.all([
    signerOf(deps, actor),
    namesIn(deps, request.projectId, [request]),
  ]);
  const maker = namedMaker(request, names);
  return voteMessage(request, { verdict, publicUrl, person, maker });
};

/**
 * Whether the actor is a person and the request still accepts votes. API keys can read requests,
 * but only people decide.
 */
const isOpenFor = (
  { clock }: DecisionsDeps,
  actor: Actor,
  { state, expiresAt }: DecisionRequest,
): actor is UserActor => actor.type === "user" && state === "open" && expiresAt > clock.now();

const VERDICTS = ["approve", "decline"] as const;

/** One request, with the messages to sign if the person may vote. */
export const viewOf = async (
  deps: DecisionsDeps,
  actor: Actor,
  request: DecisionRequest,
): Promise<DecisionView> => {
  const [view] = await viewsOf(deps, actor, [request]);
  if (view === undefined) throw notFound();
  if (!view.mayDecide || actor.type !== "user") return view;
  const [approve = "", decline = ""] = await Promise.all(
    VERDICTS.map((verdict) => messageOf(deps, actor, request, verdict)),
  );
  return { ...view, messages: { approve, decline } };
};

/**
 * The requests as a list shows them. The messages to sign are omitted, because they need one read
 * per request.
 */
export const viewsOf = async (
  deps: DecisionsDeps,
  actor: Actor,
  requests: readonly DecisionRequest[],
): Promise<DecisionView[]> => {
  const userIds = actor.type === "user" ? [actor.userId] : [];
  const [voters, names] = await Promise.all([
    requests.length === 0 ? new Map() : votersOf(deps, actor, { userIds, requests }),
    namesIn(deps, actor.projectId, requests),
  ]);
  return requests.map((request) => ({
    request,
    names,
    approvals: approvalsOf(request, voters),
    mayDecide:
      isOpenFor(deps, actor, request) && whyNotBy(actor.userId, request, voters) === null,
    messages: null,
  }));
};

/**
 * The number of approvals that count. Later changes of the voters' roles do not affect an ended
 * request.
 */
const approvalsOf = (request: DecisionRequest, voters: Voters): number =>
  request.state === "open"
    ? countApprovals(request, request.votes, voters)
    : request.votes.filter(({ decision }) => decision === "approve").length;
