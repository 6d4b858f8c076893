"use client";

import { useMemo } from "react";
import { useKnownAddresses, type KnownAddresses } from "@/components/features/transfer/use-known-addresses";
import { usePrivateTransfers } from "../use-private";

/** As everywhere, and whom the newest private operations paid: those are known on these pages alone. */
export const useKnownRecipients = (): KnownAddresses => {
  const { known, complete } = useKnownAddresses();
  const transfers = usePrivateTransfers();
  const paid = transfers.data?.pages.flatMap(({ data }) => data);
  return useMemo(() => {
    const addresses = (paid ?? []).flatMap(({ toAddress, status }) =>
      toAddress !== null && (status === "completed" || status === "partially_completed" || status === "processing")
        ? [toAddress]
        : [],
    );
    const earlier = [...new Set(addresses)].map((address) => {
      const times = addresses.filter((each) => each === address).length;
      return {
        address,
        name: times === 1 ? "once in private" : `${String(times)} times in private`,
        as: "earlier" as const,
      };
    });
    return { known: [...known, ...earlier], complete: complete && !transfers.isPending };
  }, [known, complete, paid, transfers.isPending]);
};
