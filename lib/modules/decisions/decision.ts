/** Requests that people of a project decide by vote, and the pure rules of counting the votes. */
import type { Role } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import type { ApprovalMeans } from "@/lib/modules/approvals/service";

export const DECISION_STATES = ["open", "approved", "declined", "expired", "cancelled"] as const;
export type DecisionState = (typeof DECISION_STATES)[number];
export type Verdict = "approve" | "decline";

/** Roles that may move money. */
export type ApproverRole = Exclude<Role, "viewer">;

/** How many people must approve, and who may. */
export interface Requirement {
  readonly count: number;
  readonly roles: readonly ApproverRole[];
  /** The person who asked, or who created or rotated the key that asked, may not vote. */
  readonly excludeMaker: boolean;
  /** The rules and settings that demand it, in words, for the voters. */
  readonly demandedBy?: readonly string[];
}

/** The object that is decided about: `{ type: "payout", id: "po_…" }`. */
export interface Subject {
  readonly type: string;
  readonly id: string;
}

export interface Vote {
  readonly userId: string;
  readonly decision: Verdict;
  readonly reason: string | null;
  readonly means: ApprovalMeans;
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
  /** The person or key that asked, as `actorName` gives it, and the person behind it. */
  readonly maker: string;
  readonly makerUserId: string;
  /** Other people who were given a secret of the key that asked. */
  readonly otherMakers: readonly string[];
  readonly required: Requirement;
  readonly state: DecisionState;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly notifiedAt: Date | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly settledAt: Date | null;
  /** About a private operation: shown only to callers who may read private operations. */
  readonly private: boolean;
  /** In the order in which they were given. */
  readonly votes: readonly Vote[];
}

/** The facts about a person that decide whether a vote counts: the present role in the project (null: no member) and the verified address. */
export interface Voter {
  readonly role: Role | null;
  readonly email: string | null;
}

export type Voters = ReadonlyMap<string, Voter>;

type Rules = Pick<DecisionRequest, "required" | "makerUserId" | "otherMakers">;

/** Everybody who may have asked. */
export const makersOf = ({ makerUserId, otherMakers }: Pick<Rules, "makerUserId" | "otherMakers">): string[] => [
  makerUserId,
  ...otherMakers,
];

/** Whether the person made the request: as the same user, or as another user whose codes go to the same address. */
export const isMaker = (request: Rules, userId: string, voters: Voters): boolean => {
  const email = voters.get(userId)?.email ?? null;
  return makersOf(request).some((maker) => maker === userId || (email !== null && email === voters.get(maker)?.email));
};

const hasRole = ({ required }: Rules, role: Role | null | undefined): boolean =>
  required.roles.some((allowed) => allowed === role && roleMay(allowed, "money:move"));

/** Why the person's vote does not count; null when it counts. */
export const exclusionOf = (request: Rules, userId: string, voters: Voters): "role" | "maker" | null => {
  if (!hasRole(request, voters.get(userId)?.role)) return "role";
  return request.required.excludeMaker && isMaker(request, userId, voters) ? "maker" : null;
};

/** The approvals that count now. People whose codes go to the same address count once. */
export const countApprovals = (request: Rules, votes: readonly Vote[], voters: Voters): number => {
  const persons = votes.flatMap(({ userId, decision }) =>
    decision === "approve" && exclusionOf(request, userId, voters) === null
      ? [voters.get(userId)?.email ?? userId]
      : [],
  );
  return new Set(persons).size;
};
