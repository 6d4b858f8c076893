"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { Actor } from "@/components/features/names/names";
import { apiQuery } from "@/components/features/session/api-query";
import { PublicId } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { PageHeader } from "@/components/ui/page-header";
import { QueryCard } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { getPolicyEvaluation } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { DECISION_LOOKS, RuleResults } from "./dry-run/verdict";

interface EvaluationCardProps {
  /** The evaluation of an operation or payout; null shows nothing. */
  readonly evaluationId: string | null;
  readonly description?: string;
}

type StoredEvaluation = ResponseOf<typeof getPolicyEvaluation>;

export const EvaluationCard = ({
  evaluationId,
  description = "The decision when this was accepted.",
}: EvaluationCardProps): ReactNode =>
  evaluationId === null ? null : <Stored id={evaluationId} description={description} />;

const Stored = ({
  id,
  description,
}: {
  readonly id: string;
  readonly description: string;
}): ReactNode => {
  // An evaluation never changes.
  const query = useQuery({
    ...apiQuery(getPolicyEvaluation, { params: { id } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <QueryCard
      title="Policies"
      description={description}
      actions={
        <Link href="/settings/policies" className={buttonLooks({ size: "sm" })}>
          Open policies
        </Link>
      }
      flush={false}
      query={query}
      what="the evaluation"
      rows={1}
      compact
    >
      {(data) => <Facts evaluation={data} />}
    </QueryCard>
  );
};

const Facts = ({
  evaluation: { id, subject, decision, code, rules, createdBy, createdAt },
}: {
  readonly evaluation: StoredEvaluation;
}): ReactNode => {
  const { label, tone, icon } = DECISION_LOOKS[decision];
  const isVoted =
    decision === "allow" && rules.some(({ outcome }) => outcome === "needs_approval");
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={tone} icon={icon}>
          {isVoted ? "Allowed after votes" : label}
        </Badge>
        {code === "required" ? <span>A one-time code was asked for.</span> : null}
        <span className="text-sm text-fg-3">
          <Time value={createdAt} />
        </span>
        <span className="ml-auto">
          <PublicId value={id} />
        </span>
      </p>
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-sm text-fg-2">
        <span className="inline-flex items-center gap-1.5">
          Asked for by <Actor id={createdBy} />
        </span>
        {subject === null ? <span>Nothing was stored or sent.</span> : null}
      </p>
      {rules.length === 0 ? (
        <p className="text-fg-2">No limit applied.</p>
      ) : (
        <RuleResults results={rules} label="What each rule said" />
      )}
    </div>
  );
};

export const EvaluationPage = ({ id }: { readonly id: string }): ReactNode => (
  <>
    <PageHeader
      title="Decision of the policies"
      description="Each rule that looked at one movement."
    />
    <EvaluationCard evaluationId={id} description="The decision when this was asked for." />
  </>
);
