import { DomainError, isDomainError } from "@/lib/core/errors";
import { createBatcher } from "@/lib/core/batch";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { FundsMovedError } from "./errors";
import {
  type Funds,
  fundsKey,
  type FundsKey,
  type Guard,
  type HoldsRepository,
} from "./repository";

export { FundsMovedError } from "./errors";
export {
  fundsKey as fundsNameOf,
  insertHolds,
  requireFunds,
  syncHold,
  syncHolds,
  type Funds,
  type HeldChange,
  type Hold,
} from "./repository";
export { movingFunds, type MovingFunds } from "./sum-repository";
export { changeQuarantine, type QuarantineChange } from "./repository";
export type { ScreenedBlocks } from "./screened-blocks";
export { committedAfter } from "./sum-repository";
export { lockFunds } from "./repository";

/** An amount that a wallet is about to spend, in base units. */
export interface Spending {
  readonly owner: string;
  readonly token: Token;
  readonly amountBase: bigint;
}

type BalanceQuery = Pick<Spending, "owner" | "token">;

export interface Shortfall<S extends Spending> {
  readonly source: S;
  readonly index: number;
  readonly missingBase: bigint;
}

export interface FundsDeps {
  repository: HoldsRepository;
  /**
   * Balances on chain at the latest block, in base units, in the order of the queries.
   * @throws DomainError `chain_unavailable`
   */
  readBalances(
    at: readonly { chainId: number; owner: string; token: Token }[],
  ): Promise<readonly bigint[]>;
  /** One balance at a block, in base units. @throws DomainError `chain_unavailable` */
  readBalanceAt(at: BalanceQuery, block: bigint): Promise<bigint>;
}

/** The key of the balance from which a spending is paid. */
export const fundsKeyOf = ({ owner, token }: Pick<Spending, "owner" | "token">): FundsKey => ({
  walletAddress: owner,
  chainId: token.chainId,
  token: token.address.toLowerCase(),
});

/** A balance, and the amount in base units that was held when `guardVersion` was read. */
interface SeenFunds extends Funds {
  readonly heldBase: bigint;
}

const READ_AT_ONCE_MAX = 200;
const RESERVE_TRIES_MAX = 8;
/**
 * Maximum number of callers that may wait for one balance. Further callers could not be served in
 * time.
 */
const WAITING_MAX = 500;
/**
 * Maximum number of this process's transactions that reserve from one balance at the same time.
 * Each occupies a connection. One has the row lock, and the others wait for it in PostgreSQL, which
 * wakes the next one at COMMIT. If they waited in this process instead, a busy process would start
 * the next one some milliseconds later.
 */
const AT_ONCE_MAX = 3;

const tooMany = (): DomainError =>
  new DomainError(
    "rate_limited",
    "Too many operations wait for this wallet's balance. Nothing was sent; try again shortly.",
  );

/**
 * Reads a balance minus its holds, in base units; negative when more is held. The balance is read
 * before the holds. Concurrent reads are batched.
 */
const createFreeReader = ({
  repository,
  readBalances,
}: Pick<FundsDeps, "repository" | "readBalances">) => {
  const balanceReaders = new Map<number, (query: BalanceQuery) => Promise<bigint>>();

  const readBalance = (query: BalanceQuery): Promise<bigint> => {
    const { chainId } = query.token;
    const run = (queries: readonly BalanceQuery[]) =>
      readBalances(
        queries.map(({ owner, token }) => ({ chainId: token.chainId, owner, token })),
      );
    const ask =
      balanceReaders.get(chainId) ??
      createBatcher({ run, batchWeightMax: READ_AT_ONCE_MAX }).submit;
    balanceReaders.set(chainId, ask);
    return ask(query);
  };

  const heldTogether = createBatcher({
    run: async (keys: readonly FundsKey[]) => {
      const held = await repository.held([
        ...new Map(keys.map((key) => [fundsKey(key), key])).values(),
      ]);
      return keys.map((key) => held.get(fundsKey(key)) ?? 0n);
    },
    batchWeightMax: READ_AT_ONCE_MAX,
    lanes: 2,
  }).submit;

  return async (query: BalanceQuery): Promise<bigint> => {
    const balanceBase = await readBalance(query);
    return balanceBase - (await heldTogether(fundsKeyOf(query)));
  };
};

/**
 * The balance at the guard's screened block; null when the policies do not require screening. Zero
 * for a chain that was never searched.
 */
const screenedOf = async (
  { readBalanceAt }: Pick<FundsDeps, "readBalanceAt">,
  query: BalanceQuery,
  { screenedBlock: block }: Guard,
): Promise<Funds["screened"]> => {
  if (block === null) return null;
  return block < 0n
    ? { balanceBase: 0n, block: 0n }
    : { balanceBase: await readBalanceAt(query, block), block };
};

const NEW_GUARD: Guard = { version: 0, heldBase: 0n, screenedBlock: null };

const distinct = (spendings: readonly Spending[]): Spending[] => [
  ...new Map(spendings.map((spending) => [fundsKey(fundsKeyOf(spending)), spending])).values(),
];

/**
 * Spendable amounts of wallets: the balance on chain minus the amounts that accepted operations
 * will still take.
 */
