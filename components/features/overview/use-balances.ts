"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import { getUnifiedBalances } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Balances = ResponseOf<typeof getUnifiedBalances>;
export type TokenTotal = Balances["totals"][number];

/** Balances of all wallets over all chains, read again when one changes. */
export const useBalances = (): UseQueryResult<Balances> => useApiQuery(getUnifiedBalances, {}, { live: true });
