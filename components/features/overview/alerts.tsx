"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { lowBudgets } from "@/components/features/sponsorship/low-budgets";
import { SIGNING_PART, useReadiness } from "@/components/features/system/readiness";
import { useBalances } from "@/components/features/balances/use-balances";
import {
  type ListedOperation,
  movingOperationsQuery,
} from "@/components/features/operations/operation";
import { useLiveQuery } from "@/components/features/session/use-api";

/** The list is loaded only when something is wrong, because most visits do not need it. */
const AlertList = dynamic(() => import("./alert-list").then((module) => module.AlertList));

/**
 * The chains whose network fee is above the service's limit, each with one operation that waits for
 * a lower fee.
 */
const gasWaitsOf = (operations: readonly ListedOperation[]): ReadonlyMap<number, string> =>
  new Map(
    operations.flatMap(({ operationId, waitsForGas }) =>
      waitsForGas.map(({ chainId }) => [chainId, operationId]),
    ),
  );

export const Alerts = (): ReactNode => {
  const balances = useBalances().data;
  const processing = useLiveQuery(movingOperationsQuery).data;
  const readiness = useReadiness().data;
  const me = useMe().data;
  const budgets = lowBudgets(me?.sponsorBudgets ?? []);
  const gasAlerts = me?.gasAlerts ?? [];
  const late = balances?.stale ?? [];
  const gas = gasWaitsOf(processing?.data ?? []);
  const down =
    readiness?.parts?.filter(
      ({ ok, name }) =>
        !ok &&
        name !== SIGNING_PART &&
        !late.some(({ chainId }) => name === `chain:${String(chainId)}`),
    ) ?? [];
  const signingOff = me?.signingOff ?? null;
  if (
    signingOff === null &&
    [late, [...gas], budgets, gasAlerts, down].every(({ length }) => length === 0)
  )
    return null;
  return (
    <AlertList
      late={late}
      gas={[...gas]}
      gasAlerts={gasAlerts}
      budgets={budgets}
      down={down}
      signingOff={signingOff}
    />
  );
};
