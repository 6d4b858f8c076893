import { readBalances } from "@/lib/chains/balances";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/ports/routing";

const unreadable = (registry: ChainRegistry, { symbol, chainId }: Token): DomainError =>
  new DomainError(
    "chain_unavailable",
    `The balance of ${symbol} on ${registry.get(chainId).name} could not be read. Nothing was moved; try again shortly.`,
  );

/** One balance at a block. */
export const readAt = async (
  registry: ChainRegistry,
  { owner, token }: { readonly owner: string; readonly token: Token },
  block: bigint,
): Promise<bigint> => {
  const address = owner as EvmAddress;
  const balance = (await readBalances(registry, token.chainId, [address], [token], block)).get(address, token);
  if (balance === null) throw unreadable(registry, token);
  return balance;
};

/** One round trip per chain, whatever the number of balances. A balance that cannot be read is an error, not zero. */
export const readEach = async (
  registry: ChainRegistry,
  at: readonly { chainId: number; owner: string; token: Token }[],
): Promise<readonly bigint[]> => {
  const chainIds = [...new Set(at.map(({ chainId }) => chainId))];
  const byChain = await Promise.all(
    chainIds.map(async (chainId) => {
      const here = at.filter((each) => each.chainId === chainId);
      const owners = [...new Set(here.map(({ owner }) => owner as EvmAddress))];
      const tokens = [...new Map(here.map(({ token }) => [token.address, token])).values()];
      return [chainId, await readBalances(registry, chainId, owners, tokens)] as const;
    }),
  );
  const balances = new Map(byChain);
  return at.map(({ chainId, owner, token }) => {
    const balance = balances.get(chainId)?.get(owner as EvmAddress, token);
    if (balance === null || balance === undefined) throw unreadable(registry, token);
    return balance;
  });
};
