import { LRUCache } from "lru-cache";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Asset, Assets } from "@/lib/chains/assets";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { changeAndJudge, type JudgedPart } from "@/lib/db/together";
import { committedAfter, FundsMovedError, fundsKeyOf, lockFunds, type Funds } from "@/lib/modules/holds/service";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/modules/ledger/service";
import type { EvmAddress } from "@/lib/ports/routing";
import {
  away,
  backs,
  counted,
  covering,
  onChainOf,
  readChain,
  toLedgerUnits,
  type Counted,
  type PositionContext,
  type PositionDeps,
  type ReservePosition,
} from "./positions";
import { createSumTrees, type SumTree } from "./sum-trees";

export { toLedgerUnits, type ReservePosition } from "./positions";

/** The reserves of one asset. Amounts in ledger units (18 decimals). */
export interface Reserves {
  readonly asset: Asset;
  /** All positions, also those with `backs` false, which the sums do not include. */
  readonly positions: readonly ReservePosition[];
  readonly onChainBase: bigint;
  readonly committedBase: bigint;
  readonly liabilitiesBase: bigint;
  /** The amount that withdrawals took out of accounts and that is not settled. `committedBase` includes the money that pays it. */
  readonly inTransitBase: bigint;
}

/** Ensures that an operation which spends from the treasury leaves enough there to back global accounts. */
export interface Backing {
  /** Locks all balances that `check` compares. Call it before any other lock of a balance. */
  lock(sql: Sql, others: readonly Funds[]): Promise<void>;
  /** Whether `lock` has anything to lock. */
  readonly locks: boolean;
  /** The liabilities to accounts in each asset that the operation spends, read under their locks after those of `lock`; for `check`. */
  liabilities(keep: (liabilitiesBase: readonly bigint[]) => void): JudgedPart;
  /**
   * Compares balances and liabilities. Call it after the operation's own holds were made.
   * @throws DomainError `insufficient_reserves`
   * @throws FundsMovedError when the balances must be read again
   */
  check(sql: Sql, liabilitiesBase: readonly bigint[]): Promise<void>;
}

/** Compares balances and liabilities, in the transaction that has made the operation's own holds. @throws as `Backing.check` */
export const checkBacking = async (sql: Sql, backing: Backing | null): Promise<void> => {
  if (backing === null) return;
  let owed: readonly bigint[] = [];
  const keep = (liabilitiesBase: readonly bigint[]): void => {
    owed = liabilitiesBase;
  };
  await changeAndJudge(sql, [backing.liabilities(keep)]);
  await backing.check(sql, owed);
};

export interface ReservesDeps extends PositionDeps {
  readonly assets: Assets;
  readonly wallets: { treasury(projectId: string): Promise<{ readonly address: EvmAddress } | null> };
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<LedgerService, "liabilities" | "inTransit" | "liabilitiesPart" | "balancesAt">;
  readonly secrets: { hash(purpose: string, text: string): Buffer };
}

const TREASURIES_MAX = 10_000;

interface ReservesContext extends ReservesDeps {
  readonly awayUntil: PositionContext["awayUntil"];
  readonly trees: ReturnType<typeof createSumTrees>;
  /** Treasury addresses by project. The treasury of a project never changes. */
  readonly treasuries: LRUCache<string, EvmAddress>;
}

const keyOf = ({ token, wallet }: ReservePosition) => fundsKeyOf({ owner: wallet, token });

/** Proof of reserves: compares the sum of a project's accounts with its treasury's balances on chain, at final blocks. */
export const createReservesService = (deps: ReservesDeps) =>
  reserveFunctions({
    ...deps,
    awayUntil: new Map(),
    trees: createSumTrees(deps),
    treasuries: new LRUCache({ max: TREASURIES_MAX }),
  });

