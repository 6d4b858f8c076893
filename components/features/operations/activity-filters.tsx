"use client";

import { Bookmark, BookmarkPlus, CalendarRange, SlidersHorizontal, X } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import {
  createParser,
  parseAsArrayOf,
  parseAsInteger,
  parseAsString,
  parseAsStringLiteral,
  useQueryStates,
} from "nuqs";
import { type ReactNode, useCallback, useId, useState } from "react";
import { useNames } from "@/components/features/names/names";
import {
  useWallets,
  walletName,
  walletOption,
} from "@/components/features/wallets/use-wallets";
import { useChainName, usePublicConfig } from "@/components/providers/public-config";
import { shorten } from "@/components/ui/address";
import { STATUS_VIEWS } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import {
  DropdownMenu,
  MenuItem,
  MenuLabel,
  MenuSeparator,
} from "@/components/ui/dropdown-menu";
import { DayInput, Field } from "@/components/ui/field";
import { chainOption } from "@/components/ui/marks";
import { MultiSelect } from "@/components/ui/multi-select";
import { dateText } from "@/components/ui/time";
import { useHydrated } from "@/components/ui/use-hydrated";
import { STATUSES } from "@/lib/core/status";
import { ACTIVITY_KINDS, ACTIVITY_WORDS } from "./activity-entry";
import {
  type ActivityFilters,
  DATE_PRESETS,
  type DayRange,
  isDay,
  isFiltered,
  NO_FILTERS,
} from "./filter-model";
import { COMMON_VIEWS, useSavedViews } from "./saved-views";
import { SearchField } from "./search-field";

const STATUS_OPTIONS = STATUSES.map((status) => ({
  value: status,
  label: STATUS_VIEWS[status].word,
}));

const KIND_OPTIONS = ACTIVITY_KINDS.map((kind) => ({
  value: kind,
  label: ACTIVITY_WORDS[kind],
}));

/**
 * The search, the menus and the filters of the activity list. On phones the filters are hidden
 * until a button opens them, which leaves room for the list.
 */
export const FilterBar = ({ state, children }: FiltersProps): ReactNode => {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          value={state.filters.q ?? ""}
          onSettle={(q) => state.change({ q: q === "" ? null : q })}
        />
        <Button
          className="md:hidden"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          <SlidersHorizontal aria-hidden /> Filters
        </Button>
        <DatesMenu onChoose={state.change} />
        <ViewsMenu />
        {children}
      </div>
      <div
        id={id}
        className={cn(
          "grid grid-cols-2 gap-3 md:grid md:grid-cols-3 lg:grid-cols-6",
          !open && "max-md:hidden",
        )}
      >
        <Choices state={state} />
      </div>
    </div>
  );
};

export const DatesMenu = ({
  onChoose,
}: {
  readonly onChoose: (range: DayRange) => void;
}): ReactNode => (
  <DropdownMenu
    trigger={
      <Button>
        <CalendarRange aria-hidden /> Dates
      </Button>
    }
  >
    {DATE_PRESETS.map(({ label, range }) => (
      <MenuItem key={label} onSelect={() => onChoose(range(new Date()))}>
        {label}
      </MenuItem>
    ))}
  </DropdownMenu>
);

interface FiltersProps {
  readonly state: ActivityFilterState;
  readonly children?: ReactNode;
}

const Choices = ({
  state: { filters, change },
}: {
  readonly state: Pick<ActivityFilterState, "filters" | "change">;
}): ReactNode => {
  const { chains } = usePublicConfig();
  const wallets = useWallets().data?.data ?? [];
  return (
    <>
      <Field label="Status">
        <MultiSelect
          all="All states"
          value={filters.status ?? []}
          options={STATUS_OPTIONS}
          onValueChange={(status) => change({ status: status.length === 0 ? null : status })}
        />
      </Field>
      <Field label="Kind">
        <MultiSelect
          all="All kinds"
          value={filters.kind ?? []}
          options={KIND_OPTIONS}
          onValueChange={(kind) => change({ kind: kind.length === 0 ? null : kind })}
        />
      </Field>
      <Field label="Chain">
        <MultiSelect
          all="All chains"
          value={(filters.chain ?? []).map(String)}
          options={chains.map(chainOption)}
          onValueChange={(chain) =>
            change({ chain: chain.length === 0 ? null : chain.map(Number) })
          }
        />
      </Field>
      <Field label="Wallet">
        <MultiSelect
          all="All wallets"
          value={filters.wallet ?? []}
          options={wallets.map((wallet) => ({ ...walletOption(wallet), value: wallet.id }))}
          onValueChange={(wallet) => change({ wallet: wallet.length === 0 ? null : wallet })}
        />
      </Field>
      <Days state={{ filters, change }} />
    </>
  );
};

export const Days = ({
  state: { filters, change },
}: {
  readonly state: Pick<ActivityFilterState, "filters" | "change">;
}): ReactNode => (
  <>
    <Field label="From">
      <DayInput value={filters.from} max={filters.to} onChange={(from) => change({ from })} />
    </Field>
    <Field label="To">
      <DayInput value={filters.to} min={filters.from} onChange={(to) => change({ to })} />
    </Field>
  </>
);

// The dialog is loaded on demand, because its form needs zod and the page does not.

const ViewsDialog = dynamic(
  () => import("./views-dialog").then((module) => module.ViewsDialog),
  {
    ssr: false,
  },
);

