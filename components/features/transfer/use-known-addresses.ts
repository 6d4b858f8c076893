"use client";

import { useMemo } from "react";
import { useContacts } from "@/components/features/contacts/use-contacts";
import { useApiQuery } from "@/components/features/session/use-api";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { listOperations } from "@/lib/api-client/calls.gen";
import type { KnownAddress } from "@/lib/core/look-alike";

/** How far back earlier recipients are looked for. */
const OPERATIONS_READ = 100;
const STALE_MS = 30_000;

export interface KnownAddresses {
  readonly known: readonly KnownAddress[];
  /** False while a list is being read: until then no address may be called new. */
  readonly complete: boolean;
}

/** Wallets of the project, contacts, and whom the newest operations paid. */
export const useKnownAddresses = (): KnownAddresses => {
  const wallets = useWallets();
  const contacts = useContacts();
  const operations = useApiQuery(
    listOperations,
    { query: { limit: OPERATIONS_READ, private: "exclude" } },
    { staleTimeMs: STALE_MS },
  );
  const known = useMemo(() => {
    const paid = new Map<string, number>();
    for (const { quoted, status } of operations.data?.data ?? [])
      if (status === "completed" || status === "partially_completed" || status === "processing")
        paid.set(quoted.to.address, (paid.get(quoted.to.address) ?? 0) + 1);
    return [
      ...(wallets.data?.data ?? []).map((wallet) => ({
        address: wallet.address,
        name: walletName(wallet),
        as: "own" as const,
      })),
      ...(contacts.data?.data ?? []).map(({ address, name }) => ({ address, name, as: "contact" as const })),
      ...[...paid].map(([address, times]) => ({
        address,
        name: times === 1 ? "once" : `${String(times)} times`,
        as: "earlier" as const,
      })),
    ];
  }, [wallets.data, contacts.data, operations.data]);
  return { known, complete: !wallets.isPending && !contacts.isPending && !operations.isPending };
};