const treasuryOf = async (context: ReservesContext, projectId: string): Promise<EvmAddress | null> => {
  const known = context.treasuries.get(projectId);
  if (known !== undefined) return known;
  const treasury = await context.wallets.treasury(projectId);
  if (treasury === null) return null;
  context.treasuries.set(projectId, treasury.address);
  return treasury.address;
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
  positions: readonly Counted[],
): Promise<bigint> => {
  let total = 0n;
  for (const position of positions)
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
  owed: Pick<Reserves, "liabilitiesBase" | "inTransitBase">,
): Promise<Reserves> => {
  const backing = counted(positions);
  const committedBase = await committedOf(context, context.reader, backing);
  return { asset, positions, onChainBase: onChainOf(backing), committedBase, ...owed };
};

/** The reserves of every asset that accounts or the treasury hold. */
const list = async (context: ReservesContext, projectId: string): Promise<Reserves[]> => {
  const [owed, transit, positions] = await Promise.all([
    context.ledger.liabilities(projectId),
    context.ledger.inTransit(projectId),
    readAll(
      context,
      projectId,
      context.assets.list().flatMap(({ tokens }) => tokens),
    ),
  ]);
  const all = await Promise.all(
    context.assets.list().map((asset) => {
      const own = positions.filter(({ token }) => token.assetId === asset.assetId);
      return toReserves(context, asset, own, {
        liabilitiesBase: owed.get(asset.assetId) ?? 0n,
        inTransitBase: transit.get(asset.assetId) ?? 0n,
      });
    }),
  );
  return all.filter(
    ({ positions: own, liabilitiesBase, asset }) =>
      own.some(({ finalBase }) => (finalBase ?? 0n) > 0n) || liabilitiesBase > 0n || owed.has(asset.assetId),
  );
};

/** The liabilities to accounts in an asset, in ledger units, if balances of chains that do not answer have to cover them; else 0. */
const owedMeanwhile = async (
  context: ReservesContext,
  projectId: string,
  assetId: string,
  positions: readonly ReservePosition[],
): Promise<bigint> =>
  away(positions).length === 0 ? 0n : ((await context.ledger.liabilities(projectId)).get(assetId) ?? 0n);

interface LiabilitiesMax {
  readonly maxBase: bigint;
  readonly onChainBase: bigint;
  readonly unseenBase: bigint;
}

/**
 * The most that liabilities of an asset may sum to, in ledger units, read under the locks of the balances that back them. Call it in the
 * transaction that increases the liabilities: operations that spend those balances wait for its locks. Chains that do not answer cover at
 * most `owedBase`, the present liabilities (`owedMeanwhile`): new liabilities need money on chains that answer.
 * @returns also `onChainBase`, the balances that count, of which operations under way take the rest, and `unseenBase`, the money on chains
 * that do not answer which would back new liabilities if they did
 */
const liabilitiesMax = async (
  context: ReservesContext,
  sql: SqlReader,
  positions: readonly ReservePosition[],
  owedBase: bigint,
): Promise<LiabilitiesMax> => {
  await lockFunds(sql, covering(positions).map(keyOf));
  const [here, elsewhere] = [counted(positions), away(positions)];
  const known = onChainOf(elsewhere) - (await committedOf(context, sql, elsewhere));
  const left = known < 0n ? 0n : known;
  const coveredBase = left < owedBase ? left : owedBase;
  const onChainBase = onChainOf(here) + coveredBase;
  return {
    maxBase: onChainBase - (await committedOf(context, sql, here)),
    onChainBase,
    unseenBase: left - coveredBase,
  };
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
    locks: positions.length > 0,
    lock: async (sql, others) => {
      if (positions.length > 0) await lockFunds(sql, [...others, ...covering(positions).map(keyOf)]);
    },
    liabilities: (keep) => context.ledger.liabilitiesPart(projectId, wanted, keep),
    check: async (sql, liabilities) => {
      for (const [index, assetId] of wanted.entries()) {
        const liabilitiesBase = liabilities[index] ?? 0n;
        if (liabilitiesBase === 0n) continue;
        // The first account of this asset was funded after the balances were read.
        if (!backed.includes(assetId)) throw new FundsMovedError();
        const mine = covering(positions.filter(({ token }) => token.assetId === assetId));
        const left = onChainOf(mine) - (await committedOf(context, sql, mine));
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
  owedMeanwhile: bindDeps(context, owedMeanwhile),
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
