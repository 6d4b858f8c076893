"use client";

import type { ReactNode } from "react";
import { useNames, useSentName } from "@/components/features/names/names";
import { recipientView, useKnownAddresses } from "@/components/features/transfer/recipient";
import { ChainName } from "@/components/ui/marks";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { Time, useNow } from "@/components/ui/time";
import { isSameText } from "@/lib/core/same-text";
import { INBOX_LOOKS, type InboxItem } from "./looks";

interface ItemProps {
  readonly item: InboxItem;
}

/** The title of an item: its maker's name for it, or who is paid, or the service's title. */
export const useItemTitle = (): ((item: InboxItem) => string) => {
  const { addressName } = useNames();
  const hideable = useHideableText();
  return ({ kind, title, movement }) => {
    if (kind !== "decision" || movement === null) return hideable(title);
    const { reference, recipient, chainId } = movement;
    if (reference !== null) return reference;
    if (recipient === null) return hideable(title);
    return `Pay ${addressName(recipient, chainId ?? undefined)}`;
  };
};

export const ItemTitle = ({ item }: ItemProps): ReactNode => useItemTitle()(item);

/** Up to this many assets are shown; more are counted. */
const AMOUNTS_SHOWN = 2;

/** The amounts that leave, one line for each asset. Renders nothing for other items. */
export const ItemAmount = ({ item: { movement } }: ItemProps): ReactNode => {
  if (movement === null) return null;
  const { amounts } = movement;
  const shown = amounts.length > AMOUNTS_SHOWN ? amounts.slice(0, 1) : amounts;
  return (
    <span className="flex flex-col items-end whitespace-nowrap">
      {shown.map(({ amount, symbol }) => (
        <Amount key={symbol} value={amount} unit={symbol} />
      ))}
      {shown.length < amounts.length ? (
        <span className="text-sm text-fg-3">and {amounts.length - shown.length} more</span>
      ) : null}
    </span>
  );
};

/** The name of the person or key that asked. Renders nothing when nobody asked. */
export const ItemMaker = ({ item: { by, byName } }: ItemProps): ReactNode => {
  const nameOf = useSentName();
  if (by === null) return null;
  return <>{byName === null ? "The service" : nameOf(by, byName)}</>;
};

const HOUR_MS = 3_600_000;
const TICK_MS = 60_000;

/** When it was asked for, and, for requests that are older than an hour, when it expires. */
export const ItemTime = ({ item: { since, until, by } }: ItemProps): ReactNode => {
  const now = useNow(TICK_MS);
  const isOld = now !== null && now - Date.parse(since) > HOUR_MS;
  if (until !== null && isOld)
    return (
      <>
        expires <Time value={until} />
      </>
    );
  return (
    <>
      {by === null ? "since " : "asked "}
      <Time value={since} />
    </>
  );
};

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

/** Whether the address only looks like a known one, or how often it was paid. */
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

/** The mark beside the title: a look-alike, or what kind of problem it is. */
export const ItemMark = ({ item }: ItemProps): ReactNode => {
  const { kind, movement } = item;
  const { label, tone } = INBOX_LOOKS[kind];
  if (kind !== "decision") return <Badge tone={item.mine ? tone : "neutral"}>{label}</Badge>;
  if (movement === null || movement.recipient === null) return null;
  return <LookAlikeMark address={movement.recipient} chainId={movement.chainId} />;
};

const LookAlikeMark = (props: RecipientProps): ReactNode =>
  useRecipientFact(props).lookAlike === null ? null : <Badge tone="warning">look-alike</Badge>;
