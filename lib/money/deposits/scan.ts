import { finalBlockNumber } from "@/lib/chain/blocks";
import { OtherChainError } from "@/lib/chain/log-ranges";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { RECIPIENTS_MAX, tokenTransfers } from "@/lib/chain/transfer-logs";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { type Sql, sqlOn } from "@/lib/platform/db/sql";
import type { ScreeningService } from "@/lib/trust/screening/service";
import {
  type Incoming,
  intoWallets,
  isSame,
  judged,
  keyOf,
  logKey,
  originsOf,
  tokenKey,
  withSenders,
} from "./judge";
import { addressesUpTo } from "./wallet-repository";
import {
  advance,
  type Cursor,
  type Reached,
  readCursor,
  startCursor,
} from "./cursor-repository";
import {
  depositsByLog,
  lockDepositsBetween,
  lockDepositsByLog,
  relocateDeposits,
} from "./repository";
import { TurnLostError } from "./errors";
import {
  applyMoves,
  type Found,
  type Move,
  type StoreDeps,
  storeFound,
  withDust,
  withWorths,
  type WorthDeps,
} from "./apply";
import { lockFunds } from "@/lib/books/holds/service";
import type { Deposit } from "./rows";
import { isDecided } from "./deposit";

// Reads one turn of the search: the blocks of the turn, and the transfers in these blocks into
// wallets of projects.

export interface ScanDeps extends WorthDeps {
  readonly database: Pick<Database, "pool" | "rawTransaction">;
  readonly registry: ChainRegistry;
  readonly screening: Pick<ScreeningService, "screen" | "record" | "isActive">;
  readonly clock: Clock;
  /**
   * The number of wallets above which all transfers of the tokens are read, instead of only the
   * transfers to the wallets.
   */
  readonly recipientsMax?: number;
  /** The maximum number of blocks per turn, so that a turn ends in time. */
  readonly blocksMax?: bigint;
  /**
   * The maximum number of transfers per turn, so that its transaction stays small. A single block
   * is always read completely.
   */
  readonly rowsMax?: number;
}

const BLOCKS_MAX = 2000n;
const ROWS_MAX = 2000;

interface Block {
  readonly number: bigint;
  readonly hash: string;
}

const blockAt = async (
  { registry }: ScanDeps,
  chainId: number,
  at: bigint | "latest",
): Promise<Block> => {
  const block = await chainCall(chainId, () =>
    registry
      .client(chainId)
      .getBlock(at === "latest" ? { blockTag: "latest" } : { blockNumber: at }),
  );
  return { number: block.number, hash: block.hash };
};

const smaller = (...numbers: readonly bigint[]): bigint =>
  numbers.reduce((a, b) => (a < b ? a : b));

const planTurn = async (
  deps: ScanDeps,
  chainId: number,
  cursor: Cursor,
): Promise<Turn | null> => {
  const { registry, blocksMax = BLOCKS_MAX } = deps;
  const head = await blockAt(deps, chainId, "latest");
  // The node lags, or a local chain was reset to an earlier block, so this turn reads nothing.
  if (head.number < cursor.seenNumber) return null;
  const latestFinal =
    (await chainCall(chainId, () => finalBlockNumber(registry, chainId, head.number))) ?? 0n;
  const seen =
    head.number === cursor.seenNumber ? head : await blockAt(deps, chainId, cursor.seenNumber);
  // A reorganisation replaced searched blocks, so all blocks after the final one are searched
  // again.
  const from = (seen.hash === cursor.seenHash ? cursor.seenNumber : cursor.finalNumber) + 1n;
  const end = from + blocksMax - 1n;
  const to = end < head.number ? await blockAt(deps, chainId, end) : head;
  const reached = smaller(latestFinal, to.number, cursor.finalNumber + blocksMax);
  const finalNumber = reached > cursor.finalNumber ? reached : cursor.finalNumber;
  if (to.number < from && finalNumber === cursor.finalNumber) return null;
  return { chainId, cursor, from, to, finalNumber, hasMore: to.number < head.number };
};

/** The newest block of the turn that an earlier turn has searched and that becomes final now. */
const againTo = ({ from, finalNumber }: Turn): bigint => smaller(finalNumber, from - 1n);

interface Reading {
  readonly again: readonly Incoming[];
  readonly fresh: readonly Incoming[];
}

/**
 * Reads the transfers in the turn's new blocks, and again the transfers in blocks that become
 * final. The second read finds logs that a node lacked at first, because it had the block before
 * its logs.
 * @throws TurnLostError when the nodes do not have the turn's last block
 */
