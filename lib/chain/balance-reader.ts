/**
 * Reads balances of many wallets repeatedly: at most once per block, and where possible only the
 * changed ones.
 */
import { LRUCache } from "lru-cache";
import type { Address, Hash } from "viem";
import type { Token } from "@/lib/core/token";
import { balanceChanges, type BalanceChange } from "./balance-changes";
import { readBalances, type ChainBalances } from "./balances";
import { chainCall, type ChainRegistry } from "./registry";

export interface BalanceQuestion {
  /** Identifies the set of balances. One reading is cached for each key and chain. */
  readonly key: string;
  readonly chainId: number;
  /** Keys are lower-case addresses. */
  readonly owners: ReadonlyMap<string, Address>;
  readonly tokens: readonly Token[];
}

/**
 * Balances of one chain. Use them before the next `await`, because the next reading changes
 * `amounts` in place.
 */
export interface ReadBalances {
  /** The oldest of the blocks at which the balances were read. */
  readonly blockNumber: bigint;
  readonly at: Date;
  /**
   * Amounts above zero in base units, by `balanceKey`; null when the token's contract did not
   * answer.
   */
  readonly amounts: Map<string, bigint | null>;
}

export interface BalanceReaderOptions {
  /** Up to this many balances are read directly with one `eth_call`. Default 1,000. */
  readonly directMax?: number;
  /** A cached reading that is more blocks behind is replaced instead of updated. Default 128. */
  readonly gapBlocksMax?: bigint;
  /**
   * Time after which everything is read again, because some tokens change balances without an
   * event. Default 10 minutes.
   */
  readonly fullEveryMs?: number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs?: () => number;
}

export interface BalanceReader {
  /**
   * Reads balances. Concurrent calls with the same key and chain share a reading.
   * @throws DomainError `chain_unavailable`, `unsupported_chain`
   */
  read(question: BalanceQuestion): Promise<ReadBalances>;
}

interface Head {
  readonly number: bigint;
  readonly hash: Hash;
}

/** The cached balances of one chain. Zeros are not stored, because most wallets hold few tokens. */
interface Known extends ReadBalances {
  readonly head: Head;
  readonly owners: ReadonlyMap<string, Address>;
  readonly tokens: string;
  /** Changes so recent that a reorganisation may undo them. */
  readonly recent: readonly BalanceChange[];
  readonly fullAtMs: number;
}

const DIRECT_MAX = 1000;
const GAP_BLOCKS_MAX = 128n;
const FULL_EVERY_MS = 600_000;
/**
 * Maximum number of amounts above zero that are cached, over all projects and chains: about 200 MB.
 */
const AMOUNTS_KEPT_MAX = 1_000_000;

/** `owner` is a lower-case address. */
export const balanceKey = (owner: string, token: Pick<Token, "address">): string =>
  `${owner}:${token.address}`;

const store = (
  amounts: Map<string, bigint | null>,
  balances: ChainBalances,
  owners: Iterable<readonly [string, Address]>,
  tokens: readonly Token[],
): void => {
  for (const [name, owner] of owners)
    for (const token of tokens) {
      const amount = balances.get(owner, token);
      if (amount === 0n) amounts.delete(balanceKey(name, token));
      else amounts.set(balanceKey(name, token), amount);
    }
};

const distinct = (changes: readonly BalanceChange[]): BalanceChange[] => [
  ...new Map(
    changes.map((change) => [`${change.owner}:${String(change.blockNumber)}`, change]),
  ).values(),
];

const isSubset = (
  some: ReadonlyMap<string, unknown>,
  all: ReadonlyMap<string, unknown>,
): boolean => {
  for (const name of some.keys()) if (!all.has(name)) return false;
  return true;
};

const tokensKey = (tokens: readonly Token[]): string =>
  tokens.map(({ address }) => address).join(" ");

const readAll = async (
  registry: ChainRegistry,
  { chainId, owners, tokens }: BalanceQuestion,
): Promise<ReadBalances> => {
  const balances = await readBalances(registry, chainId, [...owners.values()], tokens);
  const amounts = new Map<string, bigint | null>();
  store(amounts, balances, owners, tokens);
  return { blockNumber: balances.blockNumber, at: balances.at, amounts };
};

/**
 * The balance changes since a reading, and the changes in the last blocks before the reading,
 * because a reorganisation may have replaced the last blocks. Null when the node does not list the
 * changes.
 */