/**
 * The menu that opens and saves views. A view is a named link to this page, so it can also be
 * shared.
 */
const ViewsMenu = (): ReactNode => {
  const router = useRouter();
  const { views } = useSavedViews();
  const [saving, setSaving] = useState<string | null>(null);
  const open = (search: string): void => router.push(`/activity?${search}`);
  return (
    <>
      <DropdownMenu
        trigger={
          <Button>
            <Bookmark aria-hidden /> Views
          </Button>
        }
      >
        {COMMON_VIEWS.map(({ name, search }) => (
          <MenuItem key={name} onSelect={() => open(search)}>
            {name}
          </MenuItem>
        ))}
        {views.length === 0 ? null : (
          <>
            <MenuSeparator />
            <MenuLabel>Saved in this browser</MenuLabel>
          </>
        )}
        {views.map(({ name, search }) => (
          <MenuItem key={name} onSelect={() => open(search)}>
            {name}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem onSelect={() => setSaving(window.location.search.slice(1))}>
          <BookmarkPlus aria-hidden /> Save or remove views
        </MenuItem>
      </DropdownMenu>
      {saving === null ? null : <ViewsDialog search={saving} onClose={() => setSaving(null)} />}
    </>
  );
};

const SEARCH_SHOWN = 24;

const PARTY_TEXTS: Readonly<Record<string, string>> = {
  none: "without known counterparty",
  several: "with several recipients",
};

const anyOf = (words: readonly string[] | undefined): string | null =>
  words === undefined || words.length === 0 ? null : words.join(" or ");

export const FilterChips = ({
  state: { filters, change, clear },
}: {
  readonly state: ActivityFilterState;
}): ReactNode => {
  const isHydrated = useHydrated();
  const chainName = useChainName();
  const wallets = useWallets().data?.data ?? [];
  const names = useNames();
  if (!isFiltered(filters)) return null;
  // The server does not know the reader's locale, so it renders the day as it is. The time makes
  // `Date` read the day in the reader's time zone and not in UTC.
  const dayText = (day: string): string =>
    isHydrated ? dateText(new Date(`${day}T00:00`), "date") : day;
  const walletText = (id: string): string => {
    const wallet = wallets.find((one) => one.id === id);
    return wallet === undefined
      ? shorten(id, 8)
      : `${walletName(wallet)} ${shorten(wallet.address)}`;
  };
  const partyText = (party: string): string =>
    PARTY_TEXTS[party] ??
    `with ${party.startsWith("0x") ? names.addressName(party) : shorten(party, 8)}`;
  const texts: Record<keyof ActivityFilters, string | null> = {
    status: anyOf(filters.status?.map((status) => STATUS_VIEWS[status].word)),
    kind: anyOf(filters.kind?.map((kind) => ACTIVITY_WORDS[kind])),
    chain: anyOf(filters.chain?.map(chainName)),
    wallet: anyOf(filters.wallet?.map(walletText)),
    from: filters.from === null ? null : `from ${dayText(filters.from)}`,
    to: filters.to === null ? null : `to ${dayText(filters.to)}`,
    q: filters.q === null ? null : `“${shorten(filters.q, SEARCH_SHOWN)}”`,
    tag: filters.tag === null ? null : `tag ${filters.tag}`,
    counterparty: filters.counterparty === null ? null : partyText(filters.counterparty),
    token: filters.token === null ? null : `token ${filters.token.toUpperCase()}`,
  };
  const chips = Object.entries(texts).filter(
    (entry): entry is [keyof ActivityFilters, string] => entry[1] !== null,
  );
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

const day = createParser({
  parse: (text) => (isDay(text) ? text : null),
  serialize: (text: string) => text,
});

const PARSERS = {
  status: parseAsArrayOf(parseAsStringLiteral(STATUSES)),
  kind: parseAsArrayOf(parseAsStringLiteral(ACTIVITY_KINDS)),
  chain: parseAsArrayOf(parseAsInteger),
  wallet: parseAsArrayOf(parseAsString),
  from: day,
  to: day,
  q: parseAsString,
  tag: parseAsString,
  counterparty: parseAsString,
  token: parseAsString,
};

interface ActivityFilterState {
  readonly filters: ActivityFilters;
  readonly change: (part: Partial<ActivityFilters>) => void;
  readonly clear: () => void;
}

/** Copies the lists, because the parsers of the page's address take mutable arrays. */
const toStored = ({ status, kind, chain, wallet, ...rest }: Partial<ActivityFilters>) => ({
  ...rest,
  ...(status === undefined ? {} : { status: status && [...status] }),
  ...(kind === undefined ? {} : { kind: kind && [...kind] }),
  ...(chain === undefined ? {} : { chain: chain && [...chain] }),
  ...(wallet === undefined ? {} : { wallet: wallet && [...wallet] }),
});

/**
 * The filters of the activity list, and functions to change and clear them. The page's address
 * stores the filters, so that a filtered list can be linked to and survives a reload.
 */
export const useActivityFilters = (): ActivityFilterState => {
  const [filters, setFilters] = useQueryStates(PARSERS, { history: "replace" });
  const change = useCallback(
    (part: Partial<ActivityFilters>) => void setFilters(toStored(part)),
    [setFilters],
  );
  const clear = useCallback(() => void setFilters(toStored(NO_FILTERS)), [setFilters]);
  return { filters, change, clear };
};
