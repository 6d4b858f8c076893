"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { OPERATION_WORDS } from "@/lib/core/operation-words";
import { useActorInSentence, useNames } from "@/components/features/names/use-names";
import { PublicId } from "@/components/ui/address";
import { buttonLooks } from "@/components/ui/button-looks";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { operationTitle } from "./operation-title";
import type { Operation } from "./types";

interface OperationHeaderProps {
  readonly operationId: string;
  /** Undefined until it is known. */
  readonly operation: Operation | undefined;
}

/** The amounts and parties, who started the operation and when, and its state. Nobody of the project starts a deposit. The id is one click away. */
export const OperationHeader = ({ operationId, operation }: OperationHeaderProps): ReactNode => {
  const { addressName } = useNames();
  const options = useTitleOptions();
  const actor = useActorInSentence();
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 pb-4">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 text-fg-2">
          {operation === undefined ? null : (
            <span>
              {OPERATION_WORDS[operation.kind]},{" "}
              {operation.deposit === null ? `started by ${actor(operation.createdBy)}` : "received"}{" "}
              <Time value={operation.createdAt} />
            </span>
          )}
          <PublicId value={operationId} className="text-fg-3" />
        </p>
        <h1 className="text-2xl font-semibold wrap-anywhere">
          {operation === undefined ? "Operation" : operationTitle(operation, { addressName, ...options })}
        </h1>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {operation === undefined ? null : <StatusBadge status={operation.status} subStatus={operation.subStatus} />}
        <Link href="/activity" className={buttonLooks()}>
          All activity
        </Link>
      </div>
    </header>
  );
};
