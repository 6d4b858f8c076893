"use client";

import { useMe } from "@/components/features/profile/use-me";
import { useMay } from "@/components/features/projects/use-project";
import { ADVICE_TO_WAIT, ADVICE_WITH_PROOF, adviceOfVotes } from "@/lib/core/approval-advice";
import { Vote } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache, useLiveQuery } from "@/components/features/session/use-api";
import { buttonLooks } from "@/components/ui/button-looks";
import {
  approveDecision,
  declineDecision,
  getDecision,
  listDecisions,
  readProjectInbox,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Decision = ResponseOf<typeof getDecision>;
export type Verdict = "approve" | "decline";
export type VoteMeans = MoneyProof | { readonly signature: string };

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

/**
 * Advice to the reader about a movement that waits for approval: whether their proof approves it,
 * whether they may vote, or for whom it waits.
 */
export const ApprovalAdvice = ({ subjectId }: { readonly subjectId: string }): ReactNode => {
  const { decision, isKnown } = useVotesOn(subjectId, true);
  const { data: me } = useMe();
  const mayMove = useMay("money:move");
  if (!isKnown || me === undefined) return "It waits for its approval.";
  if (decision === undefined) return mayMove ? ADVICE_WITH_PROOF : ADVICE_TO_WAIT;
  const { required, mayDecide, votes } = decision;
  const hasVoted = votes.some(({ userId }) => userId === me.id);
  return adviceOfVotes({ required: required.count, mayDecide, hasVoted });
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

export const DecisionLink = ({ id }: { readonly id: string }): ReactNode => (
  <Link href={`/inbox/${id}`} className={buttonLooks({ variant: "primary" })}>
    <Vote aria-hidden /> See the votes
  </Link>
);
