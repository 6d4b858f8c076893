import { LRUCache } from "lru-cache";
import type { BalanceReader, ReadBalances } from "@/lib/chain/balance-reader";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { withDeadline } from "@/lib/core/deadline";
import type { MovingFunds } from "@/lib/books/holds/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { BalanceHistory } from "./history";
import type { HistoryPoint } from "./repository";
import type { AssetBacking } from "@/lib/books/reserves/service";
import { heldOf, totalByAsset, type AssetTotal, type HeldPosition } from "./totals";

/** The minimum amount that operations in progress will pay to an address. */
export interface Arrival {
  readonly owner: string;
  readonly chainId: number;
  /**
   * Lower-case token address, `native`, or `wrapped` for a coin that the bridge refunds as the
   * chain's wrapped token.
   */
  readonly token: string;
  readonly amountBase: bigint;
}

export interface BalancesDeps {
  readonly registry: ChainRegistry;
  readonly reader: BalanceReader;
  readonly wallets: {
    addresses(
      projectId: string,
    ): Promise<readonly { readonly id: string; readonly address: EvmAddress }[]>;
  };
  /**
   * `out` reads the money that is leaving the project's balances, which were read at the blocks
   * `at`. `in` reads the money that is arriving in the project's wallets.
   */
  readonly moves: {
    out(projectId: string, at: readonly ChainTime[]): Promise<readonly MovingFunds[]>;
    in(projectId: string, at: readonly ChainTime[]): Promise<readonly Arrival[]>;
  };
  /** For each asset that the project owes to accounts, the amount that may leave the treasury. */
  backings(projectId: string): Promise<readonly AssetBacking[]>;
  readonly prices: {
    priceUsd(
      tokens: readonly Token[],
      signal: AbortSignal,
    ): Promise<readonly (string | null)[]>;
  };
  readonly history: BalanceHistory;
  readonly clock: Clock;
}

export interface ChainTime {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly at: Date;
}

export interface StaleChain {
  readonly chainId: number;
  readonly reason: string;
  /**
   * Time of the chain's last answer, whose balances are used. Null when the chain never answered.
   * The balances of such a chain are missing.
   */
  readonly lastSeenAt: Date | null;
}

export interface UnifiedBalances {
  readonly totals: readonly AssetTotal[];
  /** The wallets of this page, whose balances are listed individually. */
  readonly page: {
    readonly walletIds: ReadonlySet<string>;
    readonly nextCursor: string | null;
  };
  /** US dollars per whole token, as a decimal string; null when the price is unknown. */
  readonly priceOf: (token: Token) => string | null;
  readonly asOf: readonly ChainTime[];
  readonly stale: readonly StaleChain[];
}

interface Owner {
  readonly id: string;
  readonly address: EvmAddress;
}

type Owners = ReadonlyMap<string, Owner>;

interface Held extends Owner {
  readonly token: Token;
  readonly amountBase: bigint;
}

interface Snapshot {
  readonly held: readonly Held[];
  /** Symbols of tokens whose contract did not answer. The balances of these tokens are missing. */
  readonly unread: readonly string[];
  readonly time: ChainTime;
  readonly readAt: Date;
}

const CHAIN_TIMEOUT_MS = 3000;
/**
 * Additional time that a chain has to answer, for each 1,000 wallets of the project. The first read
 * of 10,000 wallets takes some seconds.
 */
const TIMEOUT_PER_1000_MS = 1000;
const CHAIN_TIMEOUT_MAX_MS = 20_000;
const PRICES_TIMEOUT_MS = 2000;
/** Maximum number of cached balances of unreachable chains, over all projects. */
const REMEMBERED_MAX = 500_000;
const WALLETS_PER_PAGE = 1000;

const lateAfter = (wallets: number) => ({
  timeoutMs: Math.min(
    CHAIN_TIMEOUT_MAX_MS,
    CHAIN_TIMEOUT_MS + Math.floor(wallets / 1000) * TIMEOUT_PER_1000_MS,
  ),
  message: "It did not answer in time.",
});

