import { LRUCache } from "lru-cache";
import { readBalances, type ChainBalances } from "@/lib/chains/balances";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { withDeadline } from "@/lib/core/deadline";
import type { EvmAddress } from "@/lib/ports/routing";
import type { BalanceHistory } from "./history";
import type { HistoryPoint } from "./history-point";
import { totalByAsset, type AssetTotal, type Position } from "./totals";

export interface BalancesDeps {
  registry: ChainRegistry;
  wallets: { list(projectId: string): Promise<readonly { readonly id: string; readonly address: EvmAddress }[]> };
  prices: { priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]> };
  history: BalanceHistory;
  clock: Clock;
}

export interface ChainTime {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly at: Date;
}

export interface StaleChain {
  readonly chainId: number;
  readonly reason: string;
  /** The time of the chain's last answer, whose balances are shown. Null: the chain never answered, so its balances are missing. */
  readonly lastSeenAt: Date | null;
}

export interface UnifiedBalances {
  readonly totals: readonly AssetTotal[];
  /** The price of a whole token in US dollars, as a decimal string; null when it is not known. */
  readonly priceOf: (token: Token) => string | null;
  readonly asOf: readonly ChainTime[];
  readonly stale: readonly StaleChain[];
}

interface Snapshot {
  readonly positions: readonly Position[];
  /** Symbols of tokens whose contract did not answer, so that their balances are missing. */
  readonly unread: readonly string[];
  readonly time: ChainTime;
  readonly readAt: Date;
}

const CHAIN_TIMEOUT_MS = 3000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "It did not answer in time." };
const PRICES_TIMEOUT_MS = 2000;
const REMEMBERED_MAX = 5000;

/** Unified balances over all chains and wallets of a project. A chain that does not answer does not affect the others. */
export const createBalancesService = ({ registry, wallets, prices, history, clock }: BalancesDeps) => {
  // The last answer of each chain, used while it does not answer.
  const remembered = new LRUCache<string, Snapshot>({ max: REMEMBERED_MAX });

  const snapshotOf = (
    balances: ChainBalances,
    chainId: number,
    owners: readonly { id: string; address: EvmAddress }[],
    tokens: readonly Token[],
  ): Snapshot => {
    const all = owners.flatMap(({ id, address }) =>
      tokens.map((token) => ({ walletId: id, address, token, amountBase: balances.get(address, token) })),
    );
    return {
      positions: all.flatMap(({ amountBase, ...rest }) => (amountBase === null ? [] : [{ ...rest, amountBase }])),
      unread: [...new Set(all.filter(({ amountBase }) => amountBase === null).map(({ token }) => token.symbol))],
      time: { chainId, blockNumber: balances.blockNumber, at: balances.at },
      readAt: clock.now(),
    };
  };

  const readChain = async (
    projectId: string,
    chainId: number,
    owners: readonly { id: string; address: EvmAddress }[],
  ): Promise<{ snapshot: Snapshot | null; stale: StaleChain | null }> => {
    const key = `${projectId}:${String(chainId)}`;
    const tokens = registry.tokens(chainId);
    try {
      const addresses = owners.map(({ address }) => address);
      const balances = await withDeadline(readBalances(registry, chainId, addresses, tokens), LATE);
      const snapshot = snapshotOf(balances, chainId, owners, tokens);
      if (snapshot.unread.length > 0) {
        const reason = `${snapshot.unread.join(", ")} on ${registry.get(chainId).name} could not be read and are missing.`;
        return { snapshot, stale: { chainId, reason, lastSeenAt: null } };
      }
      remembered.set(key, snapshot);
      return { snapshot, stale: null };
    } catch (error) {
      const snapshot = remembered.get(key) ?? null;
      const reason = isDomainError(error) ? error.message : `${registry.get(chainId).name} did not answer in time.`;
      return { snapshot, stale: { chainId, reason, lastSeenAt: snapshot?.readAt ?? null } };
    }
  };

  /** Reads prices, which are only displayed. They are read separately for each chain, so that a chain that fails affects only its own. */
  const pricesOf = async (chains: readonly (readonly Token[])[]): Promise<(token: Token) => string | null> => {
    const key = (token: Token): string => `${String(token.chainId)}:${token.address}`;
    const known = await Promise.all(
      chains.map(async (tokens) => {
        const values = await prices.priceUsd(tokens, AbortSignal.timeout(PRICES_TIMEOUT_MS)).catch(() => []);
        return tokens.map((token, index) => [key(token), values[index] ?? null] as const);
      }),
    );
    const byToken = new Map(known.flat());
    return (token) => byToken.get(key(token)) ?? null;
  };

  return {
    unified: async (projectId: string): Promise<UnifiedBalances> => {
      const owners = await wallets.list(projectId);
      const [answers, priceOf] = await Promise.all([
        Promise.all(registry.list().map((chain) => readChain(projectId, chain.id, owners))),
        pricesOf(registry.list().map(({ id }) => registry.tokens(id))),
      ]);
      const snapshots = answers.flatMap(({ snapshot }) => (snapshot ? [snapshot] : []));
      const unified: UnifiedBalances = {
        totals: totalByAsset(snapshots.flatMap((snapshot) => snapshot.positions)),
        priceOf,
        asOf: snapshots.map((snapshot) => snapshot.time),
        stale: answers.flatMap(({ stale }) => (stale ? [stale] : [])),
      };
      history.note(projectId, unified);
      return unified;
    },

    /** The balances of the project in the last `days` days, oldest first. */
    history: (projectId: string, days: number): Promise<HistoryPoint[]> => history.list(projectId, days),
  };
};
