"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { apiQuery } from "@/components/features/session/api-query";
import { usePublicConfig } from "@/components/providers/public-config";
import { cn } from "@/components/ui/cn";
import { ChainMark } from "@/components/ui/marks";
import { useLocale } from "@/components/ui/use-locale";
import { listChainHeads } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import type { PublicChain } from "@/lib/http/public-config";

const BLOCKS_SHOWN = 9;
const CHAINS_SHOWN = 4;
/** Opacities of the blocks, indexed by the age of a block. The newest block is the darkest. */
const FADES = [
  "opacity-100",
  "opacity-70",
  "opacity-55",
  "opacity-45",
  "opacity-35",
  "opacity-30",
  "opacity-25",
  "opacity-20",
  "opacity-15",
] as const;

export const LiveChains = (): ReactNode => {
  const heads = useChainHeads().slice(0, CHAINS_SHOWN);
  const live = heads.some(({ block }) => block !== null);
  return (
    <figure aria-label="The chains now" className="flex min-w-0 flex-col gap-1">
      {heads.map((head, index) => (
        <div key={head.chain.id} className="min-w-0">
          {index === 0 ? null : <Bridge flipped={index % 2 === 0} />}
          <Lane head={head} />
        </div>
      ))}
      <figcaption className="pt-3 text-sm text-fg-3">
        {live
          ? "Live: the newest blocks of the chains."
          : "The chains that this service moves money on."}
      </figcaption>
    </figure>
  );
};

const Lane = ({ head: { chain, block } }: { readonly head: ChainHead }): ReactNode => {
  const locale = useLocale();
  return (
    <div className="flex items-center gap-3 rounded-card border bg-surface px-3 py-2">
      <ChainMark name={chain.name} className="size-6" />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{chain.name}</span>
        <span className="num block text-sm text-fg-3">
          {block === null ? "ready" : `block ${countText(block, locale)}`}
        </span>
      </span>
      <span aria-hidden className="flex flex-row-reverse gap-1">
        {Array.from({ length: BLOCKS_SHOWN }, (_, age) => (
          <span
            key={block === null ? age : block - age}
            className={cn(
              "size-3 rounded-tag bg-accent transition-opacity duration-150",
              block === null ? "opacity-15" : FADES[age],
              age > 5 && "max-sm:hidden",
              age === 0 && block !== null && "animate-pop-in",
            )}
          />
        ))}
      </span>
    </div>
  );
};

const Bridge = ({ flipped }: { readonly flipped: boolean }): ReactNode => (
  <svg
    viewBox="0 0 120 18"
    className={cn("h-[18px] w-28 text-accent", flipped ? "mr-[22%] ml-auto" : "ml-[22%]")}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    aria-hidden
  >
    <path d="M2 0v4M118 0v4M2 18v-4M118 18v-4" opacity="0.5" />
    <path d="M2 9h116" />
    <path
      d="M2 18c0-6 8-9 19.3-9s19.4 3 19.4 9M40.7 18c0-6 8-9 19.3-9s19.4 3 19.4 9M79.3 18c0-6 8-9 19.3-9s19.4 3 19.4 9"
      opacity="0.6"
    />
  </svg>
);

const REFRESH_MS = 2_000;

interface ChainHead {
  readonly chain: PublicChain;
  /** Number of the newest block; null while unknown. */
  readonly block: number | null;
}

/** The newest block of each chain, as the service reads it. */
const useChainHeads = (): ChainHead[] => {
  const { chains } = usePublicConfig();
  const { data } = useQuery({
    ...apiQuery(listChainHeads, {}),
    refetchInterval: REFRESH_MS,
  });
  return chains.map((chain) => {
    const head = data?.data.find(({ chainId }) => chainId === chain.id);
    return { chain, block: head?.block ?? null };
  });
};
