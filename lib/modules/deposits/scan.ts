/** Searches a chain for tokens that came into wallets of projects. */
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { RECIPIENTS_MAX, tokenTransfers, withMinters, type TokenTransfer } from "@/lib/chains/transfer-logs";
import type { Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { sqlOn, type Sql } from "@/lib/db/sql";
import type { ScreeningService } from "@/lib/modules/screening/service";
import { applyMoves, storeFound, type Found, type Move, type TokenOf } from "./apply";
import type { Deposit } from "./deposit";
import { addressesUpTo, walletsAt, type DepositWallet } from "./match-repository";
import { originsOf, type Origin } from "./origins";
import { depositsAfter, depositsByLog, relocateDeposits } from "./repository";
import { advance, readCursor, startCursor, type Cursor, type Reached } from "./scan-repository";
import { screenSenders } from "./screen";

export interface ScanDeps {
  readonly database: Pick<Database, "pool" | "rawTransaction">;
  readonly registry: ChainRegistry;
  readonly screening: Pick<ScreeningService, "screen" | "record" | "isActive">;
  readonly clock: Clock;
  readonly tokenOf: TokenOf;
  /** Above this many wallets all transfers of the tokens are read. */
  readonly recipientsMax?: number;
}

/** A turn searches so many blocks at most, so that it ends in time and its transaction stays small. */
const BLOCKS_MAX = 2000n;

/** Another instance was faster, or the chain changed while it was read: the next turn begins again. */
class TurnLostError extends Error {}

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

/** The blocks that a turn searches. */
interface Turn {
  readonly chainId: number;
  readonly cursor: Cursor;
  readonly from: bigint;
  readonly to: Block;
  readonly finalNumber: bigint;
  /** A reorganisation replaced blocks that were searched: those after the final one are searched again. */
  readonly isAgain: boolean;
}

const planTurn = async (deps: ScanDeps, chainId: number, cursor: Cursor): Promise<Turn | null> => {
  const head = await blockAt(deps, chainId, "latest");
  // A node that lags, or a local chain that was set back.
  if (head.number < cursor.seenNumber) return null;
  const latestFinal = (await chainCall(chainId, () => finalBlockNumber(deps.registry, chainId, head.number))) ?? 0n;
  const seen = head.number === cursor.seenNumber ? head : await blockAt(deps, chainId, cursor.seenNumber);
  const isAgain = seen.hash !== cursor.seenHash;
  const from = (isAgain ? cursor.finalNumber : cursor.seenNumber) + 1n;
  const end = from + BLOCKS_MAX - 1n;
  const to = end < head.number ? await blockAt(deps, chainId, end) : head;
  const reached = latestFinal < to.number ? latestFinal : to.number;
  const finalNumber = reached > cursor.finalNumber ? reached : cursor.finalNumber;
  if (to.number < from && finalNumber === cursor.finalNumber) return null;
  return { chainId, cursor, from, to, finalNumber, isAgain };
};

const readTransfers = async (deps: ScanDeps, { chainId, from, to }: Turn): Promise<TokenTransfer[]> => {
  const { database, registry, recipientsMax = RECIPIENTS_MAX } = deps;
  // Up to 500 wallets the node looks for their addresses. Above, one request without addresses costs less than many with some each.
  const recipients = await addressesUpTo(sqlOn(database.pool), recipientsMax);
  const range = { from, to: to.number };
  const found = await tokenTransfers(registry, chainId, { tokens: registry.tokens(chainId), range, recipients });
  // The logs are those of the chain that ends in `to`, unless it changed while they were read.
  if (found.length > 0 && (await blockAt(deps, chainId, to.number)).hash !== to.hash) throw new TurnLostError();
  return found;
};

/** A transfer into a wallet of a project. */
interface Incoming {
  readonly transfer: TokenTransfer;
  readonly wallet: DepositWallet;
}

const keyOf = (at: { readonly projectId: string; readonly txHash: string | null; readonly logIndex: number | null }) =>
  `${at.projectId}:${String(at.txHash)}:${String(at.logIndex)}`;

const incomingKey = ({ transfer, wallet }: Incoming): string => keyOf({ ...transfer, projectId: wallet.projectId });

const intoWallets = async (deps: ScanDeps, turn: Turn, transfers: readonly TokenTransfer[]): Promise<Incoming[]> => {
  const addresses = [...new Set(transfers.map(({ to }) => to as string))];
  const wallets = await walletsAt(sqlOn(deps.database.pool), addresses);
  const byAddress = new Map<string, DepositWallet[]>();
  for (const wallet of wallets) byAddress.set(wallet.address, [...(byAddress.get(wallet.address) ?? []), wallet]);
  const ours = await withMinters(
    deps.registry,
    turn.chainId,
    transfers.filter(({ to }) => byAddress.has(to)),
  );
  return ours.flatMap((transfer) => (byAddress.get(transfer.to) ?? []).map((wallet) => ({ transfer, wallet })));
};

const rowOf = (
  { transfer, wallet }: Incoming,
  { known, detectedAt }: { readonly known: Deposit | undefined; readonly detectedAt: Date },
) => ({
  ...{ projectId: wallet.projectId, id: known?.id ?? newId("operation"), chainId: transfer.token.chainId },
  ...{ txHash: transfer.txHash, logIndex: transfer.logIndex, blockNumber: transfer.blockNumber },
  ...{ walletId: wallet.id, walletAddress: wallet.address, token: transfer.token.address.toLowerCase() },
  ...{ sender: transfer.from, amountBase: transfer.amountBase, detectedAt },
});

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
    const row = rowOf(each, { known: known.get(incomingKey(each)), detectedAt: now });
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

const dropped = (before: Deposit): Move => ({
  before,
  to: { state: "dropped", isHeld: false },
  usdMicro: null,
  result: null,
});

/** Stores what a turn found, and that it did: both, or neither after a crash. */
const storeTurn = async (
  sql: Sql,
  deps: ScanDeps,
  turn: Turn,
  { found, kept, now }: { readonly found: readonly Found[]; readonly kept: readonly Incoming[]; readonly now: Date },
): Promise<void> => {
  const { chainId, cursor, to, finalNumber, isAgain } = turn;
  const isEmpty = to.number < turn.from;
  const reached: Reached = isEmpty
    ? { ...cursor, finalNumber }
    : { finalNumber, seenNumber: to.number, seenHash: to.hash };
  if (!(await advance(sql, chainId, cursor, reached, now))) throw new TurnLostError();
  if (isAgain) {
    const before = await depositsAfter(sql, chainId, cursor.finalNumber);
    const places = new Map(kept.map((each) => [incomingKey(each), each.transfer.blockNumber]));
    const gone = before.filter((deposit) => !places.has(keyOf(deposit)));
    await applyMoves(sql, deps, gone.map(dropped), now);
    await relocateDeposits(
      sql,
      before.flatMap((deposit) => {
        const blockNumber = places.get(keyOf(deposit));
        return blockNumber === undefined ? [] : [{ ...deposit, blockNumber }];
      }),
    );
  }
  await storeFound(sql, deps, found, now);
};

const searchBlocks = async (deps: ScanDeps, turn: Turn): Promise<void> => {
  const { database, clock } = deps;
  const reader = sqlOn(database.pool);
  const now = clock.now();
  const incoming = await intoWallets(deps, turn, await readTransfers(deps, turn));
  const logs = incoming.map(({ transfer, wallet }) => ({ ...transfer, projectId: wallet.projectId }));
  const stored = await depositsByLog(reader, turn.chainId, logs);
  const known = new Map(stored.map((deposit) => [keyOf(deposit), deposit]));
  const fresh = incoming.filter((each) => (known.get(incomingKey(each))?.state ?? "dropped") === "dropped");
  const origins = await originsOf(
    reader,
    fresh.map(({ transfer, wallet }) => ({
      ...{ projectId: wallet.projectId, chainId: turn.chainId, txHash: transfer.txHash, detectedAt: now },
      ...{ walletAddress: wallet.address, token: transfer.token.address.toLowerCase() },
      ...{ sender: transfer.from, amountBase: transfer.amountBase },
    })),
  );
  const found = await judged(deps, fresh, { origins, known, now });
  await database.rawTransaction((sql) => storeTurn(sql, deps, turn, { found, kept: incoming, now }));
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
    await searchBlocks(deps, turn);
  } catch (error) {
    if (!(error instanceof TurnLostError)) throw error;
    return false;
  }
  return turn.to.number - turn.from + 1n === BLOCKS_MAX;
};
