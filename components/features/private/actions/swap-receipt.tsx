"use client";

import type { ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import type { PrivateQuote } from "../types";

type TokenAmount = PrivateQuote["from"];

interface SwapReceiptProps {
  readonly quote: PrivateQuote;
  readonly walletName: string;
  readonly whole?: boolean;
}

const SCALE = 10n ** 18n;

/** The amount received for one unit of the token that is given, cut to 18 digits. */
const rateOf = ({ from, expected }: PrivateQuote): string => {
  const given = BigInt(from.amountBase);
  if (given === 0n) return "0";
  const rate =
    (BigInt(expected.amountBase) * SCALE * 10n ** BigInt(from.decimals)) / (given * 10n ** BigInt(expected.decimals));
  const text = rate.toString().padStart(19, "0");
  return `${text.slice(0, -18)}.${text.slice(-18)}`;
};

/** The amounts that the swap takes and gives, with its rate and fee. */
export const SwapReceipt = ({ quote, walletName, whole = false }: SwapReceiptProps): ReactNode => {
  const text = ({ amount, token }: TokenAmount): ReactNode => (
    <Amount value={amount} unit={token.symbol} exact={whole} />
  );
  return (
    <Facts>
      <Fact label="From and to">{walletName}</Fact>
      <Fact label="On">
        <ChainName chainId={quote.from.token.chainId} />
      </Fact>
      <Fact label="You swap">{text(quote.from)}</Fact>
      <Fact label="Minimum received" strong>
        {text(quote.minimum)}
      </Fact>
      <Fact label="Expected">{text(quote.expected)}</Fact>
      <Fact label="Pool fee, taken off already">{text(quote.poolFee)}</Fact>
      <Fact label="Rate">
        <Amount value="1" unit={quote.from.token.symbol} plain /> <span className="text-fg-3">=</span>{" "}
        <Amount value={rateOf(quote)} unit={quote.expected.token.symbol} plain />
      </Fact>
      <Fact label="Route">{quote.swapVenue ?? "Exchange"}, inside of one transaction</Fact>
      <Fact label="Network fee">paid by the relayer</Fact>
    </Facts>
  );
};
