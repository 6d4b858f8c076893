"use client";

import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Vote } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { useMe } from "@/components/features/profile/use-me";
import { useMay } from "@/components/features/projects/use-project";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache, useLiveQuery } from "@/components/features/session/use-api";
import { buttonLooks } from "@/components/ui/button-looks";
import {
  approveDecision,
  approveDecisions,
  declineDecision,
  getDecision,
  getPolicies,
  listDecisions,
  readProjectInbox,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { adviceOfProof, adviceOfVotes, votesLinkText } from "@/lib/core/approval-advice";

export type Decision = ResponseOf<typeof getDecision>;
export type Verdict = "approve" | "decline";
export type VoteMeans = MoneyProof | { readonly signature: string };
export type SetVote = ResponseOf<typeof approveDecisions>["data"][number];

const decisionQuery = (id: string) => apiQuery(getDecision, { params: { id } });

export const useDecision = (id: string): UseQueryResult<Decision> =>
  useLiveQuery(decisionQuery(id));

/** The open request about an operation or a payout. `isKnown` is false while it loads. */
export const useVotesOn = (
  subjectId: string,
  enabled: boolean,
): { readonly decision: Decision | undefined; readonly isKnown: boolean } => {
  const { data, error } = useQuery({
    ...apiQuery(listDecisions, { query: { subjectId, state: "open", limit: 1 } }),
    enabled,
  });
  return { decision: data?.data[0], isKnown: data !== undefined || error !== null };
};

interface ApprovalAdviceProps {
  readonly subjectId: string;
  /** Whether people may have to vote on the movement. Default: true. */
  readonly isVotedOn?: boolean;
}

/**
 * Advice to the reader about a movement that waits for approval: whether their proof approves it,
 * whether they may vote, or for whom it waits.
 */
export const ApprovalAdvice = ({
  subjectId,
  isVotedOn = true,
}: ApprovalAdviceProps): ReactNode => {
  const { decision, isKnown } = useVotesOn(subjectId, isVotedOn);
  const { data: policies } = useQuery({ ...apiQuery(getPolicies, {}), enabled: isVotedOn });
  const { data: me } = useMe();
  const mayMove = useMay("money:move");
  if (me === undefined || (isVotedOn && (!isKnown || policies === undefined)))
    return "It waits for its approval.";
  if (decision === undefined)
    return adviceOfProof({ mayMove, needsVotes: isVotedOn && policies?.approvals != null });
  const { required, approvals, mayDecide, requestedBy, votes } = decision;
  return adviceOfVotes({
    approvals,
    required: required.count,
    mayDecide,
    hasVoted: votes.some(({ userId }) => userId === me.id),
    isMaker: requestedBy === me.id,
  });
};

export const useVote = (
  id: string,
): ((verdict: Verdict, means: VoteMeans) => Promise<Decision>) => {
  const api = useApi();
  const cache = useCache();
  return async (verdict, means) => {
    const contract = verdict === "approve" ? approveDecision : declineDecision;
    const decided = await api.call(contract, { params: { id }, body: means });
    cache.set(decisionQuery(id), decided);
    void cache.refresh(readProjectInbox, listDecisions);
    return decided;
  };
};

/** Approves several requests with one proof. Resolves with the result for each request. */
export const useSetVote = (
  ids: readonly string[],
): ((means: VoteMeans) => Promise<readonly SetVote[]>) => {
  const api = useApi();
  const cache = useCache();
  return async (means) => {
    const { data } = await api.call(approveDecisions, { body: { ids: [...ids], ...means } });
    for (const { decision } of data) void cache.refresh(decisionQuery(decision.id));
    void cache.refresh(readProjectInbox, listDecisions);
    return data;
  };
};

/**
 * The link from a movement to its votes. A person who may vote reads another text than the person
 * who made the request.
 */
export const DecisionLink = ({ id }: { readonly id: string }): ReactNode => {
  const mayDecide = useDecision(id).data?.mayDecide ?? false;
  return (
    <Link
      href={`/inbox/${id}`}
      className={buttonLooks({ variant: mayDecide ? "primary" : "secondary" })}
    >
      <Vote aria-hidden /> {votesLinkText({ mayDecide })}
    </Link>
  );
};
