import { LRUCache } from "lru-cache";
import { fundsKey, type HoldsRepository } from "./repository";

/** For this long a policy that begins to ask for screened money may stay unnoticed, and a newer screened block unused. */
const FRESH_MS = 1000;
const WALLETS_MAX = 10_000;
/** Any name that is not `native`: all tokens of a chain are searched together. */
const A_TOKEN = "token";

/** The newest blocks up to which everything that came into a wallet was screened; -1: nothing ever was. */
export interface ScreenedBlocks {
  readonly tokens: bigint;
  /** Of the chain's coin. */
  readonly native: bigint;
}

/**
 * The screened blocks of a wallet on a chain; null where its policies do not ask for them. Asks the database once a second for each
 * wallet and chain.
 */
export const createScreenedBlocks = (repository: Pick<HoldsRepository, "guards">) => {
  const known = new LRUCache<string, Promise<ScreenedBlocks | null>>({ max: WALLETS_MAX, ttl: FRESH_MS });

  const read = async (walletAddress: string, chainId: number): Promise<ScreenedBlocks | null> => {
    const keyOf = (token: string) => ({ walletAddress, chainId, token });
    const guards = await repository.guards([keyOf(A_TOKEN), keyOf("native")]);
    const blockOf = (token: string): bigint | null => guards.get(fundsKey(keyOf(token)))?.screenedBlock ?? null;
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
