import { DomainError } from "@/lib/core/errors";
import type { DecisionRequest } from "./decision";

const ENDED = {
  approved: "was approved already",
  declined: "was declined already",
  expired: "has expired",
  cancelled: "was cancelled",
} as const;

export const decidedAlready = (state: keyof typeof ENDED): DomainError =>
  new DomainError(
    "invalid_state",
    `This request ${ENDED[state]}, so nobody can decide it any more. Your vote was not counted.`,
  );

export const votedAlready = (): DomainError =>
  new DomainError(
    "invalid_state",
    "You have voted on this request already; each person votes once. Nothing was changed.",
  );

export const otherSubject = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another request about the same object is open. Let it be decided, or cancel the object.",
  );

/** The error when the person's role may not decide the request, or the person made it. */
export const mayNotDecide = (
  why: "role" | "maker",
  { required }: Pick<DecisionRequest, "required">,
): DomainError =>
  new DomainError(
    "forbidden",
    why === "maker"
      ? "You asked for this yourself, so other people have to decide it. Your vote was not counted."
      : `Only members with one of these roles decide this request: ${required.roles.join(", ")}. Your vote was not counted.`,
  );

/** The error when one person tries to approve with a code a payment that needs votes. */
export const needsVotes = ({
  id,
  required,
}: Pick<DecisionRequest, "id" | "required">): DomainError => {
  const people =
    required.count === 1
      ? "another person approves"
      : `${String(required.count)} people approve`;
  return new DomainError(
    "invalid_state",
    `This waits until ${people} in the inbox (POST /approvals/{id}/approve). Nothing was sent.`,
    { extra: { decisionId: id } },
  );
};

/** The error for an object that began to wait for a code before the project demanded votes. */
export const noVotesRequested = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This project approves payments by votes, and nobody was asked for votes on this one. Nothing was sent; cancel it and create it again.",
  );
