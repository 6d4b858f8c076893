"use client";

import { createParser, parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useCallback } from "react";
import { STATUSES } from "@/lib/core/status";
import { isDay, LISTED_KINDS, NO_FILTERS, type OperationFilters } from "./filter-model";

const day = createParser({ parse: (text) => (isDay(text) ? text : null), serialize: (text: string) => text });

const PARSERS = {
  status: parseAsStringLiteral(STATUSES),
  kind: parseAsStringLiteral(LISTED_KINDS),
  chain: parseAsInteger,
  wallet: parseAsString,
  from: day,
  to: day,
  q: parseAsString,
};

export interface ActivityFilterState {
  readonly filters: OperationFilters;
  readonly change: (part: Partial<OperationFilters>) => void;
  readonly clear: () => void;
}

/** The filters live in the address of the page, so that a filtered list can be linked to and survives a reload. */
export const useActivityFilters = (): ActivityFilterState => {
  const [filters, setFilters] = useQueryStates(PARSERS, { history: "replace" });
  const change = useCallback((part: Partial<OperationFilters>) => void setFilters(part), [setFilters]);
  const clear = useCallback(() => void setFilters(NO_FILTERS), [setFilters]);
  return { filters, change, clear };
};
