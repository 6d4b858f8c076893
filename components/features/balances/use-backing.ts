"use client";

import { useMemo } from "react";
import type { Balances } from "@/components/features/overview/use-balances";
import { useReserves } from "@/components/features/reserves/use-reserves";
import { backingOf, type Backing } from "./backing";

/** Null while it is not known what backs global accounts. */
export const useBacking = (balances: Balances | undefined): Backing | null => {
  const reserves = useReserves().data?.data;
  return useMemo(
    () => (balances === undefined || reserves === undefined ? null : backingOf(balances, reserves)),
    [balances, reserves],
  );
};
