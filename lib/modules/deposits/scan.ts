/** Searches a chain for tokens that came into wallets of projects. */
import { finalBlockNumber } from "@/lib/chains/finality";
import { OtherChainError } from "@/lib/chains/log-ranges";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { RECIPIENTS_MAX, tokenTransfers } from "@/lib/chains/transfer-logs";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";
import type { ScreeningService } from "@/lib/modules/screening/service";
import type { Found, TokenOf } from "./apply";
import { isDecided, type Deposit } from "./deposit";
import { intoWallets, isSame, keyOf, logKey, rowOf, tokenKey, withSenders, type Incoming } from "./incoming";
import { addressesUpTo } from "./match-repository";
import { originsOf, type Origin } from "./origins";
import { depositsByLog } from "./repository";
import { readCursor, startCursor, type Cursor } from "./scan-repository";
import { screenSenders } from "./screen";
import { storeTurn, TurnLostError, type Turn } from "./store-turn";

export interface ScanDeps {
  readonly database: Pick<Database, "pool" | "rawTransaction">;
  readonly registry: ChainRegistry;
  readonly screening: Pick<ScreeningService, "screen" | "record" | "isActive">;
  readonly clock: Clock;
  readonly tokenOf: TokenOf;
  /** Above this many wallets all transfers of the tokens are read. */
  readonly recipientsMax?: number;
  /** A turn searches so many blocks at most, so that it ends in time. */
  readonly blocksMax?: bigint;
  /** A turn stores so many transfers at most, or those of one block, so that its transaction stays small. */
  readonly rowsMax?: number;
}

const BLOCKS_MAX = 2000n;
const ROWS_MAX = 2000;

interface Block {
  readonly number: bigint;
  readonly hash: string;
}

const blockAt = async ({ registry }: ScanDeps, chainId: number, at: bigint | "latest"): Promise<Block> => {
  const block = await chainCall(chainId, () =>
    registry.client(chainId).getBlock(at === "latest" ? { blockTag: "latest" } : { blockNumber: at }),
  );
  return { number: block.number, hash: block.hash };
};

const smaller = (...numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => (a < b ? a : b));

const planTurn = async (deps: ScanDeps, chainId: number, cursor: Cursor): Promise<Turn | null> => {
  const { registry, blocksMax = BLOCKS_MAX } = deps;
  const head = await blockAt(deps, chainId, "latest");
  // A node that lags, or a local chain that was set back.
  if (head.number < cursor.seenNumber) return null;
  const latestFinal = (await chainCall(chainId, () => finalBlockNumber(registry, chainId, head.number))) ?? 0n;
  const seen = head.number === cursor.seenNumber ? head : await blockAt(deps, chainId, cursor.seenNumber);
  // A reorganisation replaced blocks that were searched: those after the final one are searched again.
  const from = (seen.hash === cursor.seenHash ? cursor.seenNumber : cursor.finalNumber) + 1n;
  const end = from + blocksMax - 1n;
  const to = end < head.number ? await blockAt(deps, chainId, end) : head;
  const reached = smaller(latestFinal, to.number, cursor.finalNumber + blocksMax);
  const finalNumber = reached > cursor.finalNumber ? reached : cursor.finalNumber;
  if (to.number < from && finalNumber === cursor.finalNumber) return null;
  return { chainId, cursor, from, to, finalNumber, hasMore: to.number < head.number };
};

/** The newest block of the turn that was searched in an earlier one and becomes final now. */
const againTo = ({ from, finalNumber }: Turn): bigint => smaller(finalNumber, from - 1n);

interface Reading {
  readonly again: readonly Incoming[];
  readonly fresh: readonly Incoming[];
}

/**
 * Reads each block twice: when it is seen, and when it becomes final. A log that a node lacked at first, because it had the block before its
 * logs, is found then.
 * @throws TurnLostError when the nodes do not have the turn's last block
 */
