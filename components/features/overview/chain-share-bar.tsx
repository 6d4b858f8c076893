"use client";

import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";
import { chainShares } from "./sums";
import type { TokenTotal } from "./use-balances";

/** Written whole, so that the style sheet has them. Their distances hold for colour-blind eyes too. */
const FILLS = ["fill-chart-1", "fill-chart-2", "fill-chart-3", "fill-chart-4", "fill-chart-5"] as const;
const WIDTH = 100;

const fillOf = (index: number): string => FILLS[index % FILLS.length] ?? FILLS[0];

/** Which colour stands for which chain. */
export const ChainShareLegend = (): ReactNode => {
  const { chains } = usePublicConfig();
  return (
    <span className="inline-flex flex-wrap gap-x-2">
      <span className="sr-only">Share by chain: </span>
      {chains.slice(0, FILLS.length).map((chain, index) => (
        <span key={chain.id} className="inline-flex items-center gap-1">
          <svg viewBox="0 0 8 8" className="size-2" aria-hidden>
            <rect width={8} height={8} className={fillOf(index)} />
          </svg>
          {chain.name}
        </span>
      ))}
    </span>
  );
};

/** How much of a token lies on each chain, as parts of a bar. */
export const ChainShareBar = ({ total }: { readonly total: TokenTotal }): ReactNode => {
  const { chains } = usePublicConfig();
  const amounts = chains.map(({ id }) => total.chains.find(({ chainId }) => chainId === id)?.amount ?? "0");
  const shares = chainShares(amounts, total.decimals);
  if (shares.every((share) => share === 0)) return <span className="text-fg-3">–</span>;
  let start = 0;
  const parts = chains.map((chain, index) => {
    const width = shares[index] ?? 0;
    const part = { id: chain.id, name: chain.name, start, width, fill: fillOf(index) };
    start += width;
    return part;
  });
  const words = parts.filter(({ width }) => width > 0).map(({ name, width }) => `${name} ${String(width)} %`);
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} 6`}
      preserveAspectRatio="none"
      className="h-1.5 w-40"
      role="img"
      aria-label={words.join(", ")}
    >
      {parts.map((part) => (
        <rect key={part.id} x={part.start} width={part.width} height={6} className={part.fill} />
      ))}
    </svg>
  );
};
