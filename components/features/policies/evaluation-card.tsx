"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/actor";
import { useApiQuery } from "@/components/features/session/use-api";
import { PublicId } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import type { ResponseOf } from "@/lib/contracts/contract";
import { getPolicyEvaluation } from "@/lib/api-client/calls.gen";
import { DECISION_LOOKS, RuleResults } from "./dry-run/verdict";

interface EvaluationCardProps {
  /** Of an operation or a payout; nothing is shown without one. */
  readonly evaluationId: string | null;
  /** Default: the description of an accepted movement. */
  readonly description?: string;
}

type StoredEvaluation = ResponseOf<typeof getPolicyEvaluation>;

/** The policies' decision about the movement when it was accepted, and the rules that asked for an approval or refused it. */
export const EvaluationCard = ({
  evaluationId,
  description = "The decision when this was accepted.",
}: EvaluationCardProps): ReactNode =>
  evaluationId === null ? null : <Stored id={evaluationId} description={description} />;

const Stored = ({ id, description }: { readonly id: string; readonly description: string }): ReactNode => {
  // An evaluation is never changed.
  const { data, error, isPending, refetch } = useApiQuery(
    getPolicyEvaluation,
    { params: { id } },
    { staleTimeMs: Number.POSITIVE_INFINITY },
  );
  return (
    <Card
      title="Policies"
      description={description}
      actions={
        <Link href="/settings/policies" className={buttonLooks({ size: "sm" })}>
          Open policies
        </Link>
      }
    >
      {isPending ? (
        <LoadingRows what="the evaluation" rows={1} />
      ) : data === undefined ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : (
        <Facts evaluation={data} />
      )}
    </Card>
  );
};

const Facts = ({
  evaluation: { id, subject, decision, code, rules, createdBy, createdAt },
}: {
  readonly evaluation: StoredEvaluation;
}): ReactNode => {
  const { label, tone, icon } = DECISION_LOOKS[decision];
  const isVoted = decision === "allow" && rules.some(({ outcome }) => outcome === "needs_approval");
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
