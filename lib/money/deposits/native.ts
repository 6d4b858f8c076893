import { type CoinSend, coinSends } from "@/lib/chain/coin-sends";
import { sqlOn } from "@/lib/platform/db/sql";
import { hasDeferred, ownMovesOf, readCoins, spentFrom, writeCoins } from "./coin-repository";
import type { Coins } from "./rows";
import { type DepositWallet, walletsAfter } from "./wallet-repository";
import { originsOf } from "./judge";
import type { ScanDeps } from "./scan";
import { readBalances } from "@/lib/chain/balances";
import { newId } from "@/lib/core/ids";
import { type Found, storeFound, withDust, withWorths } from "./apply";
import { advanceNative, readCursor } from "./cursor-repository";
import { screenSenders } from "./screen";

// Splits an increase of a wallet's coin balance into the amounts of known senders and the rest.

/** Coins that came into a wallet from outside in the blocks after `fromBlock`. */
interface Rise {
  readonly wallet: DepositWallet;
  readonly amountBase: bigint;
  readonly fromBlock: bigint;
}

/** A part of an increase. Coins of an unknown sender have no sender and no transaction. */
interface RisePart extends Pick<CoinSend, "amountBase" | "blockNumber"> {
  readonly wallet: DepositWallet;
  readonly sender: CoinSend["from"] | null;
  readonly txHash: CoinSend["txHash"] | null;
  readonly logIndex: number | null;
}

/**
 * Maximum number of parts with a known sender. Anybody may send coins to a wallet any number of
 * times, so the coins of further sends stay in one part.
 */
const PARTS_MAX = 500;
/**
 * Maximum number of sends to all wallets in one comparison, because all parts are screened and
 * stored in one go.
 */
const SENDS_MAX = 2000;

/**
 * Splits the increase into parts that always sum to the increase. Network fees and unrecorded
 * spending make the increase smaller than the received amount; then the last sender's part is
 * smaller too.
 * @param sends sends to the wallet from outside the project, in the order of the blocks
 */
export const partsOf = (
  { wallet, amountBase }: Pick<Rise, "wallet" | "amountBase">,
  sends: readonly CoinSend[],
  toBlock: bigint,
): RisePart[] => {
  const parts: RisePart[] = [];
  let left = amountBase;
  for (const { from: sender, txHash, logIndex, blockNumber, amountBase: sent } of sends.slice(
    0,
    PARTS_MAX,
  )) {
    if (left === 0n) break;
    const taken = sent < left ? sent : left;
    parts.push({ wallet, sender, txHash, logIndex, blockNumber, amountBase: taken });
    left -= taken;
  }
  const rest = {
    wallet,
    sender: null,
    txHash: null,
    logIndex: null,
    blockNumber: toBlock,
    amountBase: left,
  };
  return left === 0n ? parts : [...parts, rest];
};

/**
 * Splits the increases into parts, by the senders that the chain shows for coins from outside the
 * project.
 * @throws DomainError `chain_unavailable`
 */
const attributed = async (
  deps: ScanDeps,
  rises: readonly Rise[],
  { chainId, toBlock }: { readonly chainId: number; readonly toBlock: bigint },
): Promise<RisePart[]> => {
  if (rises.length === 0) return [];
  const first = rises.reduce(
    (least, { fromBlock }) => (fromBlock < least ? fromBlock : least),
    toBlock,
  );
  const recipients = [...new Set(rises.map(({ wallet }) => wallet.address))];
  const range = { from: first + 1n, to: toBlock };
  const sends = (await coinSends(deps.registry, chainId, { recipients, range })).slice(
    0,
    SENDS_MAX,
  );
  const detectedAt = deps.clock.now();
  const candidates = rises.flatMap((rise) =>
    sends
      .filter(
        ({ to, blockNumber }) => to === rise.wallet.address && blockNumber > rise.fromBlock,
      )
      .map((send) => ({ rise, send })),
  );
  const origins = await originsOf(
    sqlOn(deps.database.pool),
    candidates.map(({ rise: { wallet }, send }) => ({
      projectId: wallet.projectId,
      chainId,
      txHash: send.txHash,
      walletAddress: wallet.address,
      token: "native",
      sender: send.from,
      amountBase: send.amountBase,
      detectedAt,
    })),
  );
  // Only senders from outside the project count. Coins that an operation of the project brought are
  // not part of the increase. Coins that an operation may have brought get no sender.
  const outside = candidates.filter((_, index) => origins[index] === "outside");
  return rises.flatMap((rise) =>
    partsOf(
      rise,
      outside.filter((each) => each.rise === rise).map(({ send }) => send),
      toBlock,
    ),
  );
};

// Finds coins that came into wallets. On most chains no log records them, so the balances at two
// final blocks are compared: an increase that the project's operations do not explain came from
// outside. The functions above find its senders.

const PAGE = 1000;

interface Compared {
  readonly coins: readonly Coins[];
  readonly rises: readonly Rise[];
}

interface Comparison {
  readonly chainId: number;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  /** When the search began. */
  readonly startedAt: Date;
}

