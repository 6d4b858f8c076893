"use client";

import { CalendarRange, SlidersHorizontal } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletOption } from "@/components/features/wallets/wallet-name";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { DropdownMenu, MenuItem } from "@/components/ui/dropdown-menu";
import { Field, Input } from "@/components/ui/field";
import { MultiSelect } from "@/components/ui/multi-select";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { STATUSES } from "@/lib/core/status";
import { chainOption } from "@/components/ui/marked-options";
import { ACTIVITY_KINDS, ACTIVITY_WORDS } from "./activity-entry";
import { DATE_PRESETS, type DayRange } from "./date-presets";
import { isDay } from "./filter-model";
import { SearchField } from "./search-field";
import { ViewsMenu } from "./views-menu";
import type { ActivityFilterState } from "./use-activity-filters";

const STATUS_OPTIONS = STATUSES.map((status) => ({ value: status, label: STATUS_VIEWS[status].word }));
const KIND_OPTIONS = ACTIVITY_KINDS.map((kind) => ({ value: kind, label: ACTIVITY_WORDS[kind] }));

/** On phones all but the search is folded away, for the list is what one came for. */
export const ActivityFilters = ({ state, children }: FiltersProps): ReactNode => {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchField value={state.filters.q ?? ""} onSettle={(q) => state.change({ q: q === "" ? null : q })} />
        <Button className="md:hidden" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden /> Filters
        </Button>
        <DatesMenu onChoose={state.change} />
        <ViewsMenu />
        {children}
      </div>
      <div
        id={id}
        className={cn("grid grid-cols-2 gap-3 md:grid md:grid-cols-3 lg:grid-cols-6", !open && "max-md:hidden")}
      >
        <Choices state={state} />
      </div>
    </div>
  );
};

const DatesMenu = ({ onChoose }: { readonly onChoose: (range: DayRange) => void }): ReactNode => (
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
  /** Shown beside the search. */
  readonly children?: ReactNode;
}

const Choices = ({ state: { filters, change } }: Pick<FiltersProps, "state">): ReactNode => {
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
          onValueChange={(chain) => change({ chain: chain.length === 0 ? null : chain.map(Number) })}
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
      <DayField label="From" value={filters.from} max={filters.to} onChange={(from) => change({ from })} />
      <DayField label="To" value={filters.to} min={filters.from} onChange={(to) => change({ to })} />
    </>
  );
};

interface DayFieldProps {
  readonly label: string;
  readonly value: string | null;
  readonly min?: string | null;
  readonly max?: string | null;
  readonly onChange: (day: string | null) => void;
}

const DayField = ({ label, value, min, max, onChange }: DayFieldProps): ReactNode => (
  <Field label={label}>
    <Input
      type="date"
      value={value ?? ""}
      min={min ?? undefined}
      max={max ?? undefined}
      onChange={(event) => onChange(isDay(event.target.value) ? event.target.value : null)}
    />
  </Field>
);
