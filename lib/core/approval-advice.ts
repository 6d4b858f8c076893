/**
 * Texts that tell each reader how a movement that waits for approval can be approved. Pages, the
 * inbox, mails and records all take them from here.
 */

/** How many requests one proof can approve. */
export const DECISIONS_MAX = 50;

/** A request for votes, as one reader sees it. */
export interface Voting {
  /** How many approvals count so far. */
  readonly approvals: number;
  readonly required: number;
  readonly mayDecide: boolean;
  readonly hasVoted: boolean;
  /** Whether the reader asked for the movement. */
  readonly isMaker: boolean;
}

/** @example countVotes({ approvals: 1, required: 2 }) // "1 of 2 approvals so far" */
export const countVotes = ({
  approvals,
  required,
}: Pick<Voting, "approvals" | "required">): string =>
  `${String(approvals)} of ${String(required)} approval${required === 1 ? "" : "s"} so far`;

/** The advice to one reader about a request on which people vote. */
export const adviceOfVotes = (voting: Voting): string => {
  const { mayDecide, hasVoted, isMaker } = voting;
  const votes = `${countVotes(voting)}.`;
  if (mayDecide) return `Approve or decline it. ${votes}`;
  if (hasVoted) return `You have voted, and it waits for others. ${votes}`;
  if (isMaker)
    return `You asked for it, so other people have to approve it. You can cancel it. ${votes}`;
  return `It waits for the people who may approve it. ${votes}`;
};

/** A movement without a request for votes, and one reader of it. */
export interface Proving {
  readonly mayMove: boolean;
  /** True when the project began to demand votes after the movement was created. */
  readonly needsVotes: boolean;
}

/**
 * The advice to one reader about a movement without a request for votes. The code or another proof
 * of one person approves it, unless the project has begun to demand votes.
 */
export const adviceOfProof = ({ mayMove, needsVotes }: Proving): string => {
  if (needsVotes && mayMove)
    return "Cancel it and create it again: this project approves payments by votes now.";
  if (needsVotes)
    return "It cannot be approved any more: this project approves payments by votes now.";
  return mayMove
    ? "Approve it with a one-time code, or cancel it."
    : "It waits for somebody who may move money to approve it.";
};

/** The text of the link to the votes on a movement. */
export const votesLinkText = ({ mayDecide }: Pick<Voting, "mayDecide">): string =>
  mayDecide ? "Approve or decline" : "See the approvals";

/** The advice in a record, which is the same for every reader. */
export const WAITS_FOR_APPROVAL =
  "It waits for its approval: by a one-time code, or by votes where a policy asks for them. It can be cancelled until then.";
