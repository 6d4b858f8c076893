/** Searches a chain for tokens that came into wallets of projects. */
import { finalBlockNumber } from "@/lib/chains/finality";
import { chainCall } from "@/lib/chains/registry";
import { sqlOn } from "@/lib/db/sql";
import { isDecided } from "./deposit";
import { isSame, keyOf, logKey, tokenKey, withSenders } from "./incoming";
import { judged } from "./judge";
import { originsOf } from "./origins";
import { blockAt, planTurn, readTurn, type ScanDeps } from "./read-turn";
import { depositsByLog } from "./repository";
import { readCursor, startCursor } from "./scan-repository";
import { TurnLostError } from "./errors";
import { storeTurn, type Turn } from "./store-turn";
import { withWorths } from "./worth";

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
  const found = await withWorths(deps, await judged(deps.screening, fresh, { origins, known, now }));
  await database.rawTransaction((sql) => storeTurn(sql, deps, turn, { found, kept, known, now }));
  return turn.hasMore;
};

/** The search of a chain begins at its newest final block: money that came before is no deposit. */
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
