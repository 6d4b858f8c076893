import { LRUCache } from "lru-cache";
import { bindDeps } from "@/lib/core/bind-deps";
import { readBalances } from "@/lib/chains/balances";
import type { Asset, Assets } from "@/lib/chains/assets";
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { withDeadline } from "@/lib/core/deadline";
import type { Tx } from "@/lib/db/client";
import { sqlOf, type SqlReader } from "@/lib/db/sql";
import { committedAfter, FundsMovedError, fundsKeyOf, lockFunds, type Funds } from "@/lib/modules/holds/service";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/modules/ledger/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { createSumTrees, type SumTree } from "./sum-trees";

/** One token of the treasury on one chain. */
export interface ReservePosition {
  readonly token: Token;
  readonly wallet: EvmAddress;
  /** False for coins from which the treasury pays its own network fees, because their balance may fall at any time. */
  readonly backs: boolean;
  /** Balance at the chain's final block, in base units. Null: the chain does not answer, so the balance does not count. */
  readonly finalBase: bigint | null;
  readonly blockNumber: bigint;
  readonly at: Date;
}

/** The reserves of one asset. Amounts in ledger units (18 decimals). */
export interface Reserves {
  readonly asset: Asset;
  /** All positions, also those with `backs` false, which the sums do not include. */
  readonly positions: readonly ReservePosition[];
  readonly onChainBase: bigint;
  readonly committedBase: bigint;
  readonly liabilitiesBase: bigint;
}

/** Ensures that an operation which spends from the treasury leaves enough there to back global accounts. */
export interface Backing {
  /** Locks all balances that `check` compares. Call it before any other lock of a balance. */
  lock(tx: Tx, others: readonly Funds[]): Promise<void>;
  /**
   * Compares balances and liabilities. Call it after the operation's own holds were made.
   * @throws DomainError `insufficient_reserves`
   * @throws FundsMovedError when the balances must be read again
   */
  check(tx: Tx): Promise<void>;
}

export interface ReservesDeps {
  readonly registry: ChainRegistry;
  readonly assets: Assets;
  readonly wallets: { treasury(projectId: string): Promise<{ readonly address: EvmAddress } | null> };
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<LedgerService, "liabilities" | "liabilitiesUnderLock" | "balancesAt">;
  readonly secrets: { hash(purpose: string, text: string): Buffer };
  readonly clock: Clock;
}

const CHAIN_TIMEOUT_MS = 4000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "The chain did not answer in time." };
const TREASURIES_MAX = 10_000;

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

interface ReservesContext extends ReservesDeps {
  readonly trees: ReturnType<typeof createSumTrees>;
  /** Treasury addresses by project. The treasury of a project never changes. */
  readonly treasuries: LRUCache<string, EvmAddress>;
}

/** Converts base units of a token to ledger units (18 decimals), which are the same for an asset on every chain. */
export const toLedgerUnits = (token: Pick<Token, "decimals">, base: bigint): bigint =>
  base * 10n ** BigInt(LEDGER_DECIMALS - token.decimals);

const keyOf = ({ token, wallet }: ReservePosition) => fundsKeyOf({ owner: wallet, token });

/** The positions that back accounts and whose balances are known. */
const counted = (positions: readonly ReservePosition[]) =>
  positions.flatMap((position) =>
    position.finalBase === null || !position.backs ? [] : [{ ...position, finalBase: position.finalBase }],
  );

const onChainOf = (positions: readonly ReservePosition[]): bigint =>
  sum(counted(positions).map(({ token, finalBase }) => toLedgerUnits(token, finalBase)));

/** Proof of reserves: compares the sum of a project's accounts with its treasury's balances on chain, at final blocks. */
export const createReservesService = (deps: ReservesDeps) =>
  reserveFunctions({ ...deps, trees: createSumTrees(deps), treasuries: new LRUCache({ max: TREASURIES_MAX }) });

