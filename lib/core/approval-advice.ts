/** Texts that tell people how a movement that waits for approval can be approved. */

const approvals = (count: number): string =>
  `${String(count)} approval${count === 1 ? "" : "s"}`;

export interface Voting {
  readonly required: number;
  readonly mayDecide: boolean;
  readonly hasVoted: boolean;
}

/** The advice to one reader about a request on which people vote. */
export const adviceOfVotes = ({ required, mayDecide, hasVoted }: Voting): string => {
  const missing = `It needs ${approvals(required)}.`;
  if (mayDecide) return `Approve or decline it. ${missing}`;
  return hasVoted
    ? `You have voted; it waits for others. ${missing}`
    : `It waits for others. ${missing}`;
};

/** The advice to a reader who may approve with a one-time code. */
export const ADVICE_WITH_PROOF = "Approve it with a one-time code, or cancel it.";

/** The advice to a reader who may not move money, when no vote is needed. */
export const ADVICE_TO_WAIT = "It waits for somebody who may move money to approve it.";

/** The advice in a record, which is the same for every reader. */
export const WAITS_FOR_APPROVAL =
  "It waits for its approval: by a one-time code, or by votes where a policy asks for them. It can be cancelled until then.";
