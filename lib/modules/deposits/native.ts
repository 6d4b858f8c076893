/**
 * Finds coins that came into wallets. No log records them, so the balances of two final blocks are compared: an increase
 * that operations of the project do not explain came from outside. Its sender is not known.
 */
import { readBalances } from "@/lib/chains/balances";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/db/sql";
import { storeFound, type Found } from "./apply";
import { walletsAfter, type DepositWallet } from "./match-repository";
import { hasDeferred, ownMovesOf, readCoins, spentFrom, writeCoins, type Coins } from "./native-repository";
import type { ScanDeps } from "./read-turn";
import { advanceNative, readCursor } from "./scan-repository";
import { screenSenders } from "./screen";
import { withWorths } from "./worth";

const PAGE = 1000;

interface Rise {
  readonly wallet: DepositWallet;
  readonly amountBase: bigint;
}

interface Compared {
  readonly coins: readonly Coins[];
  readonly rises: readonly Rise[];
}

interface Comparison {
  readonly chainId: number;
  /** The block of the comparison before. */
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** When the search began. */
  readonly startedAt: Date;
}

/** The balance after which a wallet's moves are summed up, and its block. */
const baseOf = (
  wallet: DepositWallet,
  known: Coins | undefined,
  { fromBlock, startedAt }: Comparison,
): { readonly coins: Coins; readonly isKnown: boolean } => {
  const row = { projectId: wallet.projectId, walletId: wallet.id, walletAddress: wallet.address };
  // Each comparison found the balance as it is stored, unless it was deferred.
  if (known !== undefined) {
    const isOlder = !known.isDeferred && known.blockNumber < fromBlock;
    return { coins: isOlder ? { ...known, blockNumber: fromBlock } : known, isKnown: true };
  }
  // The coins that an older wallet had when the search began are taken as they are. Of a newer one every coin is a deposit.
  const isKnown = wallet.createdAt > startedAt;
  return { coins: { ...row, balanceBase: 0n, blockNumber: fromBlock, isDeferred: false }, isKnown };
};

const comparePage = async (deps: ScanDeps, wallets: readonly DepositWallet[], at: Comparison): Promise<Compared> => {
  const { chainId, fromBlock, toBlock } = at;
  const coin = deps.registry.native(chainId);
  const addresses = [...new Set(wallets.map(({ address }) => address))];
  const reader = sqlOn(deps.database.pool);
  const [balances, before, spent] = await Promise.all([
    readBalances(deps.registry, chainId, addresses, [coin], toBlock),
    readCoins(reader, chainId, wallets),
    spentFrom(reader, addresses, { chainId, from: fromBlock, to: toBlock }),
  ]);
  const changed = wallets.flatMap((wallet) => {
    const balanceBase = balances.get(wallet.address, coin);
    const known = before.get(wallet.id);
    const isSame = known?.isDeferred === false && known.balanceBase === balanceBase && !spent.has(wallet.address);
    return isSame ? [] : [{ wallet, balanceBase, base: baseOf(wallet, known, at) }];
  });
  const moves = await ownMovesOf(
    reader,
    at,
    changed.map(({ wallet, base }) => ({
      ...{ projectId: wallet.projectId, walletAddress: wallet.address, fromBlock: base.coins.blockNumber },
    })),
  );
  const compared = changed.map(({ wallet, balanceBase, base: { coins, isKnown } }, index) => {
    const { inBase, outBase, isOpen } = moves[index] ?? { inBase: 0n, outBase: 0n, isOpen: true };
    // One that could not be read is compared in a later turn, from the same block on.
    if (balanceBase === null) return { coins: isKnown ? [{ ...coins, isDeferred: true }] : [], rises: [] };
    const now = { ...coins, balanceBase, blockNumber: toBlock, isDeferred: false };
    if (!isKnown) return { coins: [now], rises: [] };
    if (isOpen) return { coins: [{ ...coins, isDeferred: true }], rises: [] };
    const amountBase = balanceBase - coins.balanceBase - inBase + outBase;
    return { coins: [now], rises: amountBase > 0n ? [{ wallet, amountBase }] : [] };
  });
  return { coins: compared.flatMap(({ coins }) => coins), rises: compared.flatMap(({ rises }) => rises) };
};

const foundOf = async (
  deps: ScanDeps,
  rises: readonly Rise[],
  { chainId, toBlock }: { readonly chainId: number; readonly toBlock: bigint },
): Promise<Found[]> => {
  const now = deps.clock.now();
  const results = await screenSenders(
    deps.screening,
    rises.map(({ wallet }) => ({ chainId, sender: null, mode: wallet.mode })),
    now,
  );
  const found = rises.flatMap(({ wallet, amountBase }, index): Found[] => {
    const result = results[index];
    if (result === undefined) return [];
    const { isStopped, verdict, verdictSource, listVersion, screenedAt, againAt } = result;
    const deposit = {
      ...{ projectId: wallet.projectId, id: newId("operation"), chainId, txHash: null, logIndex: null, sender: null },
      ...{ blockNumber: toBlock, walletId: wallet.id, walletAddress: wallet.address, token: "native", amountBase },
      ...{ verdict, verdictSource, listVersion, screenedAt, againAt, detectedAt: now, usdMicro: null },
      ...{ state: isStopped ? ("quarantined" as const) : ("pending" as const), isHeld: isStopped },
    };
    return [{ deposit, result }];
  });
  return withWorths(deps, found);
};

/**
 * One comparison of all wallets' coins of a chain, at the newest final block that the search for tokens has reached.
 * @throws DomainError `chain_unavailable`
 */
export const compareCoins = async (deps: ScanDeps, chainId: number): Promise<void> => {
  const { database, clock } = deps;
  const reader = sqlOn(database.pool);
  const cursor = await readCursor(reader, chainId);
  if (cursor === null) return;
  if (cursor.finalNumber === cursor.nativeNumber && !(await hasDeferred(reader, chainId))) return;
  const { finalNumber: toBlock, nativeNumber: fromBlock, startedAt } = cursor;
  const at: Comparison = { chainId, fromBlock, toBlock, startedAt };
  const coins: Coins[] = [];
  const rises: Rise[] = [];
  for (let afterId = ""; ;) {
    const wallets = await walletsAfter(reader, afterId, PAGE);
    if (wallets.length > 0) {
      const page = await comparePage(deps, wallets, at);
      coins.push(...page.coins);
      rises.push(...page.rises);
    }
    const last = wallets.at(-1);
    if (last === undefined || wallets.length < PAGE) break;
    afterId = last.id;
  }
  const found = await foundOf(deps, rises, at);
  await database.rawTransaction(async (sql) => {
    const move = { from: cursor.nativeNumber, to: at.toBlock, now: clock.now() };
    if (!(await advanceNative(sql, chainId, move))) return;
    await writeCoins(sql, chainId, coins);
    await storeFound(sql, deps, found, clock.now());
  });
};
