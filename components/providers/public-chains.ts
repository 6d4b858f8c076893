import { defineChain, http, type Chain } from "viem";
import type { Transport } from "wagmi";
import type { PublicChain } from "@/lib/http/public-config";
import { walletTransport } from "./wallet-transport";

const toViemChain = (chain: PublicChain): Chain =>
  defineChain({
    id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    nativeCurrency: chain.nativeCurrency,
    rpcUrls: { default: { http: chain.rpcUrl === null ? [] : [chain.rpcUrl] } },
    contracts: { multicall3: { address: chain.multicall3 } },
    ...(chain.explorerUrl === null
      ? {}
      : { blockExplorers: { default: { name: "Explorer", url: chain.explorerUrl } } }),
  });

/** @throws Error when there is none */
export const chainsOf = (publicChains: readonly PublicChain[]): readonly [Chain, ...Chain[]] => {
  const [first, ...rest] = publicChains.map(toViemChain);
  if (first === undefined) throw new Error("The configuration names no chain.");
  return [first, ...rest];
};

export const transportsOf = (publicChains: readonly PublicChain[]): Record<number, Transport> =>
  Object.fromEntries(
    publicChains.map(({ id, rpcUrl }) => [id, rpcUrl === null ? walletTransport() : http(rpcUrl)] as const),
  );
