import { describe, expect, test } from "vitest";
import {
  adviceOfProof,
  adviceOfVotes,
  countVotes,
  type Voting,
  votesLinkText,
} from "./approval-advice";

/** Everybody who may look at a request for votes. */
const READERS = {
  "a voter": { mayDecide: true, hasVoted: false, isMaker: false },
  "a voter who has voted": { mayDecide: false, hasVoted: true, isMaker: false },
  "the maker, who is excluded": { mayDecide: false, hasVoted: false, isMaker: true },
  "the maker, who may vote": { mayDecide: true, hasVoted: false, isMaker: true },
  "the maker, who has voted": { mayDecide: false, hasVoted: true, isMaker: true },
  "an observer": { mayDecide: false, hasVoted: false, isMaker: false },
} as const satisfies Record<string, Omit<Voting, "approvals" | "required">>;

const STATES = [
  { approvals: 0, required: 1, votes: "0 of 1 approval so far." },
  { approvals: 0, required: 2, votes: "0 of 2 approvals so far." },
  { approvals: 1, required: 2, votes: "1 of 2 approvals so far." },
] as const;

const BEGINS: Readonly<Record<keyof typeof READERS, string>> = {
  "a voter": "Approve or decline it.",
  "a voter who has voted": "You have voted, and it waits for others.",
  "the maker, who is excluded":
    "You asked for it, so other people have to approve it. You can cancel it.",
  "the maker, who may vote": "Approve or decline it.",
  "the maker, who has voted": "You have voted, and it waits for others.",
  "an observer": "It waits for the people who may approve it.",
};

const CASES = Object.entries(READERS).flatMap(([reader, may]) =>
  STATES.map(({ votes, ...state }) => ({
    reader: reader as keyof typeof READERS,
    votes,
    voting: { ...state, ...may },
  })),
);

describe("advice about a request for votes", () => {
  test.each(CASES)("tells $reader what to do at: $votes", ({ reader, votes, voting }) => {
    expect(adviceOfVotes(voting)).toBe(`${BEGINS[reader]} ${votes}`);
    expect(countVotes(voting)).toBe(votes.slice(0, -1));
  });

  test.each(CASES)("names no code to $reader at: $votes", ({ voting }) => {
    expect(adviceOfVotes(voting)).not.toMatch(/code/i);
  });

  test("only somebody who may vote now is asked to, by the text and by the link", () => {
    for (const { voting } of CASES) {
      expect(adviceOfVotes(voting).startsWith("Approve")).toBe(voting.mayDecide);
      expect(votesLinkText(voting)).toBe(
        voting.mayDecide ? "Approve or decline" : "See the approvals",
      );
    }
  });
});

describe("advice about a movement without a request for votes", () => {
  test.each([
    [{ mayMove: true, needsVotes: false }, /^Approve it with a one-time code/],
    [{ mayMove: false, needsVotes: false }, /^It waits for somebody who may move money/],
    [{ mayMove: true, needsVotes: true }, /^Cancel it and create it again/],
    [{ mayMove: false, needsVotes: true }, /^It cannot be approved any more/],
  ] as const)("for %j", (proving, text) => {
    expect(adviceOfProof(proving)).toMatch(text);
  });
});