export const createHoldsService = (deps: FundsDeps) => {
  const { repository, readBalances } = deps;
  const turns = createKeyedQueue({
    atOnceMax: AT_ONCE_MAX,
    waitingMax: WAITING_MAX,
    onFull: tooMany,
  });
  const readers = new Map<number, (spending: Spending) => Promise<SeenFunds>>();
  const freeBase = createFreeReader(deps);

  const readTogether = async (spendings: readonly Spending[]): Promise<SeenFunds[]> => {
    const each = distinct(spendings);
    const guards = await repository.guards(each.map(fundsKeyOf));
    const guardOf = (spending: BalanceQuery): Guard =>
      guards.get(fundsKey(fundsKeyOf(spending))) ?? NEW_GUARD;
    const [balances, screened] = await Promise.all([
      readBalances(each.map(({ owner, token }) => ({ chainId: token.chainId, owner, token }))),
      Promise.all(each.map((spending) => screenedOf(deps, spending, guardOf(spending)))),
    ]);
    const read = each.map((spending, index): SeenFunds => {
      const { version: guardVersion, heldBase } = guardOf(spending);
      const balanceBase = balances[index] ?? 0n;
      return {
        ...fundsKeyOf(spending),
        balanceBase,
        guardVersion,
        heldBase,
        screened: screened[index] ?? null,
      };
    });
    const byKey = new Map(read.map((funds) => [fundsKey(funds), funds]));
    return spendings.flatMap((spending) => byKey.get(fundsKey(fundsKeyOf(spending))) ?? []);
  };

  /** Reads one balance with the version of its guard. Concurrent reads on one chain are batched. */
  const readOne = (spending: Spending): Promise<SeenFunds> => {
    const { chainId } = spending.token;
    const read =
      readers.get(chainId) ??
      createBatcher({ run: readTogether, batchWeightMax: READ_AT_ONCE_MAX }).submit;
    readers.set(chainId, read);
    return read(spending);
  };

  /** Reads the balances of spendings with the versions of their guards, which are read first. */
  const read = (spendings: readonly Spending[]): Promise<SeenFunds[]> =>
    Promise.all(distinct(spendings).map(readOne));

  /**
   * Runs `work` with balances that were read before its transaction. In the transaction, `work`
   * must hold funds with `requireFunds` and `insertHolds`. Runs it again with fresh balances when
   * the balances are out of date (`FundsMovedError`), or when the balances in `seen` do not
   * suffice.
   * @param seen the result of `requireSeen` for the same spendings; by default the balances are
   * read now
   * @throws DomainError `insufficient_balance`, `rate_limited`, `chain_unavailable`;
   * `invalid_state` when the balances change during every try
   */
  const reserving = async <T>(
    spendings: readonly Spending[],
    work: (funds: readonly Funds[]) => Promise<T>,
    seen: readonly Funds[] | null = null,
  ): Promise<T> => {
    let funds: readonly Funds[] = seen ?? (await read(spendings));
    return turns.runAll(funds.map(fundsKey), async () => {
      for (let tries = 0; tries < RESERVE_TRIES_MAX; tries += 1) {
        try {
          return await work(funds);
        } catch (error) {
          const mayBeOld =
            funds === seen && isDomainError(error) && error.code === "insufficient_balance";
          if (!(error instanceof FundsMovedError) && !mayBeOld) throw error;
          funds = await read(spendings);
        }
      }
      throw new DomainError(
        "invalid_state",
        "The wallet's balance keeps changing. Nothing was sent; try again.",
      );
    });
  };

  /**
   * The spendings that currently exceed the available amounts.
   * @throws DomainError `chain_unavailable`
   */
  const shortfalls = async <S extends Spending>(
    spendings: readonly S[],
  ): Promise<Shortfall<S>[]> => {
    const free = await Promise.all(spendings.map(freeBase));
    return spendings.flatMap((source, index) => {
      const missingBase = source.amountBase - (free[index] ?? 0n);
      return missingBase > 0n ? [{ source, index, missingBase }] : [];
    });
  };

  /**
   * Available amounts in base units, in the order of `at`; 0 when more is held than the balance.
   * @throws DomainError `chain_unavailable`
   */
  const available = async (
    at: readonly Pick<Spending, "owner" | "token">[],
  ): Promise<bigint[]> => {
    const free = await Promise.all(at.map(freeBase));
    return free.map((base) => (base > 0n ? base : 0n));
  };

  /**
   * Checks that the wallets can afford all spendings.
   * @throws DomainError `insufficient_balance` naming every source that lacks money
   */
  const require = async (spendings: readonly Spending[]): Promise<void> => {
    const missing = await shortfalls(spendings);
    if (missing.length === 0) return;
    const details = missing.map(({ source, index, missingBase }) => ({
      path: `from.${String(index)}.amount`,
      message: `${formatAmount(missingBase, source.token.decimals)} ${source.token.symbol} are missing in ${source.owner}`,
    }));
    throw new DomainError(
      "insufficient_balance",
      "A source wallet does not hold enough. Nothing was sent.",
      {
        details,
      },
    );
  };

  /**
   * Like `require`, but reads each balance only once for this check and for `reserving`. Holds are
   * read before the balance. An amount that is spent between the two reads counts twice, as held
   * and as missing from the balance. If the balance then seems too low, `require` reads both again.
   */
  const requireSeen = async (spendings: readonly Spending[]): Promise<readonly Funds[]> => {
    const funds = await read(spendings);
    const isShort = funds.some((fund) => {
      const own = spendings.filter(
        (spending) => fundsKey(fundsKeyOf(spending)) === fundsKey(fund),
      );
      return (
        own.reduce((sum, { amountBase }) => sum + amountBase, fund.heldBase) > fund.balanceBase
      );
    });
    if (isShort) await require(spendings);
    return funds;
  };

  return { reserving, shortfalls, available, require, requireSeen };
};

export type HoldsService = ReturnType<typeof createHoldsService>;
