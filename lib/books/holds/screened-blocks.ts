import { LRUCache } from "lru-cache";
import { fundsKey, type HoldsRepository } from "./repository";

/**
 * How long a screened block is cached. A new policy that requires screened money may take effect
 * this much later.
 */
const FRESH_MS = 1000;
const WALLETS_MAX = 10_000;
/**
 * Stands for the address of any token in a key. All tokens of a chain are searched together, so
 * they have the same screened block.
 */
const A_TOKEN = "token";

/**
 * The newest blocks up to which all money that came into a wallet was screened; -1 when none was.
 */
export interface ScreenedBlocks {
  readonly tokens: bigint;
  readonly native: bigint;
}

/**
 * Returns a function that reads the screened blocks of a wallet on a chain, or null when the
 * wallet's policies do not require screening. Queries the database at most once a second per
 * wallet and chain.
 */
export const createScreenedBlocks = (repository: Pick<HoldsRepository, "guards">) => {
  const known = new LRUCache<string, Promise<ScreenedBlocks | null>>({
    max: WALLETS_MAX,
    ttl: FRESH_MS,
  });

  const read = async (
    walletAddress: string,
    chainId: number,
  ): Promise<ScreenedBlocks | null> => {
    const keyOf = (token: string) => ({ walletAddress, chainId, token });
    const guards = await repository.guards([keyOf(A_TOKEN), keyOf("native")]);
    const blockOf = (token: string): bigint | null =>
      guards.get(fundsKey(keyOf(token)))?.screenedBlock ?? null;
    const [tokens, native] = [blockOf(A_TOKEN), blockOf("native")];
    return tokens === null || native === null ? null : { tokens, native };
  };

  return (walletAddress: string, chainId: number): Promise<ScreenedBlocks | null> => {
    const key = `${walletAddress}:${String(chainId)}`;
    const asked = known.get(key) ?? read(walletAddress, chainId);
    known.set(key, asked, { noUpdateTTL: true });
    asked.catch(() => known.delete(key));
    return asked;
  };
};