const readTransfers = async (deps: ScanDeps, turn: Turn): Promise<Reading> => {
  const { chainId, cursor, from, to } = turn;
  const { database, registry, recipientsMax = RECIPIENTS_MAX } = deps;
  const reader = sqlOn(database.pool);
  // Up to `recipientsMax` wallets, the node filters by their addresses. Above that, one request
  // without addresses costs less than many requests with a part of the addresses each.
  const recipients = await addressesUpTo(reader, recipientsMax);
  const read = async (range: {
    readonly from: bigint;
    readonly to: bigint;
  }): Promise<Incoming[]> => {
    const search = { tokens: registry.tokens(chainId), range, recipients, endBlock: to };
    return intoWallets(reader, await tokenTransfers(registry, chainId, search));
  };
  try {
    const [again, fresh] = await Promise.all([
      read({ from: cursor.finalNumber + 1n, to: againTo(turn) }),
      read({ from, to: to.number }),
    ]);
    return { again, fresh };
  } catch (error) {
    if (error instanceof OtherChainError) throw new TurnLostError();
    throw error;
  }
};

/**
 * The last block, at most `to`, such that the range from `from` on contains at most `most`
 * transfers. The range always contains at least one block.
 */
const fittingEnd = (
  incoming: readonly Incoming[],
  from: bigint,
  to: bigint,
  most: number,
): bigint => {
  let end = to;
  const isIn = ({ transfer }: Incoming): boolean => transfer.blockNumber <= end;
  while (end > from && incoming.filter(isIn).length > most) end = from + (end - from) / 2n;
  return end;
};

/**
 * Like `readTransfers`, but shortens the turn when it contains too many transfers, because anybody
 * may send any number of them.
 */
const readTurn = async (
  deps: ScanDeps,
  planned: Turn,
): Promise<{ readonly turn: Turn; readonly incoming: readonly Incoming[] }> => {
  const most = deps.rowsMax ?? ROWS_MAX;
  const { chainId, cursor } = planned;
  let turn = planned;
  let reading = await readTransfers(deps, turn);
  for (;;) {
    const { from, to, finalNumber } = turn;
    const end = fittingEnd(reading.fresh, from, to.number, most);
    if (to.number < from || end === to.number) break;
    const cut = await blockAt(deps, chainId, end);
    turn = { ...turn, to: cut, finalNumber: smaller(finalNumber, cut.number), hasMore: true };
    reading = await readTransfers(deps, turn);
  }
  const last = againTo(turn);
  const end = fittingEnd(reading.again, cursor.finalNumber + 1n, last, most);
  if (last <= cursor.finalNumber || end === last)
    return { turn, incoming: [...reading.again, ...reading.fresh] };
  const again = reading.again.filter(({ transfer }) => transfer.blockNumber <= end);
  return {
    turn: { ...turn, finalNumber: end, hasMore: true },
    incoming: [...again, ...reading.fresh],
  };
};

interface Turn {
  readonly chainId: number;
  readonly cursor: Cursor;
  readonly from: bigint;
  readonly to: { readonly number: bigint; readonly hash: string };
  readonly finalNumber: bigint;
  readonly hasMore: boolean;
}

interface Searched {
  readonly found: readonly Found[];
  /** All transfers in the blocks of the turn. */
  readonly kept: readonly Incoming[];
  /** For the `logKey` of a transfer in `kept`, the deposit that was already stored for it. */
  readonly known: ReadonlyMap<string, Deposit>;
  readonly now: Date;
}

const dropped = (before: Deposit): Move => ({
  before,
  to: { state: "dropped", isHeld: false },
  usdMicro: null,
  result: null,
});

type Relocation = Pick<Deposit, "projectId" | "id" | "blockNumber">;

/**
 * Finds stored deposits that no longer match the chain. `gone`: their transfers do not exist any
 * more. `moved`: their transfers are in other blocks now, or may be in blocks that the next turn
 * reads.
 */
const replacedIn = async (sql: Sql, turn: Turn, { kept, known }: Searched) => {
  const { chainId, from, to, hasMore } = turn;
  const places = new Map(kept.map((each) => [keyOf(each), each]));
  const gone: Deposit[] = [];
  const moved: Relocation[] = [];
  for (const deposit of await lockDepositsBetween(sql, { chainId, from, to: to.number })) {
    const each = places.get(logKey(deposit));
    if (each === undefined && hasMore) moved.push({ ...deposit, blockNumber: to.number + 1n });
    else if (each === undefined || !isSame(deposit, each)) gone.push(deposit);
  }
  const elsewhere = [...known.values()].filter(
    ({ blockNumber }) => blockNumber < from || blockNumber > to.number,
  );
  for (const deposit of await lockDepositsByLog(sql, chainId, elsewhere)) {
    const each = places.get(logKey(deposit));
    if (each === undefined || isDecided(deposit) || deposit.state === "dropped") continue;
    if (!isSame(deposit, each)) gone.push(deposit);
  }
  for (const deposit of known.values()) {
    const each = places.get(logKey(deposit));
    if (
      each !== undefined &&
      isSame(deposit, each) &&
      deposit.blockNumber !== each.transfer.blockNumber
    )
      moved.push({ ...deposit, blockNumber: each.transfer.blockNumber });
  }
  return { gone, moved };
};

