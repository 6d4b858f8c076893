"use client";

import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import {
  approveDecision,
  declineDecision,
  getDecision,
  listDecisions,
  readProjectInbox,
} from "@/lib/api-client/calls.gen";

export type Decision = ResponseOf<typeof getDecision>;
export type Verdict = "approve" | "decline";
/** How a person proves a vote. */
export type VoteMeans = MoneyProof | { readonly signature: string };

export const useDecision = (id: string): UseQueryResult<Decision> =>
  useApiQuery(getDecision, { params: { id } }, { live: true });

/** The open request about an operation or a payout; `isKnown` is false while it is read. */
export const useVotesOn = (
  subjectId: string,
  enabled: boolean,
): { readonly decision: Decision | undefined; readonly isKnown: boolean } => {
  const { data, error } = useApiQuery(listDecisions, { query: { subjectId, state: "open", limit: 1 } }, { enabled });
  return { decision: data?.data[0], isKnown: data !== undefined || error !== null };
};

/** The open request about an operation or a payout; undefined when there is none, or it is not known yet. */
export const useOpenDecision = (subjectId: string, enabled: boolean): Decision | undefined =>
  useVotesOn(subjectId, enabled).decision;

/** Sends the person's vote, and shows the request as it is then. */
export const useVote = (id: string): ((verdict: Verdict, means: VoteMeans) => Promise<Decision>) => {
  const api = useApi();
  const queryClient = useQueryClient();
  return async (verdict, means) => {
    const contract = verdict === "approve" ? approveDecision : declineDecision;
    const decided = await api.call(contract, { params: { id }, body: means });
    queryClient.setQueryData(queryKeyOf(getDecision, { params: { id } }), decided);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(readProjectInbox) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listDecisions) });
    return decided;
  };
};
