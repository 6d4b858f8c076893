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
import { isDay, LISTED_KINDS, NO_FILTERS, type OperationFilters } from "./filter-model";

const day = createParser({ parse: (text) => (isDay(text) ? text : null), serialize: (text: string) => text });

const PARSERS = {
  status: parseAsArrayOf(parseAsStringLiteral(STATUSES)),
  kind: parseAsArrayOf(parseAsStringLiteral(LISTED_KINDS)),
  chain: parseAsArrayOf(parseAsInteger),
  wallet: parseAsArrayOf(parseAsString),
  from: day,
  to: day,
  q: parseAsString,
  tag: parseAsString,
};

export interface ActivityFilterState {
  readonly filters: OperationFilters;
  readonly change: (part: Partial<OperationFilters>) => void;
  readonly clear: () => void;
}

/** Lists as the address's parsers want them: arrays of their own. */
const toStored = ({ status, kind, chain, wallet, ...rest }: Partial<OperationFilters>) => ({
  ...rest,
  ...(status === undefined ? {} : { status: status && [...status] }),
  ...(kind === undefined ? {} : { kind: kind && [...kind] }),
  ...(chain === undefined ? {} : { chain: chain && [...chain] }),
  ...(wallet === undefined ? {} : { wallet: wallet && [...wallet] }),
});

/** The filters live in the address of the page, so that a filtered list can be linked to and survives a reload. */
export const useActivityFilters = (): ActivityFilterState => {
  const [filters, setFilters] = useQueryStates(PARSERS, { history: "replace" });
  const change = useCallback((part: Partial<OperationFilters>) => void setFilters(toStored(part)), [setFilters]);
  const clear = useCallback(() => void setFilters(toStored(NO_FILTERS)), [setFilters]);
  return { filters, change, clear };
};
