"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useNames, useSentName } from "@/components/features/names/names";
import { Amount } from "@/components/ui/amount";
import { buttonLooks } from "@/components/ui/button-looks";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { Time, useNow } from "@/components/ui/time";
import type { InboxItem } from "./looks";

interface ItemProps {
  readonly item: InboxItem;
}

/**
 * The title of an item: the name that its maker gave it, or else its recipient, or else the
 * service's title.
 */
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

/**
 * The maximum number of lines of amounts. With more assets, only the first amount and the number of
 * the others are shown.
 */
const AMOUNTS_SHOWN = 2;

/**
 * The amounts that leave, one line for each asset. Renders nothing for items without a movement.
 */
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

/**
 * The name of the person or key that made the request. Renders nothing for items that nobody
 * requested.
 */
export const ItemMaker = ({ item: { by, byName } }: ItemProps): ReactNode => {
  const nameOf = useSentName();
  if (by === null) return null;
  return <>{byName === null ? "The service" : nameOf(by, byName)}</>;
};

const HOUR_MS = 3_600_000;
const TICK_MS = 60_000;

/**
 * The time of the request. For requests older than an hour that expire, the time at which they
 * expire.
 */
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

export const ReviewLink = ({ item }: { readonly item: InboxItem }): ReactNode => {
  const title = useItemTitle()(item);
  return (
    <Link
      href={item.path}
      className={buttonLooks({ size: "sm" })}
      aria-label={`Review ${title}`}
    >
      Review
    </Link>
  );
};