/**
 * Stores the result of a turn and the new cursor in one transaction. A deposit that is missing from
 * the turn's blocks is dropped, unless later blocks, which the next turn reads, may contain it.
 * @throws TurnLostError
 */
const storeTurn = async (
  sql: Sql,
  deps: StoreDeps,
  turn: Turn,
  searched: Searched,
): Promise<void> => {
  const { chainId, cursor, from, to, finalNumber } = turn;
  const { found, now } = searched;
  const isEmpty = to.number < from;
  const reached: Reached = isEmpty
    ? { ...cursor, finalNumber }
    : { finalNumber, seenNumber: to.number, seenHash: to.hash };
  if (!(await advance(sql, chainId, cursor, reached, now))) throw new TurnLostError();
  const { gone, moved } = await replacedIn(sql, turn, searched);
  // All rows are locked by one statement and in one order, because two groups of locks in one
  // transaction could deadlock with another instance.
  const changed = [...gone, ...found.map(({ deposit }) => deposit)].filter(
    ({ isHeld }) => isHeld,
  );
  await lockFunds(
    sql,
    changed.map(({ walletAddress, token }) => ({ walletAddress, chainId, token })),
  );
  await applyMoves(sql, deps, gone.map(dropped), now);
  await relocateDeposits(sql, moved);
  await storeFound(sql, deps, found, now);
};

/**
 * Runs a planned turn: reads its blocks and stores the result.
 * @returns whether there are blocks that no turn has searched
 */
const searchBlocks = async (deps: ScanDeps, planned: Turn): Promise<boolean> => {
  const { database, registry, clock } = deps;
  const reader = sqlOn(database.pool);
  const now = clock.now();
  const { turn, incoming } = await readTurn(deps, planned);
  const kept = await withSenders(registry, turn.chainId, incoming);
  const logs = kept.map(({ transfer, wallet }) => ({
    ...transfer,
    projectId: wallet.projectId,
  }));
  const stored = await depositsByLog(reader, turn.chainId, logs);
  const known = new Map(stored.map((deposit) => [logKey(deposit), deposit]));
  const fresh = kept.filter((each) => {
    const deposit = known.get(keyOf(each));
    return (
      deposit === undefined ||
      deposit.state === "dropped" ||
      (!isDecided(deposit) && !isSame(deposit, each))
    );
  });
  const origins = await originsOf(
    reader,
    fresh.map((each) => ({
      ...{
        projectId: each.wallet.projectId,
        chainId: turn.chainId,
        txHash: each.transfer.txHash,
        detectedAt: now,
      },
      ...{ walletAddress: each.wallet.address, token: tokenKey(each) },
      ...{ sender: each.transfer.from, amountBase: each.transfer.amountBase },
    })),
  );
  const found = await withDust(
    deps,
    await withWorths(deps, await judged(deps.screening, fresh, { origins, known, now })),
  );
  await database.rawTransaction((sql) =>
    storeTurn(sql, deps, turn, { found, kept, known, now }),
  );
  return turn.hasMore;
};

/**
 * Starts the search of a chain at its newest final block. Money that came before is not a deposit.
 */
const begin = async (deps: ScanDeps, chainId: number): Promise<void> => {
  const head = await blockAt(deps, chainId, "latest");
  const final =
    (await chainCall(chainId, () => finalBlockNumber(deps.registry, chainId, head.number))) ??
    0n;
  const { number, hash } = await blockAt(deps, chainId, final);
  const cursor = {
    finalNumber: number,
    seenNumber: number,
    seenHash: hash,
    nativeNumber: number,
  };
  await startCursor(sqlOn(deps.database.pool), chainId, cursor, deps.clock.now());
};

/**
 * Runs one turn of the search of a chain. Any number of instances may run turns at the same time:
 * the first one that commits moves the cursor, and the later ones store nothing.
 * @returns whether there are blocks that no turn has searched
 * @throws DomainError `chain_unavailable`
 */
export const scanChain = async (deps: ScanDeps, chainId: number): Promise<boolean> => {
  const cursor = await readCursor(sqlOn(deps.database.pool), chainId);
  if (cursor === null) {
    await begin(deps, chainId);
    return false;
  }
  const turn = await planTurn(deps, chainId, cursor);
  if (turn === null) return false;
  try {
    return await searchBlocks(deps, turn);
  } catch (error) {
    if (error instanceof TurnLostError) return false;
    throw error;
  }
};
