"use client";

import type { ReactNode } from "react";
import { useBalances } from "@/components/features/balances/use-balances";
import { RecipientName } from "@/components/features/names/names";
import { compareAmounts, subtractAmounts } from "@/components/features/swap/decimal";
import { balanceOf } from "@/components/features/swap/use-swap-setup";
import { useKnownAddresses } from "@/components/features/transfer/recipient";
import { AddressGroups } from "@/components/ui/address";
import { Amount, Unknown } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Fact } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { isSameText } from "@/lib/core/same-text";
import type { MoveSource } from "./types";

interface ReceiptPartyProps {
  readonly address: string;
  readonly chainId: number;
  readonly children?: ReactNode;
}

/** A wallet on a receipt: mark, name, chain, and the whole address in groups. */
export const ReceiptParty = ({ address, chainId, children }: ReceiptPartyProps): ReactNode => (
  <span className="flex min-w-0 flex-col items-end gap-0.5">
    <span className="inline-flex flex-wrap items-center justify-end gap-x-1.5">
      <RecipientName address={address} chainId={chainId} />
      {children}
      <span className="inline-flex items-center gap-x-1.5 text-fg-2">
        on <ChainName chainId={chainId} />
      </span>
    </span>
    <AddressGroups value={address} className="justify-end" />
  </span>
);

/** The recipient on a receipt, with a note on how the project knows the address. */
export const ReceiptRecipient = (props: Omit<ReceiptPartyProps, "children">): ReactNode => {
  const { known, complete } = useKnownAddresses(props.chainId);
  const found = known.filter(({ address }) => isSameText(address, props.address));
  const paid = found.find(({ as }) => as === "earlier");
  const isNew = complete && found.length === 0;
  return (
    <span className="flex min-w-0 flex-col items-end gap-0.5">
      <ReceiptParty {...props}>
        {found.some(({ as }) => as === "contact") ? (
          <Badge tone="success">approved contact</Badge>
        ) : null}
        {found.some(({ as }) => as === "proposed") ? (
          <Badge tone="warning">contact, not approved</Badge>
        ) : null}
      </ReceiptParty>
      {paid === undefined ? null : (
        <span className="text-sm text-fg-2">Paid before, {paid.name}</span>
      )}
      {isNew ? <span className="text-sm text-warning">A new recipient</span> : null}
    </span>
  );
};

/**
 * The amount that may be moved from each source after this movement: the available amount less the
 * moved amount.
 */
export const AvailableAfter = ({
  from,
}: {
  readonly from: readonly MoveSource[];
}): ReactNode => {
  const balances = useBalances().data;
  return (
    <Fact label="Available after">
      <ul className="flex flex-col gap-1">
        {from.map((source) => {
          const { address, chainId, amount, token } = source;
          const place = { address, chainId: String(chainId), token: token.address };
          const available = balanceOf(balances, place);
          return (
            <li key={`${address} ${String(chainId)} ${token.address}`}>
              <Left available={available} amount={amount} symbol={token.symbol} /> on{" "}
              <ChainName chainId={chainId} />
            </li>
          );
        })}
      </ul>
    </Fact>
  );
};

interface LeftProps {
  /** The amount that may be moved now; null while it is not known. */
  readonly available: string | null;
  readonly amount: string;
  readonly symbol: string;
}

const Left = ({ available, amount, symbol }: LeftProps): ReactNode => {
  if (available === null) return <Unknown reason="The available amount is not known" />;
  if (compareAmounts(available, amount) === -1)
    return <Unknown reason="You ask for more than is available" />;
  return <Amount value={subtractAmounts(available, amount)} unit={symbol} />;
};
