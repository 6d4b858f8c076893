"use client";

import { dateText } from "@/components/ui/date-text";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { useHydrated } from "@/components/ui/use-hydrated";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { ACTIVITY_WORDS } from "./activity-entry";
import { isFiltered, type ActivityFilters } from "./filter-model";
import type { ActivityFilterState } from "./use-activity-filters";
import { useChainName } from "./use-chain-name";

const SEARCH_SHOWN = 24;

const anyOf = (words: readonly string[] | undefined): string | null =>
  words === undefined || words.length === 0 ? null : words.join(" or ");

/** The filters in use, each with a button that removes it. */
export const FilterChips = ({
  state: { filters, change, clear },
}: {
  readonly state: ActivityFilterState;
}): ReactNode => {
  const isHydrated = useHydrated();
  const chainName = useChainName();
  const wallets = useWallets().data?.data ?? [];
  if (!isFiltered(filters)) return null;
  // The server does not know the reader's locale. Without a time the day is one of the reader's own time zone.
  const dayText = (day: string): string => (isHydrated ? dateText(new Date(`${day}T00:00`), "date") : day);
  const walletText = (id: string): string => {
    const wallet = wallets.find((one) => one.id === id);
    return wallet === undefined ? shorten(id, 8) : `${walletName(wallet)} ${shorten(wallet.address)}`;
  };
  const texts: Record<keyof ActivityFilters, string | null> = {
    status: anyOf(filters.status?.map((status) => STATUS_VIEWS[status].word)),
    kind: anyOf(filters.kind?.map((kind) => ACTIVITY_WORDS[kind])),
    chain: anyOf(filters.chain?.map(chainName)),
    wallet: anyOf(filters.wallet?.map(walletText)),
    from: filters.from === null ? null : `from ${dayText(filters.from)}`,
    to: filters.to === null ? null : `to ${dayText(filters.to)}`,
    q: filters.q === null ? null : `“${shorten(filters.q, SEARCH_SHOWN)}”`,
    tag: filters.tag === null ? null : `tag ${filters.tag}`,
  };
  const chips = Object.entries(texts).filter((entry): entry is [keyof ActivityFilters, string] => entry[1] !== null);
  return (
    <ul aria-label="Filters in use" className="flex flex-wrap items-center gap-2">
      {chips.map(([name, text]) => (
        <li key={name}>
          <button
            type="button"
            aria-label={`Remove the filter ${text}`}
            onClick={() => change({ [name]: null })}
            className="flex h-7 items-center gap-1.5 rounded-control bg-accent-tint px-2 text-sm text-accent hover:bg-sunken touch-target"
          >
            {text} <X className="size-3.5" aria-hidden />
          </button>
        </li>
      ))}
      <li>
        <Button size="sm" variant="ghost" onClick={clear}>
          Show all
        </Button>
      </li>
    </ul>
  );
};
