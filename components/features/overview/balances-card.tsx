"use client";

import { ChevronRight, Coins } from "lucide-react";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { AvailableAmount } from "@/components/features/balances/available-amount";
import { ChainName } from "@/components/ui/chain-name";
import { cn } from "@/components/ui/cn";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { HeldUsd } from "@/components/ui/held-amount";
import { Card } from "@/components/ui/card";
import { TokenName } from "@/components/ui/marks";
import { LoadingRows } from "@/components/ui/skeleton";
import { byChain, isEmpty } from "./sums";
import { useBalances, type TokenTotal } from "./use-balances";

/** Worth most first, what has no price last; an order is no amount, so a float does. */
const byWorth = (a: TokenTotal, b: TokenTotal): number => Number(b.usd ?? -1) - Number(a.usd ?? -1);

export const BalancesCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useBalances();
  const totals = data?.totals.filter((total) => !isEmpty(total)).sort(byWorth) ?? [];
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
          Send tokens to the treasury; its address stands under{" "}
          <Link className="link" href="/wallets">
            Wallets
          </Link>
          .
        </EmptyState>
      ) : (
        <table className="w-full">
          <caption className="sr-only">Balances by token; each row opens to its chains</caption>
          <thead>
            <tr className="border-b text-left text-sm text-fg-3">
              <th scope="col" className="h-8 px-4 font-medium">
                Token
              </th>
              <th scope="col" className="px-2 text-right font-medium">
                Available
              </th>
              <th scope="col" className="px-4 text-right font-medium">
                US dollars
              </th>
            </tr>
          </thead>
          {totals.map((total) => (
            <TokenRows key={total.assetId} total={total} />
          ))}
        </table>
      )}
    </Card>
  );
};

const walletsHref = (token: string, chainId?: number): string =>
  `/wallets?token=${encodeURIComponent(token)}${chainId === undefined ? "" : `&chain=${String(chainId)}`}`;

const TokenRows = ({ total }: { readonly total: TokenTotal }): ReactNode => {
  const [open, setOpen] = useState(false);
  return (
    <tbody className="border-b last:border-b-0">
      <tr>
        <th scope="row" className="h-9 px-2 text-left font-medium">
          <button
            type="button"
            aria-expanded={open}
            aria-label={`${total.token}, chains`}
            onClick={() => setOpen((before) => !before)}
            className="flex h-8 items-center gap-1 rounded-control px-1 hover:bg-sunken touch-target"
          >
            <ChevronRight
              className={cn("size-4 text-fg-3 transition-transform duration-150", open && "rotate-90")}
              aria-hidden
            />
            <TokenName symbol={total.token} />
          </button>
        </th>
        <td className="px-2 text-right">
          <Link href={walletsHref(total.token)} className="hover:underline">
            <AvailableAmount amounts={total} unit={total.token} plain />
          </Link>
        </td>
        <td className="px-4 text-right">
          <HeldUsd value={total.usd} />
        </td>
      </tr>
      {open
        ? byChain(total)
            .filter((share) => !isEmpty(share))
            .map((share) => (
              <tr key={share.chainId} className="bg-sunken text-fg-2">
                <th scope="row" className="h-8 pr-2 pl-8 text-left text-sm font-normal">
                  <ChainName chainId={share.chainId} />
                </th>
                <td className="px-2 text-right text-sm">
                  <Link href={walletsHref(total.token, share.chainId)} className="hover:underline">
                    <AvailableAmount amounts={share} unit={total.token} plain />
                  </Link>
                </td>
                <td className="px-4 text-right text-sm">
                  <HeldUsd value={share.usd} />
                </td>
              </tr>
            ))
        : null}
    </tbody>
  );
};
