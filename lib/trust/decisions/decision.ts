import type { Role } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import type { Proof } from "@/lib/contracts/approvable-changes";
import { quoted } from "@/lib/trust/proofs/service";

// Requests on which people of a project vote, and the pure rules for counting votes.

const DECISION_STATES = ["open", "approved", "declined", "expired", "cancelled"] as const;
export type DecisionState = (typeof DECISION_STATES)[number];
export type Verdict = "approve" | "decline";

/** Roles that may move money. */
export type ApproverRole = Exclude<Role, "viewer">;

export interface Requirement {
  readonly count: number;
  readonly roles: readonly ApproverRole[];
  /**
   * True when the person who made the request, or who created or rotated the requesting key, may
   * not vote.
   */
  readonly excludeMaker: boolean;
  /** The rules and settings that demand the votes, in words for the voters. */
  readonly demandedBy?: readonly string[];
}

/**
 * The project's setting: the votes that every movement out of the project's managed wallets and
 * accounts needs.
 */
export interface VotingSetting extends Requirement {
  /** Whether an API key that is exempt from codes may move its daily cap without votes. */
  readonly exemptKeys: boolean;
}

/** The object of the request: `{ type: "payout", id: "po_…" }`. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

export interface Vote {
  readonly userId: string;
  readonly decision: Verdict;
  readonly reason: string | null;
  readonly means: Proof;
  readonly createdAt: Date;
}

export interface DecisionRequest {
  readonly projectId: string;
  readonly id: string;
  readonly subject: Subject;
  /** SHA-256 of everything that is approved. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly title: string;
  readonly lines: readonly string[];
  /**
   * Id of the person or API key that made the request, as `actorName` returns it. `makerUserId` is
   * that person, or the person responsible for the key.
   */
  readonly maker: string;
  readonly makerUserId: string;
  /**
   * People who rotated the requesting key and so received a secret of it, except the creator of the
   * key. They count as makers of the request too.
   */
  readonly otherMakers: readonly string[];
  readonly required: Requirement;
  readonly state: DecisionState;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly notifiedAt: Date | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly settledAt: Date | null;
  /**
   * True for a private operation, which only callers with the right to read private operations see.
   */
  readonly private: boolean;
  /** In the order in which they were cast. */
  readonly votes: readonly Vote[];
}

/**
 * The facts about a person that decide whether a vote counts: the current role in the project (null
 * for a non-member) and the verified address.
 */
interface Voter {
  readonly role: Role | null;
  readonly email: string | null;
  /**
   * The mailbox of the verified address (`mailboxOf`); null when there is none. Two users with the
   * same mailbox are one person.
   */
  readonly mailbox: string | null;
}

export type Voters = ReadonlyMap<string, Voter>;

type Rules = Pick<DecisionRequest, "required" | "makerUserId" | "otherMakers">;

export const makersOf = ({
  makerUserId,
  otherMakers,
}: Pick<Rules, "makerUserId" | "otherMakers">): string[] => [makerUserId, ...otherMakers];

/**
 * Identifies the person behind a user: by the mailbox, or by the user when no address is verified.
 */
const personOf = (userId: string, voters: Voters): string =>
  voters.get(userId)?.mailbox ?? userId;

/**
 * Whether the person made the request: as the same user, or as another user with the same mailbox.
 */
const isMaker = (request: Rules, userId: string, voters: Voters): boolean =>
  makersOf(request).some(
    (maker) => maker === userId || personOf(maker, voters) === personOf(userId, voters),
  );

const hasRole = ({ required }: Rules, role: Role | null | undefined): boolean =>
  required.roles.some((allowed) => allowed === role && roleMay(allowed, "money:move"));

/** Why the person's vote does not count; null when it counts. */
export const exclusionOf = (
  request: Rules,
  userId: string,
  voters: Voters,
): "role" | "maker" | null => {
  if (!hasRole(request, voters.get(userId)?.role)) return "role";
  return request.required.excludeMaker && isMaker(request, userId, voters) ? "maker" : null;
};