const treasuryOf = async (context: ReservesContext, projectId: string): Promise<EvmAddress | null> => {
  const known = context.treasuries.get(projectId);
  if (known !== undefined) return known;
  const treasury = await context.wallets.treasury(projectId);
  if (treasury === null) return null;
  context.treasuries.set(projectId, treasury.address);
  return treasury.address;
};

/**
 * Whether a token of the treasury backs accounts. On a chain without a paymaster the treasury pays its network fees in coins that are not
 * held, so a transfer of another token could spend coins that back accounts. Such coins do not count as reserves.
 */
const backs = (context: ReservesContext, { address, chainId }: Token): boolean =>
  address !== "native" || context.registry.get(chainId).contracts.paymaster !== undefined;

const readChain = async (
  context: ReservesContext,
  wallet: EvmAddress,
  chainId: number,
  tokens: readonly Token[],
): Promise<ReservePosition[]> => {
  try {
    const head = await withDeadline(
      chainCall(chainId, () => context.registry.client(chainId).getBlockNumber({ cacheTime: 0 })),
      LATE,
    );
    const finalBlock =
      (await withDeadline(
        chainCall(chainId, () => finalBlockNumber(context.registry, chainId, head)),
        LATE,
      )) ?? 0n;
    const balances = await withDeadline(readBalances(context.registry, chainId, [wallet], tokens, finalBlock), LATE);
    const { blockNumber, at } = balances;
    return tokens.map((token) => ({
      token,
      wallet,
      backs: backs(context, token),
      finalBase: balances.get(wallet, token),
      blockNumber,
      at,
    }));
  } catch {
    // Balances of a chain that does not answer do not count, and the response says so.
    const nothing = { finalBase: null, blockNumber: 0n, at: context.clock.now() };
    return tokens.map((token) => ({ token, wallet, backs: backs(context, token), ...nothing }));
  }
};

const readAll = async (
  context: ReservesContext,
  projectId: string,
  tokens: readonly Token[],
): Promise<ReservePosition[]> => {
  const address = await treasuryOf(context, projectId);
  if (address === null) return [];
  const chainIds = [...new Set(tokens.map(({ chainId }) => chainId))];
  const read = await Promise.all(
    chainIds.map((chainId) => {
      const here = tokens.filter((token) => token.chainId === chainId);
      return readChain(context, address, chainId, here);
    }),
  );
  return read.flat();
};

/** The treasury's positions in these tokens, by chain. */
const positionsOf = (
  context: ReservesContext,
  projectId: string,
  tokens: readonly Token[],
): Promise<ReservePosition[]> => readAll(context, projectId, tokens.filter(bindDeps(context, backs)));

/** The amount, in ledger units, that accepted operations take from a position and that its final block does not show yet. */
const committedOf = async (
  context: ReservesContext,
  sql: SqlReader,
  positions: readonly ReservePosition[],
): Promise<bigint> => {
  let total = 0n;
  for (const position of counted(positions))
    total += toLedgerUnits(
      position.token,
      await committedAfter(sql, keyOf(position), position.blockNumber, context.clock.now()),
    );
  return total;
};

const toReserves = async (
  context: ReservesContext,
  asset: Asset,
  positions: readonly ReservePosition[],
  liabilitiesBase: bigint,
): Promise<Reserves> => {
  const committedBase = await committedOf(context, context.reader, positions);
  return { asset, positions, onChainBase: onChainOf(positions), committedBase, liabilitiesBase };
};

/** The reserves of every asset that accounts or the treasury hold. */
const list = async (context: ReservesContext, projectId: string): Promise<Reserves[]> => {
  const [owed, positions] = await Promise.all([
    context.ledger.liabilities(projectId),
    readAll(
      context,
      projectId,
      context.assets.list().flatMap(({ tokens }) => tokens),
    ),
  ]);
  const all = await Promise.all(
    context.assets.list().map((asset) => {
      const own = positions.filter(({ token }) => token.assetId === asset.assetId);
      return toReserves(context, asset, own, owed.get(asset.assetId) ?? 0n);
    }),
  );
  return all.filter(
    ({ positions: own, liabilitiesBase, asset }) =>
      own.some(({ finalBase }) => (finalBase ?? 0n) > 0n) || liabilitiesBase > 0n || owed.has(asset.assetId),
  );
};

