"use client";

import { Coins } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { columnDigits, type ColumnDigits } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { HeldAmount, HeldUsd } from "@/components/ui/held-amount";
import { TokenName } from "@/components/ui/marks";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { withoutBacking, type BackingTotal } from "@/components/features/balances/backing";
import { BalanceActions } from "@/components/features/balances/balance-actions";
import { useBacking } from "@/components/features/balances/use-backing";
import { sumAmounts } from "@/components/features/swap/decimal";
import { ChainShareBar, ChainShareLegend } from "./chain-share-bar";
import { isEmpty, isZero } from "./sums";
import { useBalances, type TokenTotal } from "./use-balances";

/** By worth, the highest first, and tokens without a price last. Floats are precise enough to sort by. */
const byWorth = (a: TokenTotal, b: TokenTotal): number => Number(b.usd ?? -1) - Number(a.usd ?? -1);

const Part = ({ value, token }: { readonly value: string; readonly token: string }): ReactNode =>
  isZero(value) ? <span className="text-fg-3">–</span> : <HeldAmount value={value} symbol={token} plain />;

const walletsHref = (token: string): string => `/wallets?token=${encodeURIComponent(token)}`;

const columnsFor = (digits: ColumnDigits): readonly Column<BackingTotal>[] => [
  {
    id: "token",
    header: "Token",
    phone: "title",
    cell: ({ token }) => (
      <span className="font-medium">
        <TokenName symbol={token} />
      </span>
    ),
  },
  {
    id: "chains",
    header: <ChainShareLegend />,
    phone: "hidden",
    priority: "low",
    cell: (total) => <ChainShareBar total={total} />,
  },
  {
    id: "available",
    header: "Available",
    align: "right",
    cell: ({ available, token }) => (
      <Link href={walletsHref(token)} className="hover:underline">
        <HeldAmount value={available} unit={token} plain column={digits} />
      </Link>
    ),
  },
  {
    id: "reserved",
    header: "Reserved",
    align: "right",
    phone: "hidden",
    priority: "medium",
    cell: ({ reserved, backing, token }) => (
      <Part value={backing === undefined ? reserved : sumAmounts([reserved, backing])} token={token} />
    ),
  },
  {
    id: "way",
    header: "On its way in",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ pendingIn, token }) => <Part value={pendingIn} token={token} />,
  },
  { id: "usd", header: "Value", align: "right", cell: ({ usd }) => <HeldUsd value={usd} /> },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    phone: "hidden",
    cell: ({ token }) => <BalanceActions token={token} />,
  },
];

/** Each token once, with its share by chain; the page of balances opens to chains and wallets. */
export const BalancesCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useBalances();
  const { devnet } = usePublicConfig();
  const backing = useBacking(data);
  const totals =
    data?.totals
      .filter((total) => !isEmpty(total))
      .map((total) => (backing === null ? total : withoutBacking(total, backing)))
      .sort(byWorth) ?? [];
  return (
    <Card
      id="balances"
      title="Balances"
      flush
      actions={
        <Link href="/balances" className="link text-sm">
          All balances
        </Link>
      }
    >
      {isPending ? (
        <LoadingRows what="balances" />
      ) : data === undefined ? (
        <ErrorState error={error} money="The balances on the chains are untouched." onRetry={() => void refetch()} />
      ) : totals.length === 0 ? (
        <EmptyState icon={Coins} title="No balances yet">
          Send tokens to the treasury. Its address is under{" "}
          <Link className="link" href="/wallets">
            Wallets
          </Link>
          {devnet ? ", and you can get test tokens below" : null}.
        </EmptyState>
      ) : (
        <Table
          caption="Balances by token"
          columns={columnsFor(columnDigits(totals.map(({ token }) => token)))}
          rows={totals}
          rowKey={(total) => total.assetId}
        />
      )}
    </Card>
  );
};
