"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listWallets } from "@/lib/contracts/wallets";

export type WalletList = ResponseOf<typeof listWallets>;
export type WalletRecord = WalletList["data"][number];

const STALE_MS = 30_000;

export const useWallets = (): UseQueryResult<WalletList> => useApiQuery(listWallets, {}, { staleTimeMs: STALE_MS });

/** The project's own wallet; undefined until the wallets are known. */
export const useTreasury = (): WalletRecord | undefined =>
  useWallets().data?.data.find((wallet) => wallet.kind === "treasury");
