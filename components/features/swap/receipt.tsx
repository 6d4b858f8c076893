"use client";

import type { ReactNode } from "react";
import { AddressGroups } from "@/components/ui/address-groups";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { NamedAddress } from "@/components/features/names/named-address";
import { RecipientName } from "@/components/features/names/recipient-name";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import { sumByAsset } from "@/components/features/operations/asset-sums";
import { compareAmounts } from "./decimal";
import { FeeLines } from "./fee-lines";
import { RateText } from "./quote-facts";
import { RouteSteps } from "./route-cards";
import type { Prepared } from "@/components/features/money-flow/types";
import type { Quote } from "./types";

interface ReceiptProps {
  readonly quote: Quote;
  /** Priced anew when the code was taken; this is what will be executed. */
  readonly to: Prepared["to"];
}

/** Everything that the execution will do, whole: no address shortened. */
export const Receipt = ({ quote, to }: ReceiptProps): ReactNode => (
  <>
    <QuotePicture quote={{ ...quote, to: { ...quote.to, ...to } }} />
    <Facts>
      <Fact label="From">
        <ul className="flex flex-col gap-2">
          {quote.from.map((source, index) => (
            <li key={index}>
              <Amount value={source.amount} unit={source.token.symbol} exact className="font-medium" /> on{" "}
              <ChainName chainId={source.chainId} />
              <br />
              <NamedAddress value={source.address} full copyable={false} className="text-fg-2" />
            </li>
          ))}
        </ul>
      </Fact>
      <Fact label="To">
        <RecipientName address={to.address} /> on <ChainName chainId={to.chainId} />
        <br />
        <AddressGroups value={to.address} className="justify-end font-medium" />
      </Fact>
      <Fact label="You send">
        <span className="flex flex-wrap justify-end gap-x-3">
          {sumByAsset(quote.from).map((sum) => (
            <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} exact />
          ))}
        </span>
      </Fact>
      <Fact label="Minimum received" strong>
        <Amount value={to.minAmount} unit={to.token.symbol} exact />
      </Fact>
      <Fact label="Expected">
        <Amount value={to.amount} unit={to.token.symbol} exact />
        {compareAmounts(to.amount, quote.to.amount) === 0 ? null : (
          <span className="block text-sm text-fg-3">
            quoted: <Amount value={quote.to.amount} unit={to.token.symbol} exact plain />
          </span>
        )}
      </Fact>
      <Fact label="Fees">
        <FeeLines fees={quote.fees} />
      </Fact>
      <Fact label="Rate">
        <RateText quote={quote} />
      </Fact>
      <Fact label="Route">
        <RouteSteps quote={quote} />
      </Fact>
    </Facts>
  </>
);