/**
 * The most that liabilities of an asset may sum to, in ledger units, read under the locks of the balances that back them. Call it in the
 * transaction that increases the liabilities: operations that spend those balances wait for its locks.
 */
const liabilitiesMax = async (
  context: ReservesContext,
  sql: SqlReader,
  positions: readonly ReservePosition[],
): Promise<bigint> => {
  await lockFunds(sql, counted(positions).map(keyOf));
  return onChainOf(positions) - (await committedOf(context, sql, positions));
};

/** The check for an operation that spends these tokens from the treasury; null when none of the tokens backs an account. */
const backingOf = async (
  context: ReservesContext,
  projectId: string,
  spendings: readonly { readonly owner: string; readonly token: Token }[],
): Promise<Backing | null> => {
  const treasury = await treasuryOf(context, projectId);
  const own = spendings.filter(({ owner, token }) => owner === treasury && backs(context, token));
  if (own.length === 0) return null;
  const wanted = [...new Set(own.map(({ token }) => token.assetId))];
  const owed = await context.ledger.liabilities(projectId);
  const backed = wanted.filter((assetId) => (owed.get(assetId) ?? 0n) > 0n);
  const positions = await positionsOf(
    context,
    projectId,
    backed.flatMap((assetId) => context.assets.find(assetId)?.tokens ?? []),
  );
  return {
    lock: async (tx, others) => {
      if (positions.length > 0) await lockFunds(sqlOf(tx), [...others, ...counted(positions).map(keyOf)]);
    },
    check: async (tx) => {
      for (const assetId of wanted) {
        const liabilitiesBase = await context.ledger.liabilitiesUnderLock(tx, projectId, assetId);
        if (liabilitiesBase === 0n) continue;
        // The first account of this asset was funded after the balances were read.
        if (!backed.includes(assetId)) throw new FundsMovedError();
        const mine = positions.filter(({ token }) => token.assetId === assetId);
        const left = onChainOf(mine) - (await committedOf(context, sqlOf(tx), mine));
        if (left < liabilitiesBase) throw backsAccounts(context.assets.find(assetId), liabilitiesBase - left);
      }
    },
  };
};

const treeOf = (context: ReservesContext, projectId: string, assetId: string): Promise<SumTree> =>
  context.trees.of(projectId, assetId);

const reserveFunctions = (context: ReservesContext) => ({
  list: bindDeps(context, list),
  backs: bindDeps(context, backs),
  positionsOf: bindDeps(context, positionsOf),
  liabilitiesMax: bindDeps(context, liabilitiesMax),
  backingOf: bindDeps(context, backingOf),
  treeOf: bindDeps(context, treeOf),
  /** The Merkle proof of an account's balance. @throws DomainError `invalid_state` when the account is newer than the tree */
  proofOf: async (projectId: string, assetId: string, accountId: string) => {
    const tree = await treeOf(context, projectId, assetId);
    const proof = tree.proof(accountId);
    if (proof === null || tree.root === null) {
      throw new DomainError(
        "invalid_state",
        `The account is younger than the latest tree (${tree.asOf.toISOString()}). It is in the next one, within half a minute.`,
        { retryAfterSeconds: 10 },
      );
    }
    return { ...proof, asOf: tree.asOf, root: tree.root };
  },
});

const backsAccounts = (asset: Asset | null, missingBase: bigint): DomainError => {
  const symbol = asset?.symbol ?? "the asset";
  return new DomainError(
    "insufficient_reserves",
    `The treasury's ${symbol} backs the global accounts: ${formatAmount(missingBase, LEDGER_DECIMALS)} ${symbol} too little would remain. Nothing was sent. Fund the treasury, or send less.`,
  );
};

export type ReservesService = ReturnType<typeof createReservesService>;
