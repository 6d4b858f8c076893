"use client";

import type { ReactNode } from "react";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { RecipientName } from "@/components/features/names/recipient-name";
import type { Prepared } from "@/components/features/money-flow/types";
import { compareAmounts } from "@/components/features/swap/decimal";
import { FeeLines } from "@/components/features/swap/fee-lines";
import { secondsText } from "@/components/features/swap/seconds-text";
import { AddressMark } from "@/components/ui/address-mark";
import { AddressGroups } from "@/components/ui/address-groups";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import type { RecipientView } from "./recipient";
import { pictureOf } from "./transfer-picture";
import { LookAlikeAlert, RecipientWord } from "./recipient-notes";
import type { TransferRecord } from "./use-transfer";

/** The terms of a transfer that the receipt shows, or those of the quote that takes its place when the price moved. */
export interface TransferTerms {
  readonly fromName: string;
  readonly fromAddress: string;
  readonly fromChainId: number;
  readonly sent: { readonly amount: string; readonly token: { readonly symbol: string } };
  readonly fees: TransferRecord["fees"];
  readonly steps: TransferRecord["steps"];
  readonly estimatedSeconds: number;
  readonly recipient: RecipientView;
}

interface TransferReceiptProps {
  readonly terms: TransferTerms;
  /** Priced anew when the code was taken; this is what will be executed. */
  readonly to: Prepared["to"];
}

/** Everything that the execution will do, whole: no address shortened. */
export const TransferReceipt = ({ terms, to }: TransferReceiptProps): ReactNode => {
  const { recipient } = terms;
  return (
    <div className="flex flex-col gap-2">
      {recipient.as === "none" || recipient.lookAlike === null ? null : (
        <LookAlikeAlert address={recipient.address} lookAlike={recipient.lookAlike} />
      )}
      <QuotePicture quote={pictureOf(terms, to)} />
      <Facts>
        <Fact label="From">
          <RecipientName address={terms.fromAddress} /> on <ChainName chainId={terms.fromChainId} />
          <br />
          <code className="font-mono text-sm break-all text-fg-2">{terms.fromAddress}</code>
        </Fact>
        <Fact label="To">
          <AddressMark value={to.address} /> <RecipientWord view={recipient} /> on <ChainName chainId={to.chainId} />
          <br />
          <AddressGroups value={to.address} className="justify-end font-medium" />
        </Fact>
        <Fact label="You send">
          <Amount value={terms.sent.amount} unit={terms.sent.token.symbol} exact />
        </Fact>
        <Fact label="Minimum received" strong>
          <Amount value={to.minAmount} unit={to.token.symbol} exact />
        </Fact>
        {compareAmounts(to.amount, to.minAmount) === 0 ? null : (
          <Fact label="Expected">
            <Amount value={to.amount} unit={to.token.symbol} exact />
          </Fact>
        )}
        <Fact label="Fees, taken off already">
          <FeeLines fees={terms.fees} />
        </Fact>
        <Fact label="Takes about">
          <span className="num">{secondsText(terms.estimatedSeconds)}</span>
        </Fact>
      </Facts>
    </div>
  );
};
