"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { apiQuery } from "@/components/features/session/api-query";
import { Address } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { listDust } from "@/lib/api-client/calls.gen";

/**
 * Deposits below the size for listing, with one line for each wallet, chain and token. Renders
 * nothing when there are none.
 */
export const DustLines = (): ReactNode => {
  const lines = useQuery(apiQuery(listDust, {})).data?.data ?? [];
  if (lines.length === 0) return null;
  return (
    <Card title="Deposits too small to list" flush>
      <ul className="divide-y">
        {lines.map(({ walletId, walletAddress, chainId, count, total, lastAt }) => (
          <li
            key={`${walletId} ${String(chainId)} ${total.token.address}`}
            className="flex flex-wrap gap-x-2 px-4 py-2"
          >
            <span>
              {count === 1 ? "1 deposit" : `${String(count)} deposits`} into{" "}
              <Address value={walletAddress} /> on <ChainName chainId={chainId} />,{" "}
              <Amount value={total.amount} unit={total.token.symbol} plain /> in total
            </span>
            <span className="ml-auto text-sm text-fg-2">
              last <Time value={lastAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
};
