"use client";

import type { ReactNode } from "react";
import { sumAmounts } from "@/components/features/swap/decimal";
import { Amount, Worth } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/marks";
import { Fact } from "@/components/ui/card";
import type { WalletsPayout } from "./payout";

interface FundingFactsProps {
  readonly funding: NonNullable<WalletsPayout["funding"]>;
}

export const FundingFacts = ({ funding }: FundingFactsProps): ReactNode => {
  const costs = funding.fees.map(({ usd }) => usd);
  const known = costs.filter((usd) => usd !== null);
  return (
    <>
      <Fact label="Missing on the chain">
        <Amount value={funding.missing} unit={funding.token.symbol} />
      </Fact>
      {funding.sources.map((source) => (
        <Fact
          key={`${source.walletId} ${String(source.chainId)} ${source.token.address}`}
          label={
            <>
              Brought from <ChainName chainId={source.chainId} />
            </>
          }
        >
          <Amount value={source.amount} unit={source.token.symbol} />
        </Fact>
      ))}
      <Fact label="Cost of bringing it">
        <Worth value={known.length === costs.length ? sumAmounts(known) : null} />
        <span className="block text-sm text-fg-3">about {funding.estimatedSeconds} s</span>
      </Fact>
    </>
  );
};

interface NetworkFeeFactProps {
  readonly fee: NonNullable<WalletsPayout["networkFee"]>;
}

export const NetworkFeeFact = ({ fee }: NetworkFeeFactProps): ReactNode => (
  <Fact label={fee.estimated ? "Network fee, estimated" : "Network fee"}>
    <Amount value={fee.amount} unit={fee.token.symbol} />
    {fee.usd === null ? null : (
      <>
        {" "}
        <Worth value={fee.usd} className="text-fg-2" />
      </>
    )}
    <span className="block text-sm text-fg-3">
      {fee.paidBy === "sponsor" ? "paid by the project's sponsor" : "paid by the treasury"}
    </span>
  </Fact>
);
