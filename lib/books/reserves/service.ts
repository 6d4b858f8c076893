import { LRUCache } from "lru-cache";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Asset, Assets } from "@/lib/chain/assets";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import {
  committedAfter,
  type Funds,
  fundsKeyOf,
  FundsMovedError,
  lockFunds,
} from "@/lib/books/holds/service";
import { LEDGER_DECIMALS, type LedgerService } from "@/lib/books/ledger/service";
import type { EvmAddress } from "@/lib/core/evm";
import {
  away,
  backs,
  counted,
  type Counted,
  covering,
  onChainOf,
  type PositionContext,
  type PositionDeps,
  readChain,
  type ReservePosition,
  toLedgerUnits,
} from "./positions";
import { createSumTrees, type SumTree } from "./sum-trees";

/**
 * Computes how much of the project's money may be moved. Per asset, it is the treasury's balance on
 * chain minus its holds and minus the amount owed to accounts. Per wallet and chain, it is the
 * smaller of that amount and the free amount there. Only the treasury backs accounts.
 */

/** The limit on how much of an asset may leave the treasury, because of debts to accounts. */
export interface AssetBacking {
  readonly assetId: string;
  /**
   * The amount that may leave the treasury on all chains, in units of `LEDGER_DECIMALS`; never
   * negative.
   */
  readonly availableBase: bigint;
  /** Whether a balance backs accounts. */
  covers(place: {
    readonly address: string;
    readonly chainId: number;
    readonly token: string;
  }): boolean;
}

/**
 * The free amounts of some balances of one asset, in base units with the same decimals:
 * `coveringBase` of balances that back accounts, and `otherBase` of all others.
 */
interface Free {
  readonly coveringBase: bigint;
  readonly otherBase: bigint;
}

interface Available {
  readonly availableBase: bigint;
  readonly backingBase: bigint;
}

/**
 * Divides the free amount of one balance, or of several balances of one asset, into the part that
 * may leave and the part that backs accounts.
 * @param limitBase the amount of the asset that may leave the treasury, in the same units; null
 * when nothing is owed to accounts
 */
export const availableOf = (
  { coveringBase, otherBase }: Free,
  limitBase: bigint | null,
): Available => {
  if (limitBase === null) return { availableBase: coveringBase + otherBase, backingBase: 0n };
  const mayLeave = coveringBase < limitBase ? coveringBase : limitBase;
  return { availableBase: otherBase + mayLeave, backingBase: coveringBase - mayLeave };
};

export { toLedgerUnits, type ReservePosition } from "./positions";

/** The reserves of one asset. Amounts in ledger units (18 decimals). */
export interface Reserves {
  readonly asset: Asset;
  /** All positions. Positions with `backs` false are not in the sums. */
  readonly positions: readonly ReservePosition[];
  readonly onChainBase: bigint;
  readonly committedBase: bigint;
  readonly liabilitiesBase: bigint;
  /**
   * The amount that withdrawals debited from accounts and that is not settled. `committedBase`
   * includes the money for it.
   */
  readonly inTransitBase: bigint;
}

/**
 * Ensures that an operation that spends from the treasury leaves enough there to back global
 * accounts.
 */
export interface Backing {
  /**
   * Locks `others` and all balances that `check` compares. Must be called before locking any other
   * balance.
   */
  lock(db: Sql, others: readonly Funds[]): Promise<void>;
  /**
   * Compares balances with liabilities in each asset that the operation spends, both read under
   * their locks. Must be called after the operation's own holds were made.
   * @throws DomainError `insufficient_reserves`
   * @throws FundsMovedError when the balances must be read again
   */
  check(db: Sql): Promise<void>;
}

interface ReservesDeps extends PositionDeps {
  readonly assets: Assets;
  readonly wallets: {
    treasury(projectId: string): Promise<{ readonly address: EvmAddress } | null>;
  };
  /** Reads outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: Pick<
    LedgerService,
    "liabilities" | "inTransit" | "lockLiabilities" | "balancesAt"
  >;
  readonly secrets: { hash(purpose: string, text: string): Buffer };
}

const TREASURIES_MAX = 10_000;

interface ReservesContext extends ReservesDeps {
  readonly awayUntil: PositionContext["awayUntil"];
  readonly trees: ReturnType<typeof createSumTrees>;
  /** For each project id, the address of its treasury. Cached, because it never changes. */
  readonly treasuries: LRUCache<string, EvmAddress>;
}

const keyOf = ({ token, wallet }: ReservePosition) => fundsKeyOf({ owner: wallet, token });

/**
 * Proof of reserves: compares the sum of a project's accounts with its treasury's balances on chain
 * at final blocks.
 */
export const createReservesService = (deps: ReservesDeps) =>
  reserveFunctions({
    ...deps,
    awayUntil: new Map(),
    trees: createSumTrees(deps),
    treasuries: new LRUCache({ max: TREASURIES_MAX }),
  });

