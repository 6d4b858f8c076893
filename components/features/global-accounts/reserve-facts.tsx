"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Reserve } from "@/components/features/reserves/use-reserves";
import { Amount } from "@/components/ui/amount";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import type { Account } from "./account";

interface ReserveFactsProps {
  readonly reserves: Pick<UseQueryResult, "isPending" | "data" | "error">;
  /** Undefined where the treasury has none of it. */
  readonly reserve: Reserve | undefined;
  readonly account: Account;
}

/** How what is available comes about. */
export const ReserveFacts = ({ reserves, reserve, account }: ReserveFactsProps): ReactNode => {
  if (reserves.isPending) return <LoadingRows what="the reserves" rows={4} />;
  if (reserves.data === undefined)
    return <ErrorState compact error={reserves.error} money="The money in the treasury is untouched." />;
  const stale = reserve?.chains.some((chain) => chain.stale) === true;
  const amount = (value: string | undefined): ReactNode => <Amount value={value ?? "0"} unit={account.currency} />;
  return (
    <Facts className="border-y">
      <Fact label="The treasury holds on chain">{amount(reserve?.onChain)}</Fact>
      <Fact label="Operations under way take out">{amount(reserve?.committed)}</Fact>
      <Fact label="Accounts hold already">{amount(reserve?.liabilities)}</Fact>
      <Fact label="Available" strong>
        {amount(reserve?.available)}
      </Fact>
      {stale ? <Fact label="A chain does not answer">its balances are not counted</Fact> : null}
    </Facts>
  );
};
