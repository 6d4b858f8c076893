"use client";

import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/actor";
import { AddressGroups } from "@/components/ui/address-groups";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { TokenAmountText } from "../amounts";
import type { PrivateNames } from "../names";
import type { PrivateTransfer } from "../types";

/** Once it is completed; before, and where it failed, nothing was deposited or received. */
const AMOUNT_WORDS = {
  shield: "Deposited",
  private_transfer: "Received exactly",
  private_swap: "Swapped",
  unshield: "Received exactly",
  public_exit: "Received exactly",
} as const satisfies Record<PrivateTransfer["kind"], string>;

interface TransferFactsProps {
  readonly transfer: PrivateTransfer;
  readonly names: PrivateNames;
}

/** Whether what arrived is said by the amount already. */
const saysMore = ({ kind, received, amount }: PrivateTransfer): boolean =>
  received !== null && (kind === "shield" || kind === "private_swap" || received.amountBase !== amount.amountBase);

/** The receipt: before the end the planned amounts, afterwards those that arrived. */
export const TransferFacts = ({ transfer, names }: TransferFactsProps): ReactNode => {
  const { kind, toAddress, amount, minimum, received } = transfer;
  const own = names.walletName(transfer.privacyWalletId);
  return (
    <Facts>
      <Fact label="From">{kind === "shield" ? "Treasury" : own}</Fact>
      <Fact label="To">
        {kind === "shield" ? own : names.recipientName(transfer)}
        {toAddress === null ? null : (
          <>
            <br />
            <AddressGroups value={toAddress} className="justify-end" />
          </>
        )}
      </Fact>
      <Fact label="On">
        <ChainName chainId={transfer.chainId} />
      </Fact>
      <Fact label={transfer.status === "completed" ? AMOUNT_WORDS[kind] : "Amount"} strong>
        <TokenAmountText value={amount} whole />
      </Fact>
      {minimum === null ? null : (
        <Fact label="Minimum, before the pool's fee">
          <TokenAmountText value={minimum} whole />
        </Fact>
      )}
      {received === null || !saysMore(transfer) ? null : (
        <Fact label={kind === "shield" || kind === "private_swap" ? "Your new note" : "Arrived so far"} strong>
          <TokenAmountText value={received} whole />
        </Fact>
      )}
      <Fact label="Started">
        <Time value={transfer.createdAt} absolute />
      </Fact>
      {transfer.expiresAt === null || transfer.status !== "pending" ? null : (
        <Fact label="Expires">
          <Time value={transfer.expiresAt} absolute />
        </Fact>
      )}
      <Fact label="Created by">
        <Actor id={transfer.createdBy} />
      </Fact>
    </Facts>
  );
};
