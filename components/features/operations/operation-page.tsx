"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { AnnotationCard } from "@/components/features/annotations/annotation-card";
import { EvaluationCard } from "@/components/features/policies/evaluation-card";
import { DepositCard } from "@/components/features/deposits/deposit-card";
import { useApiQuery } from "@/components/features/session/use-api";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Alert } from "@/components/ui/alert";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { getOperation, listActivity } from "@/lib/api-client/calls.gen";
import { isPrivateKind } from "@/lib/contracts/privacy-records";
import { ReceiptCard } from "./receipt-card";
import { FlowCard } from "./flow-card";
import { LegCard } from "./leg-card";
import { OperationHeader } from "./operation-header";
import { RawJson } from "./raw-json";
import type { Operation } from "./types";
import { useOperation } from "./use-operation";

/** Legs and receipt stand two in a row. A receipt that no leg stands beside has the memo there, because its labels would be far from their values. */
const isReceiptAlone = ({ deposit, legs }: Operation): boolean => deposit === null && legs.length % 2 === 0;

const MONEY = "The operation continues without this page.";

interface OperationPageProps {
  readonly operationId: string;
}

export const OperationPage = ({ operationId }: OperationPageProps): ReactNode => {
  const { query, events, live } = useOperation(operationId);
  const operation = query.data;
  return (
    <>
      <OperationHeader operationId={operationId} operation={operation} />
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
              You see the last known one. The page tries again automatically. {MONEY}
            </Alert>
          ) : null}
          {isPrivateKind(operation.kind) ? <PrivateNotice operationId={operation.operationId} /> : null}
          {operation.deposit !== null ? (
            <DepositCard deposit={operation.deposit} />
          ) : (
            <>
              <FlowCard operation={operation} events={events} live={live} />
              <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
                {operation.legs.map((leg) => (
                  <LegCard
                    key={leg.id}
                    operationId={operation.operationId}
                    leg={leg}
                    toChainId={operation.quoted.to.chainId}
                    delayed={operation.subStatus === "delayed"}
                    events={events}
                  />
                ))}
                <ReceiptCard operation={operation} />
                {isReceiptAlone(operation) ? <AnnotationCard subjectId={operationId} /> : null}
              </div>
            </>
          )}
          {isReceiptAlone(operation) ? null : <AnnotationCard subjectId={operationId} />}
          <EvaluationCard evaluationId={operation.evaluationId} />
          <RawJson value={operation} />
          <ApiSnippet method={getOperation.method} path={`/operations/${operationId}`} />
        </div>
      )}
    </>
  );
};

/** A private operation is shown whole under its own id, which the list of movements names. */
const PrivateNotice = ({ operationId }: { readonly operationId: string }): ReactNode => {
  const { data } = useApiQuery(listActivity, { query: { q: operationId, limit: 1 } });
  const transferId = data?.data[0]?.transferId ?? null;
  return (
    <Alert title="This operation is private">
      What an observer sees of it and its proofs are on{" "}
      <Link href={transferId === null ? "/private" : `/private/${transferId}`} className="link">
        its private page
      </Link>
      .
    </Alert>
  );
};