/**
 * The balance and the block from which the comparison starts. `isKnown` is false at the first
 * comparison of a wallet that existed when the search began, because its earlier balance was not
 * stored.
 */
const baseOf = (
  wallet: DepositWallet,
  known: Coins | undefined,
  { fromBlock, startedAt }: Comparison,
): { readonly coins: Coins; readonly isKnown: boolean } => {
  const row = {
    projectId: wallet.projectId,
    walletId: wallet.id,
    walletAddress: wallet.address,
  };
  // A stored balance that is not deferred was equal in every later comparison, so it also holds
  // for the block of the last comparison.
  if (known !== undefined) {
    const isOlder = !known.isDeferred && known.blockNumber < fromBlock;
    return { coins: isOlder ? { ...known, blockNumber: fromBlock } : known, isKnown: true };
  }
  // The coins that a wallet held when the search began are not a deposit. A wallet that was created
  // later starts at zero, so all of its coins are deposits.
  const isKnown = wallet.createdAt > startedAt;
  return {
    coins: { ...row, balanceBase: 0n, blockNumber: fromBlock, isDeferred: false },
    isKnown,
  };
};

const comparePage = async (
  deps: ScanDeps,
  wallets: readonly DepositWallet[],
  at: Comparison,
): Promise<Compared> => {
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
    const isSame =
      known?.isDeferred === false &&
      known.balanceBase === balanceBase &&
      !spent.has(wallet.address);
    return isSame ? [] : [{ wallet, balanceBase, base: baseOf(wallet, known, at) }];
  });
  const moves = await ownMovesOf(
    reader,
    at,
    changed.map(({ wallet, base }) => ({
      ...{
        projectId: wallet.projectId,
        walletAddress: wallet.address,
        fromBlock: base.coins.blockNumber,
      },
    })),
  );
  const compared = changed.map(({ wallet, balanceBase, base: { coins, isKnown } }, index) => {
    const { inBase, outBase, isOpen } = moves[index] ?? {
      inBase: 0n,
      outBase: 0n,
      isOpen: true,
    };
    // A balance that could not be read is compared in a later turn, starting from the same block.
    if (balanceBase === null)
      return { coins: isKnown ? [{ ...coins, isDeferred: true }] : [], rises: [] };
    const now = { ...coins, balanceBase, blockNumber: toBlock, isDeferred: false };
    if (!isKnown) return { coins: [now], rises: [] };
    if (isOpen) return { coins: [{ ...coins, isDeferred: true }], rises: [] };
    const amountBase = balanceBase - coins.balanceBase - inBase + outBase;
    return {
      coins: [now],
      rises: amountBase > 0n ? [{ wallet, amountBase, fromBlock: coins.blockNumber }] : [],
    };
  });
  return {
    coins: compared.flatMap(({ coins }) => coins),
    rises: compared.flatMap(({ rises }) => rises),
  };
};

const foundOf = async (
  deps: ScanDeps,
  parts: readonly RisePart[],
  chainId: number,
): Promise<Found[]> => {
  const now = deps.clock.now();
  const results = await screenSenders(
    deps.screening,
    parts.map(({ wallet, sender }) => ({ chainId, sender, mode: wallet.mode })),
    now,
  );
  const found = parts.flatMap(
    ({ wallet, amountBase, sender, txHash, logIndex, blockNumber }, index): Found[] => {
      const result = results[index];
      if (result === undefined) return [];
      const { isStopped, verdict, verdictSource, listVersion, screenedAt, againAt } = result;
      const deposit = {
        ...{
          projectId: wallet.projectId,
          id: newId("operation"),
          chainId,
          txHash,
          logIndex,
          sender,
        },
        ...{
          blockNumber,
          walletId: wallet.id,
          walletAddress: wallet.address,
          token: "native",
          amountBase,
        },
        ...{
          verdict,
          verdictSource,
          listVersion,
          screenedAt,
          againAt,
          detectedAt: now,
          usdMicro: null,
        },
        ...{
          state: isStopped ? ("quarantined" as const) : ("pending" as const),
          isHeld: isStopped,
        },
      };
      return [{ deposit, result }];
    },
  );
  return withDust(deps, await withWorths(deps, found));
};

/**
 * Compares the coin balances of all wallets of a chain once, at the newest final block that the
 * search for tokens has reached.
 * @throws DomainError `chain_unavailable`
 */
export const compareCoins = async (deps: ScanDeps, chainId: number): Promise<void> => {
  const { database, clock } = deps;
  const reader = sqlOn(database.pool);
  const cursor = await readCursor(reader, chainId);
  if (cursor === null) return;
  if (cursor.finalNumber === cursor.nativeNumber && !(await hasDeferred(reader, chainId)))
    return;
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
  const found = await foundOf(deps, await attributed(deps, rises, at), chainId);
  await database.rawTransaction(async (sql) => {
    const move = { from: cursor.nativeNumber, to: at.toBlock, now: clock.now() };
    if (!(await advanceNative(sql, chainId, move))) return;
    await writeCoins(sql, chainId, coins);
    await storeFound(sql, deps, found, clock.now());
  });
};
