"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { AnnotationCard } from "@/components/features/annotations/annotation-card";
import { EvaluationCard } from "@/components/features/policies/evaluation-card";
import { KIND_WORDS } from "@/components/features/overview/latest-activity";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { getOperation } from "@/lib/contracts/operations";
import { isPrivateKind } from "@/lib/contracts/privacy-records";
import { AmountsCard } from "./amounts-card";
import { HoldsCard } from "./holds-card";
import { LegCard } from "./leg-card";
import { OperationHead } from "./operation-head";
import { RawJson } from "./raw-json";
import { useOperation } from "./use-operation";

const MONEY = "The operation goes on without this page.";

interface OperationPageProps {
  readonly operationId: string;
}

export const OperationPage = ({ operationId }: OperationPageProps): ReactNode => {
  const { query, events, live } = useOperation(operationId);
  const operation = query.data;
  return (
    <>
      <PageHeader
        title={operation === undefined ? "Operation" : KIND_WORDS[operation.kind]}
        description={<PublicId value={operationId} full />}
        actions={
          <Link href="/activity" className={buttonLooks()}>
            All activity
          </Link>
        }
      />
      {query.isPending ? (
        <Card flush>
          <LoadingRows what="the operation" rows={6} />
        </Card>
      ) : operation === undefined ? (
        <Card flush>
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        </Card>
      ) : (
        <div className="flex flex-col gap-4">
          {query.isError ? (
            <Alert tone="warning" title="The state could not be refreshed">
              It shows what was known before, and is tried again by itself. {MONEY}
            </Alert>
          ) : null}
          {isPrivateKind(operation.kind) ? (
            <Alert title="This operation is private">
              What an observer sees of it, its proofs and its history are on{" "}
              <Link href="/private" className="link">
                the private page
              </Link>
              .
            </Alert>
          ) : null}
          <OperationHead operation={operation} live={live} />
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
            {operation.legs.map((leg, index) => (
              <LegCard
                key={leg.id}
                operationId={operation.operationId}
                leg={leg}
                title={operation.legs.length === 1 ? "Timeline" : `Part ${index + 1} of ${operation.legs.length}`}
                toChainId={operation.quoted.to.chainId}
                delayed={operation.subStatus === "delayed"}
                events={events}
              />
            ))}
            <AmountsCard operation={operation} wide={operation.legs.length % 2 === 0} />
          </div>
          {operation.outcome.holds.length === 0 ? null : <HoldsCard operation={operation} />}
          <AnnotationCard subjectId={operationId} />
          <EvaluationCard evaluationId={operation.evaluationId} />
          <RawJson value={operation} />
          <ApiSnippet method={getOperation.method} path={`/operations/${operationId}`} />
        </div>
      )}
    </>
  );
};