const readTransfers = async (deps: ScanDeps, turn: Turn): Promise<Reading> => {
  const { chainId, cursor, from, to } = turn;
  const { database, registry, recipientsMax = RECIPIENTS_MAX } = deps;
  const reader = sqlOn(database.pool);
  // Up to 500 wallets the node looks for their addresses. Above, one request without addresses costs less than many with some each.
  const recipients = await addressesUpTo(reader, recipientsMax);
  const read = async (range: { readonly from: bigint; readonly to: bigint }): Promise<Incoming[]> => {
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

/** The blocks from `from` on, at most to `to`, that bring no more than a turn stores; one block at least. */
const fittingEnd = (incoming: readonly Incoming[], from: bigint, to: bigint, most: number): bigint => {
  let end = to;
  const isIn = ({ transfer }: Incoming): boolean => transfer.blockNumber <= end;
  while (end > from && incoming.filter(isIn).length > most) end = from + (end - from) / 2n;
  return end;
};

/** As `readTransfers`, and cuts the turn where it would bring too many. Anybody may send a wallet any number of transfers. */
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
  if (last <= cursor.finalNumber || end === last) return { turn, incoming: [...reading.again, ...reading.fresh] };
  const again = reading.again.filter(({ transfer }) => transfer.blockNumber <= end);
  return { turn: { ...turn, finalNumber: end, hasMore: true }, incoming: [...again, ...reading.fresh] };
};

/** New deposits with their screening. Moves of the project's own are left out, and those that may be wait unscreened. */
const judged = async (
  deps: ScanDeps,
  incoming: readonly Incoming[],
  { origins, known, now }: { origins: readonly Origin[]; known: ReadonlyMap<string, Deposit>; now: Date },
): Promise<Found[]> => {
  const outside = incoming.filter((_, index) => origins[index] === "outside");
  const results = await screenSenders(
    deps.screening,
    outside.map(({ transfer, wallet }) => ({
      ...{ chainId: transfer.token.chainId, sender: transfer.from, mode: wallet.mode },
    })),
    now,
  );
  const resultOf = new Map(outside.map((each, index) => [each, results[index] ?? null]));
  return incoming.flatMap((each, index): Found[] => {
    if (origins[index] === "own") return [];
    const row = rowOf(each, { known: known.get(keyOf(each)), detectedAt: now });
    const result = resultOf.get(each) ?? null;
    const unscreened = { verdict: null, verdictSource: null, listVersion: null, screenedAt: null, againAt: null };
    if (result === null) {
      // Money of which nothing is known yet may not move where the policy lets screened money alone move.
      const isHeld = each.wallet.mode === "require_clear";
      return [{ deposit: { ...row, ...unscreened, state: "unclear", isHeld }, result }];
    }
    const { isStopped, verdict, verdictSource, listVersion, screenedAt, againAt } = result;
    const state = isStopped ? "quarantined" : "pending";
    const screened = { verdict, verdictSource, listVersion, screenedAt, againAt };
    return [{ deposit: { ...row, ...screened, state, isHeld: isStopped }, result }];
  });
};

/** @returns whether blocks are left that no turn has searched */
const searchBlocks = async (deps: ScanDeps, planned: Turn): Promise<boolean> => {
  const { database, registry, clock } = deps;
  const reader = sqlOn(database.pool);
  const now = clock.now();
  const { turn, incoming } = await readTurn(deps, planned);
  const kept = await withSenders(registry, turn.chainId, incoming);
  const logs = kept.map(({ transfer, wallet }) => ({ ...transfer, projectId: wallet.projectId }));
  const stored = await depositsByLog(reader, turn.chainId, logs);
  const known = new Map(stored.map((deposit) => [logKey(deposit), deposit]));
  const fresh = kept.filter((each) => {
    const deposit = known.get(keyOf(each));
    return deposit === undefined || deposit.state === "dropped" || (!isDecided(deposit) && !isSame(deposit, each));
  });
  const origins = await originsOf(
    reader,
    fresh.map((each) => ({
      ...{ projectId: each.wallet.projectId, chainId: turn.chainId, txHash: each.transfer.txHash, detectedAt: now },
      ...{ walletAddress: each.wallet.address, token: tokenKey(each) },
      ...{ sender: each.transfer.from, amountBase: each.transfer.amountBase },
    })),
  );
  const found = await judged(deps, fresh, { origins, known, now });
  await database.rawTransaction((sql) => storeTurn(sql, deps, turn, { found, kept, known, now }));
  return turn.hasMore;
};

/** The search of a chain begins at its newest final block: what was there before is no deposit. */
const begin = async (deps: ScanDeps, chainId: number): Promise<void> => {
  const head = await blockAt(deps, chainId, "latest");
  const final = (await chainCall(chainId, () => finalBlockNumber(deps.registry, chainId, head.number))) ?? 0n;
  const { number, hash } = await blockAt(deps, chainId, final);
  const cursor = { finalNumber: number, seenNumber: number, seenHash: hash, nativeNumber: number };
  await startCursor(sqlOn(deps.database.pool), chainId, cursor, deps.clock.now());
};

/**
 * One turn of the search of a chain. Any number of instances may run it at once: the first one that commits moves the cursor on, and the
 * others store nothing.
 * @returns whether blocks are left that no turn has searched
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
