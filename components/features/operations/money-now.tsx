"use client";

import type { ReactNode } from "react";
import { NamedAddress } from "@/components/features/names/named-address";
import { TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { heldPlaces, type HeldPlace } from "./held-places";
import type { Operation } from "./types";

/** Every part of the money, and where it is at this moment. */
export const MoneyNow = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const places = heldPlaces(operation.outcome.holds);
  if (places.length === 0) return null;
  return (
    <section aria-label="Where the money is now" className="min-w-0">
      <h2 className="font-semibold">Where the money is now</h2>
      <ul className="flex flex-col gap-1 pt-1 text-fg-2">
        {places.map((place) => (
          <li key={place.key} className="flex flex-wrap items-center gap-x-1.5">
            <HeldMoney place={place} />
          </li>
        ))}
      </ul>
    </section>
  );
};

const HeldMoney = ({ place }: { readonly place: HeldPlace }): ReactNode => (
  <>
    <Amount value={place.amount} unit={place.symbol} className="font-medium text-fg" />
    {place.wallet.startsWith("0x") ? (
      <>
        at <NamedAddress value={place.wallet} />
      </>
    ) : (
      <>in {place.wallet}</>
    )}{" "}
    on{" "}
    <span>
      <ChainName chainId={place.chainId} />
      {place.note === "received" ? "" : `, ${place.note}`}
    </span>
    {place.hashes.map((hash) => (
      <TxHash key={hash} value={hash} />
    ))}
  </>
);
