/** Stores what a turn of the search found, together with how far it came. */
import type { Sql } from "@/lib/db/sql";
import { lockFunds } from "@/lib/modules/holds/service";
import { applyMoves, storeFound, type Found, type Move, type StoreDeps } from "./apply";
import { isDecided, type Deposit } from "./deposit";
import { isSame, keyOf, logKey, type Incoming } from "./incoming";
import { lockDepositsBetween, lockDepositsByLog, relocateDeposits } from "./repository";
import { advance, type Cursor, type Reached } from "./scan-repository";
import { TurnLostError } from "./errors";

/** The blocks that a turn searches. */
export interface Turn {
  readonly chainId: number;
  readonly cursor: Cursor;
  readonly from: bigint;
  readonly to: { readonly number: bigint; readonly hash: string };
  readonly finalNumber: bigint;
  /** Whether later blocks are left for another turn. */
  readonly hasMore: boolean;
}

interface Searched {
  readonly found: readonly Found[];
  /** Everything that the blocks of the turn bring, with the deposits that it was stored as before. */
  readonly kept: readonly Incoming[];
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

/** Stored deposits of which the chain says something else now. */
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
  const elsewhere = [...known.values()].filter(({ blockNumber }) => blockNumber < from || blockNumber > to.number);
  for (const deposit of await lockDepositsByLog(sql, chainId, elsewhere)) {
    const each = places.get(logKey(deposit));
    if (each === undefined || isDecided(deposit) || deposit.state === "dropped") continue;
    if (!isSame(deposit, each)) gone.push(deposit);
  }
  for (const deposit of known.values()) {
    const each = places.get(logKey(deposit));
    if (each !== undefined && isSame(deposit, each) && deposit.blockNumber !== each.transfer.blockNumber)
      moved.push({ ...deposit, blockNumber: each.transfer.blockNumber });
  }
  return { gone, moved };
};

/**
 * Stores what a turn found, and that it did: both, or neither after a crash. A deposit that the turn's blocks do not have any more is
 * dropped, unless later blocks, which the next turn reads, may have it.
 * @throws TurnLostError
 */
export const storeTurn = async (sql: Sql, deps: StoreDeps, turn: Turn, searched: Searched): Promise<void> => {
  const { chainId, cursor, from, to, finalNumber } = turn;
  const { found, now } = searched;
  const isEmpty = to.number < from;
  const reached: Reached = isEmpty
    ? { ...cursor, finalNumber }
    : { finalNumber, seenNumber: to.number, seenHash: to.hash };
  if (!(await advance(sql, chainId, cursor, reached, now))) throw new TurnLostError();
  const { gone, moved } = await replacedIn(sql, turn, searched);
  // Once and in one order: two groups of locks in one transaction could wait for another one's in a circle.
  const changed = [...gone, ...found.map(({ deposit }) => deposit)].filter(({ isHeld }) => isHeld);
  await lockFunds(
    sql,
    changed.map(({ walletAddress, token }) => ({ walletAddress, chainId, token })),
  );
  await applyMoves(sql, deps, gone.map(dropped), now);
  await relocateDeposits(sql, moved);
  await storeFound(sql, deps, found, now);
};
