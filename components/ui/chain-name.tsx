"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";
import { ChainMark } from "./marks";

interface ChainNameProps {
  readonly chainId: number;
  /** Of the name alone, such as one that leaves the mark where there is little room; the title has the name in any case. */
  readonly nameClassName?: string;
}

/** The name of a chain with its mark; its id where the configuration no longer has it. */
export const ChainName = ({ chainId, nameClassName }: ChainNameProps): ReactNode => {
  const chain = useChain(chainId);
  const name = chain?.name ?? `Chain ${chainId}`;
  return (
    <span title={`${name}, chain id ${chainId}`} className="whitespace-nowrap">
      <ChainMark name={name} className="mr-1" />
      <span className={nameClassName}>{name}</span>
    </span>
  );
};
