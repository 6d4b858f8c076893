"use client";

import { useQueries } from "@tanstack/react-query";
import { z } from "zod";
import { usePublicConfig } from "@/components/providers/public-config";
import type { PublicChain } from "@/lib/http/public-config";

const REFRESH_MS = 1_000;
const TIMEOUT_MS = 3_000;

const answer = z.object({ result: z.string().regex(/^0x[0-9a-f]+$/i) });

const readHead = async (rpcUrl: string, signal: AbortSignal): Promise<number> => {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  return Number(answer.parse(await response.json()).result);
};

export interface ChainHead {
  readonly chain: PublicChain;
  /** Number of its newest block; null while it is not known. */
  readonly block: number | null;
}

/** The newest block of each local chain, every second. Chains of other networks are not asked before somebody has signed in. */
export const useChainHeads = (): ChainHead[] => {
  const { chains, devnet } = usePublicConfig();
  const heads = useQueries({
    queries: chains.map((chain) => ({
      queryKey: ["chain head", chain.id],
      queryFn: ({ signal }: { signal: AbortSignal }) => readHead(chain.rpcUrl ?? "", signal),
      enabled: devnet && chain.rpcUrl !== null,
      refetchInterval: REFRESH_MS,
      retry: false,
    })),
  });
  return chains.map((chain, index) => ({ chain, block: heads[index]?.data ?? null }));
};
