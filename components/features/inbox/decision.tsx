"use client";

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
/** The proof of a vote. */
export type VoteMeans = MoneyProof | { readonly signature: string };

const decisionQuery = (id: string) => apiQuery(getDecision, { params: { id } });

export const useDecision = (id: string): UseQueryResult<Decision> =>
  useLiveQuery(decisionQuery(id));

/** The open request about an operation or a payout; `isKnown` is false while it is read. */
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

/** Sends the person's vote, then shows the updated request. */
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

/** A link from an operation or payout to the request on which people vote. */
export const DecisionLink = ({ id }: { readonly id: string }): ReactNode => (
  <Link href={`/inbox/${id}`} className={buttonLooks({ variant: "primary" })}>
    <Vote aria-hidden /> Waits for votes …
  </Link>
);