const snapshotOf = (
  { amounts, blockNumber, at }: ReadBalances,
  chainId: number,
  { owners, tokens, readAt }: { owners: Owners; tokens: readonly Token[]; readAt: Date },
): Snapshot => {
  const byAddress = new Map<string, Token>(tokens.map((token) => [token.address, token]));
  const held: Held[] = [];
  const unread = new Set<string>();
  for (const [key, amountBase] of amounts) {
    const [name = "", address = ""] = key.split(":");
    const [owner, token] = [owners.get(name), byAddress.get(address)];
    if (owner === undefined || token === undefined) continue;
    if (amountBase === null) unread.add(token.symbol);
    else held.push({ ...owner, token, amountBase });
  }
  return { held, unread: [...unread], time: { chainId, blockNumber, at }, readAt };
};

interface MovingParts {
  reservedBase: bigint;
  pendingOutBase: bigint;
  quarantinedBase: bigint;
  pendingInBase: bigint;
}

const nothingMoves = (): MovingParts => ({
  reservedBase: 0n,
  pendingOutBase: 0n,
  quarantinedBase: 0n,
  pendingInBase: 0n,
});

const movingByPosition = (
  registry: ChainRegistry,
  out: readonly MovingFunds[],
  coming: readonly Arrival[],
) => {
  const moving = new Map<string, MovingParts>();
  const at = (owner: string, chainId: number, token: string): MovingParts => {
    const key = positionKey(owner, chainId, token);
    const known = moving.get(key) ?? nothingMoves();
    moving.set(key, known);
    return known;
  };
  for (const { owner, chainId, token, reservedBase, pendingOutBase, quarantinedBase } of out) {
    const parts = at(owner, chainId, token);
    parts.reservedBase += reservedBase;
    parts.pendingOutBase += pendingOutBase;
    parts.quarantinedBase += quarantinedBase;
  }
  for (const { owner, chainId, token, amountBase } of coming) {
    const address = token === "wrapped" ? registry.wrappedNative(chainId).address : token;
    at(owner, chainId, address).pendingInBase += amountBase;
  }
  return moving;
};

const positionKey = (owner: string, chainId: number, token: string): string =>
  `${owner.toLowerCase()}:${String(chainId)}:${token.toLowerCase()}`;

/** The balances with their moving amounts, and zero balances to which money is on its way. */
const positionsOf = (
  snapshots: readonly Snapshot[],
  moving: ReadonlyMap<string, MovingParts>,
  { registry, owners }: { registry: ChainRegistry; owners: Owners },
): HeldPosition[] => {
  const rest = new Map(moving);
  const take = (key: string): MovingParts | undefined => {
    const parts = rest.get(key);
    rest.delete(key);
    return parts;
  };
  const held = snapshots.flatMap((snapshot) =>
    snapshot.held.map(({ id, address, token, amountBase }): HeldPosition => {
      const parts = take(positionKey(address, token.chainId, token.address));
      return { walletId: id, address, token, ...heldOf(amountBase, parts) };
    }),
  );
  const empty = [...rest].flatMap(([key, parts]): HeldPosition[] => {
    const [name = "", chainId = "", address = ""] = key.split(":");
    const owner = owners.get(name);
    const token = registry
      .tokens(Number(chainId))
      .find((each) => each.address.toLowerCase() === address);
    const snapshot = snapshots.find(({ time }) => time.chainId === Number(chainId));
    // A balance that could not be read is left out, because it is unknown and not zero.
    if (
      owner === undefined ||
      token === undefined ||
      snapshot?.unread.includes(token.symbol) !== false
    )
      return [];
    return [{ walletId: owner.id, address: owner.address, token, ...heldOf(0n, parts) }];
  });
  return [...held, ...empty];
};

const pageOf = (
  totals: readonly AssetTotal[],
  { limit, cursor = "" }: { limit: number; cursor?: string | undefined },
): UnifiedBalances["page"] => {
  const holders = new Set(
    totals.flatMap(({ positions }) => positions.map(({ walletId }) => walletId)),
  );
  const after = [...holders]
    .filter((id) => id > cursor)
    .sort((one, other) => (one < other ? -1 : 1));
  const ids = after.slice(0, limit);
  return {
    walletIds: new Set(ids),
    nextCursor: after.length > limit ? (ids.at(-1) ?? null) : null,
  };
};

interface BalancesContext extends BalancesDeps {
  /**
   * For each project id and chain id, the last answer of the chain. It is used while the chain does
   * not answer.
   */
  readonly remembered: LRUCache<string, Snapshot>;
}

