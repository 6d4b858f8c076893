/** Reads what a turn of the search brings: which blocks, and the transfers in them into wallets of projects. */
import { finalBlockNumber } from "@/lib/chains/finality";
import { OtherChainError } from "@/lib/chains/log-ranges";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { RECIPIENTS_MAX, tokenTransfers } from "@/lib/chains/transfer-logs";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";
import type { ScreeningService } from "@/lib/modules/screening/service";
import { intoWallets, type Incoming } from "./incoming";
import { addressesUpTo } from "./match-repository";
import type { Cursor } from "./scan-repository";
import { TurnLostError } from "./errors";
import type { Turn } from "./store-turn";
import type { WorthDeps } from "./worth";

export interface ScanDeps extends WorthDeps {
  readonly database: Pick<Database, "pool" | "rawTransaction">;
  readonly registry: ChainRegistry;
  readonly screening: Pick<ScreeningService, "screen" | "record" | "isActive">;
  readonly clock: Clock;
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

export const blockAt = async ({ registry }: ScanDeps, chainId: number, at: bigint | "latest"): Promise<Block> => {
  const block = await chainCall(chainId, () =>
    registry.client(chainId).getBlock(at === "latest" ? { blockTag: "latest" } : { blockNumber: at }),
  );
  return { number: block.number, hash: block.hash };
};

const smaller = (...numbers: readonly bigint[]): bigint => numbers.reduce((a, b) => (a < b ? a : b));

export const planTurn = async (deps: ScanDeps, chainId: number, cursor: Cursor): Promise<Turn | null> => {
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
export const readTurn = async (
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
