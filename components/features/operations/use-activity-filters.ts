"use client";

import {
  createParser,
  parseAsArrayOf,
  parseAsInteger,
  parseAsString,
  parseAsStringLiteral,
  useQueryStates,
} from "nuqs";
import { useCallback } from "react";
import { STATUSES } from "@/lib/core/status";
import { ACTIVITY_KINDS } from "./activity-entry";
import { isDay, NO_FILTERS, type ActivityFilters } from "./filter-model";

const day = createParser({ parse: (text) => (isDay(text) ? text : null), serialize: (text: string) => text });

const PARSERS = {
  status: parseAsArrayOf(parseAsStringLiteral(STATUSES)),
  kind: parseAsArrayOf(parseAsStringLiteral(ACTIVITY_KINDS)),
  chain: parseAsArrayOf(parseAsInteger),
  wallet: parseAsArrayOf(parseAsString),
  from: day,
  to: day,
  q: parseAsString,
  tag: parseAsString,
};

export interface ActivityFilterState {
  readonly filters: ActivityFilters;
  readonly change: (part: Partial<ActivityFilters>) => void;
  readonly clear: () => void;
}

/** Lists as the address's parsers want them: arrays of their own. */
const toStored = ({ status, kind, chain, wallet, ...rest }: Partial<ActivityFilters>) => ({
  ...rest,
  ...(status === undefined ? {} : { status: status && [...status] }),
  ...(kind === undefined ? {} : { kind: kind && [...kind] }),
  ...(chain === undefined ? {} : { chain: chain && [...chain] }),
  ...(wallet === undefined ? {} : { wallet: wallet && [...wallet] }),
});

/** The filters live in the address of the page, so that a filtered list can be linked to and survives a reload. */
export const useActivityFilters = (): ActivityFilterState => {
  const [filters, setFilters] = useQueryStates(PARSERS, { history: "replace" });
  const change = useCallback((part: Partial<ActivityFilters>) => void setFilters(toStored(part)), [setFilters]);
  const clear = useCallback(() => void setFilters(toStored(NO_FILTERS)), [setFilters]);
  return { filters, change, clear };
};
