"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import type { Balances } from "@/components/features/overview/use-balances";
import { HeldUsd } from "@/components/ui/held-amount";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/skeleton";
import { isZero } from "@/components/features/overview/sums";
import { pricedTotal } from "./balance-tree";

// The chart library is larger than the rest of the page, so it is loaded after the numbers are shown.
const CompositionChart = dynamic(() => import("./composition-chart").then((module) => module.CompositionChart), {
  ssr: false,
  loading: () => <Skeleton className="h-44" />,
});

/** The total of all balances, and the share of each part in it. */
export const CompositionCard = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { usd, unpriced } = pricedTotal(balances);
  return (
    <Card title="Composition">
      <p className="text-3xl font-semibold" data-testid="total-usd">
        {usd === null ? "No prices" : <HeldUsd value={usd} />}
      </p>
      {unpriced.length === 0 ? null : (
        <p className="text-sm text-fg-2">Without {unpriced.join(", ")}: their price is not known.</p>
      )}
      {usd === null || isZero(usd) ? null : (
        <div className="pt-3">
          <CompositionChart balances={balances} />
        </div>
      )}
    </Card>
  );
};