const readChain = async (
  { registry, reader, clock, remembered }: BalancesContext,
  { projectId, chainId, owners }: { projectId: string; chainId: number; owners: Owners },
): Promise<{ snapshot: Snapshot | null; stale: StaleChain | null }> => {
  const key = `${projectId}:${String(chainId)}`;
  const tokens = registry.tokens(chainId);
  try {
    const question = { key: projectId, chainId, owners: addressesOf(owners), tokens };
    const balances = await withDeadline(reader.read(question), lateAfter(owners.size));
    const snapshot = snapshotOf(balances, chainId, { owners, tokens, readAt: clock.now() });
    if (snapshot.unread.length > 0) {
      const reason = `${snapshot.unread.join(", ")} on ${registry.get(chainId).name} could not be read and are missing.`;
      return { snapshot, stale: { chainId, reason, lastSeenAt: null } };
    }
    remembered.set(key, snapshot);
    return { snapshot, stale: null };
  } catch (error) {
    const snapshot = remembered.get(key) ?? null;
    const reason = isDomainError(error)
      ? error.message
      : `${registry.get(chainId).name} did not answer in time.`;
    return { snapshot, stale: { chainId, reason, lastSeenAt: snapshot?.readAt ?? null } };
  }
};

/**
 * Reads prices for display. They are read separately for each chain, so that a failing chain
 * affects only its own prices.
 */
const pricesOf = async (
  { prices }: BalancesContext,
  chains: readonly (readonly Token[])[],
): Promise<(token: Token) => string | null> => {
  const key = (token: Token): string => `${String(token.chainId)}:${token.address}`;
  const known = await Promise.all(
    chains.map(async (tokens) => {
      const values = await prices
        .priceUsd(tokens, AbortSignal.timeout(PRICES_TIMEOUT_MS))
        .catch(() => []);
      return tokens.map((token, index) => [key(token), values[index] ?? null] as const);
    }),
  );
  const byToken = new Map(known.flat());
  return (token) => byToken.get(key(token)) ?? null;
};

const addressesOf = (owners: Owners): ReadonlyMap<string, EvmAddress> =>
  new Map([...owners].map(([name, { address }]) => [name, address]));

/**
 * Balances over all chains and wallets of a project. A chain that does not answer does not affect
 * the others.
 */
export const createBalancesService = (deps: BalancesDeps) => {
  const { registry, wallets, moves, history } = deps;
  const remembered = new LRUCache<string, Snapshot>({
    maxSize: REMEMBERED_MAX,
    sizeCalculation: ({ held }) => held.length + 1,
  });
  const context: BalancesContext = { ...deps, remembered };

  return {
    /**
     * The balances of the project. Totals are over all wallets; `page` selects the wallets whose
     * balances are listed individually.
     */
    unified: async (
      projectId: string,
      {
        limit = WALLETS_PER_PAGE,
        cursor,
      }: { limit?: number; cursor?: string | undefined } = {},
    ): Promise<UnifiedBalances> => {
      const all = await wallets.addresses(projectId);
      const owners: Owners = new Map(all.map((owner) => [owner.address.toLowerCase(), owner]));
      const chainIds = registry.list().map(({ id }) => id);
      const [answers, priceOf] = await Promise.all([
        Promise.all(
          chainIds.map((chainId) => readChain(context, { projectId, chainId, owners })),
        ),
        pricesOf(
          context,
          chainIds.map((id) => registry.tokens(id)),
        ),
      ]);
      const snapshots = answers.flatMap(({ snapshot }) => (snapshot ? [snapshot] : []));
      const asOf = snapshots.map((snapshot) => snapshot.time);
      const [out, coming, backings] = await Promise.all([
        moves.out(projectId, asOf),
        moves.in(projectId, asOf),
        deps.backings(projectId),
      ]);
      const moving = movingByPosition(registry, out, coming);
      const positions = positionsOf(snapshots, moving, { registry, owners });
      const totals = totalByAsset(positions, backings);
      const stale = answers.flatMap((answer) => (answer.stale ? [answer.stale] : []));
      const unified = { totals, page: pageOf(totals, { limit, cursor }), priceOf, asOf, stale };
      history.note(projectId, unified);
      return unified;
    },

    /** The balances of the project in the last `days` days, oldest first. */
    history: (projectId: string, days: number): Promise<HistoryPoint[]> =>
      history.list(projectId, days),
  };
};