const treasuryOf = async (
  context: ReservesContext,
  projectId: string,
): Promise<EvmAddress | null> => {
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

/** The treasury's positions in those of the `tokens` that back accounts. */
const positionsOf = (
  context: ReservesContext,
  projectId: string,
  tokens: readonly Token[],
): Promise<ReservePosition[]> =>
  readAll(context, projectId, tokens.filter(bindDeps(context, backs)));

/**
 * The amount in ledger units that accepted operations take from the positions and that their final
 * blocks do not show yet.
 */
const committedOf = async (
  context: ReservesContext,
  db: SqlReader,
  positions: readonly Counted[],
): Promise<bigint> => {
  let total = 0n;
  for (const position of positions)
    total += toLedgerUnits(
      position.token,
      await committedAfter(db, keyOf(position), position.blockNumber, context.clock.now()),
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
      own.some(({ finalBase }) => (finalBase ?? 0n) > 0n) ||
      liabilitiesBase > 0n ||
      owed.has(asset.assetId),
  );
};

/** For each asset that is owed to accounts, the amount that may leave the treasury. */
const backings = async (
  context: ReservesContext,
  projectId: string,
): Promise<readonly AssetBacking[]> => {
  const owed = await context.ledger.liabilities(projectId);
  // Returns without reading any chain when nothing is owed, as in most projects.
  if ([...owed.values()].every((liabilitiesBase) => liabilitiesBase === 0n)) return [];
  const reserves = await list(context, projectId);
  return reserves
    .filter(({ liabilitiesBase }) => liabilitiesBase > 0n)
    .map(({ asset, positions, onChainBase, committedBase, liabilitiesBase }) => {
      const left = onChainBase - committedBase - liabilitiesBase;
      return {
        assetId: asset.assetId,
        availableBase: left > 0n ? left : 0n,
        covers: ({ address, chainId, token }) =>
          positions.some(
            (position) =>
              position.backs &&
              position.wallet.toLowerCase() === address.toLowerCase() &&
              position.token.chainId === chainId &&
              position.token.address === token,
          ),
      };
    });
};

/**
 * The liabilities in an asset, in ledger units, when one of the positions is on an unresponsive
 * chain. 0 when all chains answer, because `liabilitiesMax` then does not need them.
 */
const owedMeanwhile = async (
  context: ReservesContext,
  projectId: string,
  assetId: string,
  positions: readonly ReservePosition[],
): Promise<bigint> =>
  away(positions).length === 0
    ? 0n
    : ((await context.ledger.liabilities(projectId)).get(assetId) ?? 0n);

interface LiabilitiesMax {
  readonly maxBase: bigint;
  readonly onChainBase: bigint;
  readonly unseenBase: bigint;
}

/**
 * The maximum sum of an asset's liabilities, in ledger units, read under the locks of the balances
 * that back them. Must be called in the transaction that increases the liabilities, because
 * operations that spend those balances wait for its locks. Unresponsive chains cover at most
 * `owedBase`, the current liabilities (`owedMeanwhile`), because new liabilities need money on
 * chains that answer.
 * @returns `maxBase`; `onChainBase`, the counted balances including the part that operations in
 * progress will take; and `unseenBase`, the money on unresponsive chains that would otherwise back
 * new liabilities
 */
const liabilitiesMax = async (
  context: ReservesContext,
  db: SqlReader,
  positions: readonly ReservePosition[],
  owedBase: bigint,
): Promise<LiabilitiesMax> => {
  await lockFunds(db, covering(positions).map(keyOf));
  const [here, elsewhere] = [counted(positions), away(positions)];
  const known = onChainOf(elsewhere) - (await committedOf(context, db, elsewhere));
  const left = known < 0n ? 0n : known;
  const coveredBase = left < owedBase ? left : owedBase;
  const onChainBase = onChainOf(here) + coveredBase;
  return {
    maxBase: onChainBase - (await committedOf(context, db, here)),
    onChainBase,
    unseenBase: left - coveredBase,
  };
};

/**
 * The check for an operation with these spendings; null when none of them takes a token from the
 * treasury that can back accounts.
 */
const backingOf = async (
  context: ReservesContext,
  projectId: string,
  spendings: readonly { readonly owner: string; readonly token: Token }[],
): Promise<Backing | null> => {
  const treasury = await treasuryOf(context, projectId);
  const own = spendings.filter(
    ({ owner, token }) => owner === treasury && backs(context, token),
  );
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
    lock: async (db, others) => {
      if (positions.length > 0)
        await lockFunds(db, [...others, ...covering(positions).map(keyOf)]);
    },
    check: async (db) => {
      const liabilities = await context.ledger.lockLiabilities(db, projectId, wanted);
      for (const [index, assetId] of wanted.entries()) {
        const liabilitiesBase = liabilities[index] ?? 0n;
        if (liabilitiesBase === 0n) continue;
        // The asset's first account was funded after the balances were read.
        if (!backed.includes(assetId)) throw new FundsMovedError();
        const mine = covering(positions.filter(({ token }) => token.assetId === assetId));
        const left = onChainOf(mine) - (await committedOf(context, db, mine));
        if (left < liabilitiesBase)
          throw backsAccounts(context.assets.find(assetId), liabilitiesBase - left);
      }
    },
  };
};

const treeOf = (
  context: ReservesContext,
  projectId: string,
  assetId: string,
): Promise<SumTree> => context.trees.of(projectId, assetId);

const reserveFunctions = (context: ReservesContext) => ({
  list: bindDeps(context, list),
  backings: bindDeps(context, backings),
  backs: bindDeps(context, backs),
  positionsOf: bindDeps(context, positionsOf),
  owedMeanwhile: bindDeps(context, owedMeanwhile),
  liabilitiesMax: bindDeps(context, liabilitiesMax),
  backingOf: bindDeps(context, backingOf),
  treeOf: bindDeps(context, treeOf),
  /**
   * The Merkle proof of an account's balance.
   * @throws DomainError `invalid_state` when the account is newer than the tree
   */
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
