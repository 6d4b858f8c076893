/** Says to a person what they can do about a movement that waits for its approval. */

const approvals = (count: number): string =>
  `${String(count)} approval${count === 1 ? "" : "s"}`;

export interface Voting {
  /** The number of approvals that the request needs. */
  readonly required: number;
  /** Whether the reader may vote now. */
  readonly mayDecide: boolean;
  readonly hasVoted: boolean;
}

/** For one reader of a request on which people vote. */
export const adviceOfVotes = ({ required, mayDecide, hasVoted }: Voting): string => {
  const missing = `It needs ${approvals(required)}.`;
  if (mayDecide) return `Approve or decline it. ${missing}`;
  return hasVoted
    ? `You have voted; it waits for others. ${missing}`
    : `It waits for others. ${missing}`;
};

/** For a reader whose own proof approves it. */
export const ADVICE_WITH_PROOF = "Approve it with a one-time code, or cancel it.";

/** For a reader who may not move money, when nobody votes. */
export const ADVICE_TO_WAIT = "It waits for somebody who may move money to approve it.";

/** For a record, whose text is the same for every reader. */
export const WAITS_FOR_APPROVAL =
  "It waits for its approval: by a one-time code, or by votes where a policy asks for them. It can be cancelled until then.";