const changesSince = async (
  registry: ChainRegistry,
  known: Known,
  { chainId, owners, tokens }: BalanceQuestion,
  head: Head,
): Promise<BalanceChange[] | null> => {
  const depth = BigInt(registry.atPace(chainId, registry.get(chainId).confirmations));
  const from = known.blockNumber > depth ? known.blockNumber - depth + 1n : 0n;
  try {
    const found = await balanceChanges(registry, chainId, tokens, { from, to: head.number });
    const before = known.recent.filter(({ blockNumber }) => blockNumber >= from);
    return distinct([...found, ...before].filter(({ owner }) => owners.has(owner)));
  } catch {
    // On null, the caller reads everything again. When the node does not answer at all, that read
    // fails too.
    return null;
  }
};

const update = async (
  registry: ChainRegistry,
  known: Known,
  question: BalanceQuestion,
  { head, changes }: { head: Head; changes: readonly BalanceChange[] },
): Promise<Known> => {
  const { chainId, owners, tokens } = question;
  const changed = new Set(changes.map(({ owner }) => owner));
  const again = [...owners].filter(([name]) => changed.has(name) || !known.owners.has(name));
  const coins = tokens.filter(({ address }) => address === "native");
  const others = tokens.filter(({ address }) => address !== "native");
  const forCoins = await readBalances(registry, chainId, [...owners.values()], coins);
  const addresses = again.map(([, owner]) => owner);
  const forTokens =
    again.length === 0 ? null : await readBalances(registry, chainId, addresses, others);
  // The map is changed in place, because copying a million amounts would take too long.
  const { amounts } = known;
  store(amounts, forCoins, owners, coins);
  if (forTokens !== null) store(amounts, forTokens, again, others);
  const oldest =
    forTokens !== null && forTokens.blockNumber < forCoins.blockNumber ? forTokens : forCoins;
  // The logs prove that the balances of unchanged tokens are valid up to this head.
  const blockNumber = oldest.blockNumber < head.number ? oldest.blockNumber : head.number;
  return { ...known, amounts, head, blockNumber, at: oldest.at, owners, recent: changes };
};

/**
 * Reads balances of many wallets repeatedly. Up to 1,000 balances of a chain are read directly.
 * Larger sets are cached, and nothing is read twice in the same block. In a later block, the coins
 * of all wallets are read again, because coins have no events. Tokens are read again only for new
 * wallets and for wallets that a token's event names.
 */
export const createBalanceReader = (
  registry: ChainRegistry,
  options: BalanceReaderOptions = {},
): BalanceReader => {
  const {
    directMax = DIRECT_MAX,
    gapBlocksMax = GAP_BLOCKS_MAX,
    fullEveryMs = FULL_EVERY_MS,
  } = options;
  const { monotonicMs = () => performance.now() } = options;
  const kept = new LRUCache<string, Known>({
    maxSize: AMOUNTS_KEPT_MAX,
    sizeCalculation: ({ amounts }) => amounts.size + 1,
  });
  const running = new Map<string, Promise<ReadBalances>>();

  const isUsable = (known: Known, tokens: readonly Token[], head: Head): boolean =>
    known.tokens === tokensKey(tokens) &&
    monotonicMs() - known.fullAtMs < fullEveryMs &&
    head.number >= known.blockNumber &&
    head.number - known.blockNumber <= gapBlocksMax;

  const readKept = async (question: BalanceQuestion): Promise<ReadBalances> => {
    const { chainId, owners, tokens } = question;
    const key = `${question.key}:${String(chainId)}`;
    const { number, hash } = await chainCall(chainId, () =>
      registry.client(chainId).getBlock({ blockTag: "latest" }),
    );
    const head = { number, hash };
    const last = kept.get(key);
    const known = last !== undefined && isUsable(last, tokens, head) ? last : null;
    if (
      known?.head.hash === hash &&
      known.owners.size === owners.size &&
      isSubset(owners, known.owners)
    )
      return known;
    const fullAtMs = monotonicMs();
    const changes = known === null ? null : await changesSince(registry, known, question, head);
    const next: Known =
      known === null || changes === null
        ? {
            ...(await readAll(registry, question)),
            head,
            owners,
            tokens: tokensKey(tokens),
            recent: [],
            fullAtMs,
          }
        : await update(registry, known, question, { head, changes });
    kept.set(key, next);
    return next;
  };

  return {
    read: (question) => {
      const { key, chainId, owners, tokens } = question;
      if (owners.size * tokens.length <= directMax) return readAll(registry, question);
      // The name contains the number of wallets, so that a changed set does not share a reading.
      const name = `${key}:${String(chainId)}:${String(owners.size)}`;
      const reading =
        running.get(name) ?? readKept(question).finally(() => running.delete(name));
      running.set(name, reading);
      return reading;
    },
  };
};
