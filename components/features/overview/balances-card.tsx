"use client";

import { Coins } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { BalanceActions } from "@/components/features/balances/balance-parts";
import { type TokenTotal, useBalances } from "@/components/features/balances/use-balances";
import { isZero } from "@/components/features/swap/decimal";
import { usePublicConfig } from "@/components/providers/public-config";
import { columnTail, type ColumnTail, HeldAmount, HeldWorth } from "@/components/ui/amount";
import { TokenName } from "@/components/ui/marks";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { chainShares, isEmpty } from "./worth";

/**
 * The highest worth first; tokens without a price come last. Floats are precise enough for sorting.
 */
const byWorth = (a: TokenTotal, b: TokenTotal): number =>
  Number(b.usd ?? -1) - Number(a.usd ?? -1);

const Part = ({
  value,
  token,
}: {
  readonly value: string;
  readonly token: string;
}): ReactNode =>
  isZero(value) ? (
    <span className="text-fg-3">–</span>
  ) : (
    <HeldAmount value={value} symbol={token} plain />
  );

const tailOf = (totals: readonly TokenTotal[]): ColumnTail =>
  columnTail(totals.map(({ available, token }) => ({ value: available, symbol: token })));

const walletsHref = (token: string): string => `/wallets?token=${encodeURIComponent(token)}`;

const columnsFor = (tail: ColumnTail): readonly Column<TokenTotal>[] => [
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
    grow: true,
    cell: (total) => <ChainShareBar total={total} />,
  },
  {
    id: "available",
    header: "Available",
    align: "right",
    cell: ({ available, token }) => (
      <Link href={walletsHref(token)} className="hover:underline">
        <HeldAmount value={available} unit={token} plain column={tail} />
      </Link>
    ),
  },
  {
    id: "reserved",
    header: "Reserved",
    align: "right",
    phone: "hidden",
    priority: "medium",
    cell: ({ reserved, token }) => <Part value={reserved} token={token} />,
  },
  {
    id: "backing",
    header: "Backs accounts",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ backing, token }) => <Part value={backing} token={token} />,
  },
  {
    id: "way",
    header: "On its way in",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ pendingIn, token }) => <Part value={pendingIn} token={token} />,
  },
  { id: "usd", header: "Value", align: "right", cell: ({ usd }) => <HeldWorth value={usd} /> },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    phone: "hidden",
    cell: ({ token }) => <BalanceActions token={token} />,
  },
];

export const BalancesCard = (): ReactNode => {
  const query = useBalances();
  const { data } = query;
  const { devnet } = usePublicConfig();
  const totals = data?.totals.filter((total) => !isEmpty(total)).sort(byWorth) ?? [];
  return (
    <QueryCard
      id="balances"
      title="Balances"
      actions={
        <Link href="/balances" className="link text-sm">
          All balances
        </Link>
      }
      query={query}
      what="balances"
      money="The balances on the chains are untouched."
    >
      {() =>
        totals.length === 0 ? (
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
            columns={columnsFor(tailOf(totals))}
            rows={totals}
            rowKey={(total) => total.assetId}
          />
        )
      }
    </QueryCard>
  );
};

/**
 * Classes of the chains in the bar of a token, by index of the chain. The names are complete,
 * because Tailwind finds no composed names. Colour-blind people can distinguish the colours.
 */
const FILLS = [
  "fill-chart-1",
  "fill-chart-2",
  "fill-chart-3",
  "fill-chart-4",
  "fill-chart-5",
] as const;
const WIDTH = 100;

const fillOf = (index: number): string => FILLS[index % FILLS.length] ?? FILLS[0];

const ChainShareLegend = (): ReactNode => {
  const { chains } = usePublicConfig();
  return (
    <span className="inline-flex gap-x-2">
      <span className="sr-only">Share by chain: </span>
      {chains.slice(0, FILLS.length).map((chain, index) => (
        <span key={chain.id} className="inline-flex items-center gap-1">
          <svg viewBox="0 0 8 8" className="size-2" aria-hidden>
            <rect width={8} height={8} className={fillOf(index)} />
          </svg>
          {chain.name}
        </span>
      ))}
    </span>
  );
};

const ChainShareBar = ({ total }: { readonly total: TokenTotal }): ReactNode => {
  const { chains } = usePublicConfig();
  const amounts = chains.map(
    ({ id }) => total.chains.find(({ chainId }) => chainId === id)?.amount ?? "0",
  );
  const shares = chainShares(amounts, total.decimals);
  if (shares.every((share) => share === 0)) return <span className="text-fg-3">–</span>;
  let start = 0;
  const parts = chains.map((chain, index) => {
    const width = shares[index] ?? 0;
    const part = { id: chain.id, name: chain.name, start, width, fill: fillOf(index) };
    start += width;
    return part;
  });
  const words = parts
    .filter(({ width }) => width > 0)
    .map(({ name, width }) => `${name} ${String(width)} %`);
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} 6`}
      preserveAspectRatio="none"
      className="h-1.5 w-full max-w-60"
      role="img"
      aria-label={words.join(", ")}
    >
      {parts.map((part) => (
        <rect
          key={part.id}
          x={part.start}
          width={part.width}
          height={6}
          className={part.fill}
        />
      ))}
    </svg>
  );
};
