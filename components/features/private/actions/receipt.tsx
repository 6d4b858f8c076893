"use client";

import type { ReactNode } from "react";
import type { RecipientView } from "@/components/features/transfer/recipient";
import { RecipientWord } from "@/components/features/transfer/recipient-notes";
import { percentText } from "@/components/features/swap/decimal";
import { AddressMark } from "@/components/ui/address-mark";
import { AddressGroups } from "@/components/ui/address-groups";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { TokenMark } from "@/components/ui/marks";
import { Fact, Facts } from "@/components/ui/card";
import { formatAmount, parseAmount } from "@/lib/core/money";
import type { PoolBalance } from "../types";
import { feesOf, type Action } from "./form-model";

export interface SendTerms {
  readonly action: Exclude<Action, "swap">;
  readonly pool: PoolBalance;
  /** Decimal string; null while nothing right is typed. */
  readonly amount: string | null;
  readonly walletName: string;
  readonly recipient: RecipientView;
  /** The private wallet that receives; null where an address does. */
  readonly toWalletName: string | null;
  /** The recipient of an unshield without an address. */
  readonly treasuryAddress: string | undefined;
}

interface ReceiptProps {
  readonly terms: SendTerms;
  /** With whole addresses and all digits. */
  readonly whole?: boolean;
}

const NOTHING = (
  <span className="text-fg-3" title="Enter an amount first.">
    –
  </span>
);

/** Everything that the move will do, to the last digit. */
export const SendReceipt = ({ terms, whole = false }: ReceiptProps): ReactNode => {
  const { action, pool, amount } = terms;
  const { symbol, decimals } = pool.token;
  const target = terms.toWalletName === null ? "address" : "wallet";
  const fees = amount === null ? null : feesOf(action, pool, { amountBase: parseAmount(amount, decimals), target });
  const text = (base: bigint | undefined): ReactNode =>
    base === undefined ? NOTHING : <Amount value={formatAmount(base, decimals)} unit={symbol} exact={whole} />;
  return (
    <Facts>
      <Fact label="From">{action === "shield" ? "Treasury" : terms.walletName}</Fact>
      <Fact label="To">
        <To terms={terms} whole={whole} />
      </Fact>
      <Fact label="On">
        <span className="inline-flex items-center gap-1.5">
          <TokenMark symbol={symbol} /> {symbol}, <ChainName chainId={pool.chainId} />
        </span>
      </Fact>
      {action === "shield" ? (
        <>
          <Fact label="You deposit">{text(fees?.grossBase)}</Fact>
          <Fact label={`Pool fee, ${percentText(pool.shieldFeeBps)}`}>{text(fees?.poolFeeBase)}</Fact>
          <Fact label="Your note" strong>
            {text(fees?.netBase)}
          </Fact>
        </>
      ) : (
        <>
          <Fact label="Received exactly" strong>
            {text(fees?.netBase)}
          </Fact>
          <Fact label={`Relay fee on top, ${percentText(pool.relayFeeBps)}`}>{text(fees?.relayFeeBase)}</Fact>
          {target === "wallet" ? (
            <Fact label={`Pool fee on top, ${percentText(pool.shieldFeeBps)}`}>{text(fees?.poolFeeBase)}</Fact>
          ) : null}
          <Fact label="Leaves your notes">{text(fees?.grossBase)}</Fact>
        </>
      )}
      <Fact label="Network fee">{action === "shield" ? "paid by the project's sponsor" : "paid by the relayer"}</Fact>
      {action === "unshield" ? null : (
        <Fact label="Pool minimum">
          <Amount value={pool.minimum} unit={symbol} />
        </Fact>
      )}
    </Facts>
  );
};

const To = ({ terms, whole }: { readonly terms: SendTerms; readonly whole: boolean }): ReactNode => {
  const { action, recipient, toWalletName, treasuryAddress, walletName } = terms;
  if (action === "shield") return <>{walletName}, in the pool</>;
  if (toWalletName !== null) return <>{toWalletName}, in the pool</>;
  if (recipient.as === "none") {
    if (action !== "unshield") return NOTHING;
    return (
      <>
        Treasury
        {whole && treasuryAddress !== undefined ? (
          <>
            <br />
            <AddressGroups value={treasuryAddress} className="justify-end" />
          </>
        ) : null}
      </>
    );
  }
  return (
    <>
      <AddressMark value={recipient.address} /> <RecipientWord view={recipient} />
      <br />
      <AddressGroups value={recipient.address} className="justify-end font-medium" />
    </>
  );
};