/** The approvals that count now. Users of one mailbox count once. */
export const countApprovals = (
  request: Rules,
  votes: readonly Vote[],
  voters: Voters,
): number => {
  const persons = votes.flatMap(({ userId, decision }) =>
    decision === "approve" && exclusionOf(request, userId, voters) === null
      ? [personOf(userId, voters)]
      : [],
  );
  return new Set(persons).size;
};

/**
 * The number of people who have one of the `roles` and may vote. Users with the same mailbox are
 * one person.
 */
export const countPeople = (members: Voters, roles: readonly ApproverRole[]): number => {
  const persons = [...members].flatMap(([userId, { role }]) =>
    roles.some((allowed) => allowed === role && roleMay(allowed, "money:move"))
      ? [personOf(userId, members)]
      : [],
  );
  return new Set(persons).size;
};

export type Described = Pick<
  DecisionRequest,
  "id" | "projectId" | "title" | "lines" | "maker" | "expiresAt" | "digest"
>;

export const listed = ({ title, lines }: Described): string[] => [
  title,
  ...lines.map((line) => `- ${line}`),
];

/**
 * Names the maker in a text that is signed. Includes the id, because only the id cannot change.
 */
export const namedMaker = (
  { maker }: Pick<DecisionRequest, "maker">,
  names: ReadonlyMap<string, string>,
): string => {
  const name = names.get(maker);
  return name === undefined ? maker : `${quoted(name)} (${maker})`;
};

/** Names the maker in a mail. */
export const mailedMaker = (
  { maker }: Pick<DecisionRequest, "maker">,
  names: ReadonlyMap<string, string>,
): string => {
  const name = names.get(maker);
  if (name === undefined) return "the service";
  return maker.startsWith("key_") ? `the API key ${quoted(name)}` : quoted(name);
};

/** The lines of the mail with the one-time code. The code is valid for either decision. */
export const codeLines = (request: Described, maker: string): string[] => [
  ...listed(request),
  `Asked for by ${maker}`,
  `Request ${request.id}. The code is good for one vote on it.`,
];

/** The message that the voter's wallet signs (EIP-191). */
export const voteMessage = (
  request: Described,
  {
    verdict,
    publicUrl,
    person,
    maker,
  }: {
    readonly verdict: Verdict;
    readonly publicUrl: string;
    readonly person: string;
    readonly maker: string;
  },
): string =>
  [
    `${publicUrl} asks for your vote. You ${verdict === "approve" ? "APPROVE" : "DECLINE"}:`,
    "",
    ...listed(request),
    "",
    `Asked for by: ${maker}`,
    `Project: ${request.projectId}`,
    `Account: ${person}`,
    `Request: ${request.id}`,
    `Digest: 0x${Buffer.from(request.digest).toString("hex")}`,
    `Expires: ${request.expiresAt.toISOString()}`,
    "",
    "This is one vote on exactly this request. It sends no transaction.",
  ].join("\n");

/** Whether the request is to show the key of a private wallet. */
const isKey = ({ subject }: Pick<DecisionRequest, "subject">): boolean =>
  subject.type === "privacy_wallet";

export const noticeMail = (
  request: Described & Pick<DecisionRequest, "required" | "subject">,
  {
    publicUrl,
    project,
    maker,
  }: { readonly publicUrl: string; readonly project: string; readonly maker: string },
): { readonly subject: string; readonly text: string } => ({
  subject: isKey(request)
    ? "The key of a private wallet waits for your approval"
    : "A payment waits for your approval",
  text: [
    `In the project ${quoted(project)} this waits for approval:`,
    "",
    ...listed(request),
    "",
    `Asked for by: ${maker}`,
    `Approvals needed: ${String(request.required.count)}`,
    `It ends by itself at ${request.expiresAt.toISOString()}; until it is approved ${isKey(request) ? "nobody sees the key" : "no money moves"}.`,
    "",
    `Read it and decide: ${publicUrl}/inbox/${request.id}`,
    "",
    `Choose whether you get this mail in the settings: ${publicUrl}/settings/notifications`,
  ].join("\n"),
});
