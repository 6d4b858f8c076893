"use client";

/**
 * Parts of an item that depend on the known addresses. They are in their own file, because the
 * overview does not need them.
 */
import type { ReactNode } from "react";
import { recipientView, useKnownAddresses } from "@/components/features/transfer/recipient";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/marks";
import { isSameText } from "@/lib/core/same-text";
import { INBOX_LOOKS, type InboxItem } from "./looks";

interface ItemProps {
  readonly item: InboxItem;
}

/** The kind and chain of the movement, how its recipient is known, and the votes so far. */
export const ItemFacts = ({ item }: ItemProps): ReactNode => {
  const { movement, votes } = item;
  if (movement === null) return null;
  return (
    <>
      {movement.kind}
      {movement.chainId === null ? null : (
        <>
          {" on "}
          <ChainName chainId={movement.chainId} />
        </>
      )}
      {movement.recipient === null ? null : (
        <RecipientFact address={movement.recipient} chainId={movement.chainId} />
      )}
      {votes === null
        ? null
        : ` · ${String(votes.approvals)} of ${String(votes.required)} so far`}
    </>
  );
};

interface RecipientProps {
  readonly address: string;
  readonly chainId: number | null;
}

/**
 * How the project knows the address. `lookAlike` is the known address with which it can be
 * confused, or null. `paid` is an earlier payment to it. `complete` is false while addresses are
 * loading.
 */
const useRecipientFact = ({ address, chainId }: RecipientProps) => {
  const { known, complete } = useKnownAddresses(chainId);
  const view = recipientView(address, known);
  const paid = known.find((one) => one.as === "earlier" && isSameText(one.address, address));
  return { lookAlike: view.as === "none" ? null : view.lookAlike, paid, complete, view };
};

const RecipientFact = (props: RecipientProps): ReactNode => {
  const { lookAlike, paid, complete, view } = useRecipientFact(props);
  if (lookAlike !== null)
    return ` · looks like ${lookAlike.as === "earlier" ? "an address that was paid" : lookAlike.name}, but is another address`;
  if (paid !== undefined) return ` · paid ${paid.name} before`;
  return complete && view.as === "new" ? " · a new recipient" : null;
};

/**
 * The mark beside the title: a warning about a look-alike address of a movement, or the kind of any
 * other item.
 */
export const ItemMark = ({ item }: ItemProps): ReactNode => {
  const { kind, movement } = item;
  const { label, tone } = INBOX_LOOKS[kind];
  if (kind !== "decision") return <Badge tone={item.mine ? tone : "neutral"}>{label}</Badge>;
  if (movement === null || movement.recipient === null) return null;
  return <LookAlikeMark address={movement.recipient} chainId={movement.chainId} />;
};

const LookAlikeMark = (props: RecipientProps): ReactNode =>
  useRecipientFact(props).lookAlike === null ? null : <Badge tone="warning">look-alike</Badge>;
