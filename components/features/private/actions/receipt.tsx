"use client";

import type { ReactNode } from "react";
import { percentText } from "@/components/features/swap/decimal";
import type { RecipientView } from "@/components/features/transfer/recipient";
import { RecipientWord } from "@/components/features/transfer/recipient-notes";
import { AddressGroups, AddressMark } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName, TokenMark } from "@/components/ui/marks";
import { ActionDialog } from "@/components/ui/dialog";
import { countText } from "@/lib/core/amount-text";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { setText } from "../observer/scenes";
import type { PoolBalance } from "../parts";
import { type Action, feesOf } from "./form-model";

export interface SendTerms {
  readonly action: Exclude<Action, "swap">;
  readonly pool: PoolBalance;
  /** Decimal string; null while no valid amount is typed. */
  readonly amount: string | null;
  readonly walletName: string;
  readonly recipient: RecipientView;
  /** The receiving private wallet; null when the recipient is an address. */
  readonly toWalletName: string | null;
  /** The treasury, which receives an unshield that names no address. */
  readonly treasuryAddress: string | undefined;
}

interface ReceiptProps {
  readonly terms: SendTerms;
  /** Shows full addresses and all digits. */
  readonly whole?: boolean;
}

const NOTHING = (
  <span className="text-fg-3" title="Enter an amount first.">
    –
  </span>
);

export const SendReceipt = ({ terms, whole = false }: ReceiptProps): ReactNode => {
  const { action, pool, amount } = terms;
  const { symbol, decimals } = pool.token;
  const target = terms.toWalletName === null ? "address" : "wallet";
  const fees =
    amount === null
      ? null
      : feesOf(action, pool, { amountBase: parseAmount(amount, decimals), target });
  const text = (base: bigint | undefined): ReactNode =>
    base === undefined ? (
      NOTHING
    ) : (
      <Amount value={formatAmount(base, decimals)} unit={symbol} exact={whole} />
    );
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
          <Fact label={`Pool fee, ${percentText(pool.shieldFeeBps)}`}>
            {text(fees?.poolFeeBase)}
          </Fact>
          <Fact label="Your note" strong>
            {text(fees?.netBase)}
          </Fact>
        </>
      ) : (
        <>
          <Fact label="Received exactly" strong>
            {text(fees?.netBase)}
          </Fact>
          <Fact label={`Relay fee on top, ${percentText(pool.relayFeeBps)}`}>
            {text(fees?.relayFeeBase)}
          </Fact>
          {target === "wallet" ? (
            <Fact label={`Pool fee on top, ${percentText(pool.shieldFeeBps)}`}>
              {text(fees?.poolFeeBase)}
            </Fact>
          ) : null}
          <Fact label="Leaves your notes">{text(fees?.grossBase)}</Fact>
        </>
      )}
      <Fact label="Network fee">
        {action === "shield" ? "paid by the project's sponsor" : "paid by the relayer"}
      </Fact>
      {action === "unshield" ? null : (
        <Fact label="Pool minimum">
          <Amount value={pool.minimum} unit={symbol} />
        </Fact>
      )}
    </Facts>
  );
};

const To = ({ terms, whole }: Required<ReceiptProps>): ReactNode => {
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

/** Whether a transfer out of a set of this size needs a second confirmation. */
export const isSmallSet = (size: number, min: number): boolean => size < min;

interface SmallSetProps {
  readonly size: number;
  readonly min: number;
}

export const SmallSetAlert = ({ size, min }: SmallSetProps): ReactNode => (
  <Alert tone="warning" title={`Only ${setText(size)} hide this transfer`}>
    At least {countText(min)} are recommended. With fewer, somebody who watches the chain can
    guess who paid.
  </Alert>
);

interface SmallSetDialogProps {
  /** Size of the anonymity set that the service refused as too small; null otherwise. */
  readonly size: number | null;
  readonly onAccept: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a second confirmation, after which the transfer is sent with `acceptSmallSet`. */
export const SmallSetDialog = ({ size, onAccept, onClose }: SmallSetDialogProps): ReactNode => (
  <ActionDialog
    open={size !== null}
    onClose={onClose}
    title={`Only ${setText(size)} hide this transfer`}
    description="Somebody who watches the chain can guess who paid. Wait until more deposits are in the pool, or go on all the same. Nothing was sent."
    confirmLabel="Accept the small set"
    cancelLabel="Wait"
    onConfirm={onAccept}
  />
);
