/** Votes to approve several requests with one proof, which is bound to exactly this set. */
import { createHash } from "node:crypto";
import type { UserActor } from "@/lib/core/actor";
import { canonicalJson } from "@/lib/core/canonical-json";
import { type DomainError, isDomainError } from "@/lib/core/errors";
import type { CodeChannel, OtpSent } from "@/lib/trust/proofs/service";
import { type DecisionRequest, listed, mailedMaker, namedMaker } from "./decision";
import { castVote } from "./vote";
import {
  type DecisionsDeps,
  type DecisionView,
  loadAll,
  namesIn,
  refuse,
  signerOf,
  viewsOf,
  type VoteInput,
} from "./views";

/**
 * How the person proves the vote. `wallet` mails nothing, because the wallet needs only the
 * message.
 */
export type SetChannel = CodeChannel | "wallet";

export type SetInput = Omit<VoteInput, "decision">;

export interface AskedSet {
  readonly setId: string;
  /** The text that the person's wallet signs in place of a code. */
  readonly message: string;
  /** Null for the channel `wallet`. */
  readonly sent: OtpSent | null;
}

/**
 * The result of one vote of a set. `refusal` is the error of a vote that was not counted, or null.
 */
export interface SetVote {
  readonly view: DecisionView;
  readonly refusal: DomainError | null;
}

interface VoteSet {
  /** Depends only on the ids of the requests, not on their order. */
  readonly id: string;
  /** SHA-256 of the project, and of the id and the digest of each request. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** Sorted by id. */
  readonly requests: readonly DecisionRequest[];
}

const sha256 = (value: unknown): Buffer =>
  createHash("sha256").update(canonicalJson(value)).digest();

const setOf = (projectId: string, requests: readonly DecisionRequest[]): VoteSet => {
  const sorted = requests.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = sorted.map(({ id }) => id);
  const digests = sorted.map(({ digest }) => Buffer.from(digest).toString("hex"));
  return {
    id: `decisions_${sha256(ids).toString("hex")}`,
    digest: new Uint8Array(sha256({ kind: "decisions.approve", projectId, ids, digests })),
    requests: sorted,
  };
};

const counted = (count: number): string => `${String(count)} request${count === 1 ? "" : "s"}`;

type Names = ReadonlyMap<string, string>;

const codeLinesOf = ({ requests }: VoteSet, names: Names): string[] => [
  `Approve ${counted(requests.length)}:`,
  ...requests.flatMap((request, index) => [
    "",
    `${String(index + 1)}. ${listed(request).join("\n")}`,
    `Asked for by ${mailedMaker(request, names)}`,
    `Request ${request.id}`,
  ]),
  "",
  "The code is good for one approval of each of these requests, and for no other set.",
];

/** The message that the voter's wallet signs (EIP-191). */
const signedText = (
  { digest, requests }: VoteSet,
  {
    publicUrl,
    person,
    names,
  }: { readonly publicUrl: string; readonly person: string; readonly names: Names },
): string =>
  [
    `${publicUrl} asks for your votes. You APPROVE ${counted(requests.length)} with one signature:`,
    ...requests.flatMap((request, index) => [
      "",
      `${String(index + 1)}. ${listed(request).join("\n")}`,
      `Asked for by: ${namedMaker(request, names)}`,
      `Request: ${request.id}`,
      `Expires: ${request.expiresAt.toISOString()}`,
    ]),
    "",
    `Project: ${requests[0]?.projectId ?? ""}`,
    `Account: ${person}`,
    `Digest: 0x${Buffer.from(digest).toString("hex")}`,
    "",
    "This is one vote on each of exactly these requests. It sends no transaction.",
  ].join("\n");

const messageOfSet = async (
  deps: DecisionsDeps,
  actor: UserActor,
  { set, names }: { readonly set: VoteSet; readonly names: Names },
): Promise<string> => {
  const { publicUrl } = deps;
  return signedText(set, { publicUrl, names, person: await signerOf(deps, actor) });
};

/** Asks for the proof of a vote on the set; nothing is counted. */
export const askForSet = async (
  deps: DecisionsDeps,
  actor: UserActor,
  { ids, channel }: { readonly ids: readonly string[]; readonly channel: SetChannel },
): Promise<AskedSet> => {
  const requests = await loadAll(deps, actor, ids);
  for (const request of requests) await refuse(deps, actor, request);
  const set = setOf(actor.projectId, requests);
  const names = await namesIn(deps, actor.projectId, requests);
  const message = await messageOfSet(deps, actor, { set, names });
  if (channel === "wallet") return { setId: set.id, message, sent: null };
  const sent = await deps.otp.request({
    actor,
    subjectId: set.id,
    digest: set.digest,
    subject: `Your code to approve ${counted(requests.length)}`,
    lines: codeLinesOf(set, names),
    channel,
  });
  return { setId: set.id, message, sent };
};

/** Runs the work. Returns its DomainError, or null on success; throws any other error. */
const refusalOf = async (work: () => Promise<unknown>): Promise<DomainError | null> => {
  try {
    await work();
    return null;
  } catch (error) {
    if (isDomainError(error)) return error;
    throw error;
  }
};

type Refusals = ReadonlyMap<string, DomainError>;

/**
 * Runs the work for each request, one after another.
 * @returns the error of each request whose work failed, by the id of the request
 * @throws the first error when the work of every request failed
 */
const eachOf = async (
  requests: readonly DecisionRequest[],
  work: (request: DecisionRequest) => Promise<unknown>,
): Promise<Refusals> => {
  const refusals = new Map<string, DomainError>();
  for (const request of requests) {
    const refusal = await refusalOf(() => work(request));
    if (refusal !== null) refusals.set(request.id, refusal);
  }
  const [first] = refusals.values();
  if (first !== undefined && refusals.size === requests.length) throw first;
  return refusals;
};

/**
 * Counts an approval on each request of the set. The proof is checked once, for the whole set, and
 * each vote is then stored in a transaction of its own.
 */
export const voteOnSet = async (
  deps: DecisionsDeps,
  actor: UserActor,
  { ids, input }: { readonly ids: readonly string[]; readonly input: SetInput },
): Promise<readonly SetVote[]> => {
  const { projectId } = actor;
  const requests = await loadAll(deps, actor, ids);
  // The requests are checked before the proof, because a proof cannot be used again after its
  // check.
  const early = await eachOf(requests, async (request) => {
    await refuse(deps, actor, request);
    const { type, id } = request.subject;
    await deps.subjects()[type]?.check?.({ projectId, id });
  });
  const set = setOf(projectId, requests);
  const names = await namesIn(deps, projectId, requests);
  const message = await messageOfSet(deps, actor, { set, names });
  const subject = { id: set.id, digest: set.digest, message, path: "signature" };
  const proven = await deps.approvals.prove(actor, subject, input);
  const { reason = null } = input;
  const vote = { decision: "approve" as const, reason, ...proven };
  const open = requests.filter(({ id }) => !early.has(id));
  const late = await eachOf(open, ({ id }) =>
    deps.database.transaction((tx) =>
      castVote(tx, { actor, projectId, id, vote, now: deps.clock.now() }),
    ),
  );
  const views = await viewsOf(deps, actor, await loadAll(deps, actor, ids));
  return views.map((view) => ({
    view,
    refusal: early.get(view.request.id) ?? late.get(view.request.id) ?? null,
  }));
};
