/**
 * Decides deposits in final blocks, and screens senders again that could not be screened before.
 */
import { outageOf } from "@/lib/core/outage";
import { sqlOn, type SqlReader } from "@/lib/platform/db/sql";
import { applyMoves, isDust, type Move, worthsOf } from "./apply";
import type { Deposit } from "./rows";
import { depositsToScreenAgain, dueDeposits, postponeDeposits } from "./repository";
import { foldDust } from "./dust-repository";
import { readCursor } from "./cursor-repository";
import { walletsAt } from "./wallet-repository";
import { type Origin, originsOf } from "./judge";
import type { ScanDeps } from "./scan";
import { againAfter, screenSenders, type SenderScreening } from "./screen";

const BATCH = 200;

/**
 * Thrown after the other deposits of a turn were settled. The message lists the deposits that
 * could not be changed.
 */
class UnmovedError extends Error {}

const screened = async (
  deps: ScanDeps,
  reader: SqlReader,
  deposits: readonly Deposit[],
): Promise<ReadonlyMap<string, SenderScreening>> => {
  const wallets = await walletsAt(reader, [
    ...new Set(deposits.map(({ walletAddress }) => walletAddress as string)),
  ]);
  const modes = new Map(wallets.map((wallet) => [wallet.id, wallet.mode]));
  const results = await screenSenders(
    deps.screening,
    // A wallet that `walletsAt` does not return has an owner who can spend without the service, so
    // there is nothing to hold back.
    deposits.map((each) => ({ ...each, mode: modes.get(each.walletId) ?? "off" })),
    deps.clock.now(),
  );
  return new Map(
    deposits.flatMap(({ id }, index) =>
      results[index] === undefined ? [] : [[id, results[index]]],
    ),
  );
};

interface Judged {
  readonly before: Deposit;
  readonly origin: Origin;
  readonly result: SenderScreening | undefined;
  readonly usdMicro: bigint | null;
  /** True when the deposit is dust (below the floor of its token) and no event has announced it. */
  readonly isTooSmall: boolean;
}

/** The change of a judged deposit; null when the deposit stays in its state. */
const moveOf = ({ before, origin, result, usdMicro, isTooSmall }: Judged): Move | null => {
  if (origin === "open") return null;
  if (origin === "own")
    return { before, to: { state: "own", isHeld: false }, usdMicro: null, result: null };
  if (result === undefined) return null;
  if (result.isStopped)
    return { before, to: { state: "quarantined", isHeld: true }, usdMicro, result };
  if (isTooSmall)
    return { before, to: { state: "dust", isHeld: false }, usdMicro: null, result: null };
  return { before, to: { state: "credited", isHeld: false }, usdMicro, result };
};

/**
 * Applies the moves one by one after they failed in one transaction, so that one bad deposit does
 * not block the rest.
 */
const applyEach = async (deps: ScanDeps, moves: readonly Move[], now: Date): Promise<void> => {
  const failed: { readonly id: string; readonly error: unknown }[] = [];
  for (const move of moves) {
    try {
      await deps.database.rawTransaction((sql) => applyMoves(sql, deps, [move], now));
    } catch (error) {
      if (outageOf(error) !== null) throw error;
      failed.push({ id: move.before.id, error });
    }
  }
  const [first] = failed;
  if (first === undefined) return;
  const ids = failed.map(({ id }) => id).join(", ");
  throw new UnmovedError(
    `Deposits that could not be moved on: ${ids}. ${String(first.error)}`,
    {
      cause: first.error,
    },
  );
};

const applyAll = async (deps: ScanDeps, moves: readonly Move[], now: Date): Promise<void> => {
  try {
    await deps.database.rawTransaction((sql) => applyMoves(sql, deps, moves, now));
  } catch (error) {
    if (outageOf(error) !== null) throw error;
    await applyEach(deps, moves, now);
  }
};

const settleBatch = async (deps: ScanDeps, due: readonly Deposit[]): Promise<void> => {
  const reader = sqlOn(deps.database.pool);
  const unclear = due.filter(({ state }) => state === "unclear");
  const found = await originsOf(reader, unclear);
  const origins = new Map(unclear.map(({ id }, index) => [id, found[index] ?? "open"]));
  // Deposits that passed when they were seen are screened again, because policies and lists may
  // have changed since.
  const outside = due.filter(({ id }) => (origins.get(id) ?? "outside") === "outside");
  const [results, worths] = await Promise.all([
    screened(deps, reader, outside),
    worthsOf(deps, due),
  ]);
  const moves = due.flatMap((before, index) => {
    const origin = origins.get(before.id) ?? "outside";
    const usdMicro = worths[index] ?? null;
    const isTooSmall = before.state === "unclear" && isDust(deps, before, usdMicro);
    return (
      moveOf({ before, origin, result: results.get(before.id), usdMicro, isTooSmall }) ?? []
    );
  });
  const now = deps.clock.now();
  await applyAll(deps, moves, now);
};

const isUnchanged = (
  before: Deposit,
  { isStopped, againAt, verdict, verdictSource }: SenderScreening,
): boolean =>
  isStopped &&
  againAt !== null &&
  verdict === before.verdict &&
  verdictSource === before.verdictSource;

const screenAgain = async (
  deps: ScanDeps,
  chainId: number,
  finalNumber: bigint,
): Promise<void> => {
  const reader = sqlOn(deps.database.pool);
  const now = deps.clock.now();
  const due = await depositsToScreenAgain(reader, { chainId, now, limit: BATCH });
  if (due.length === 0) return;
  const [results, worths] = await Promise.all([
    screened(deps, reader, due),
    worthsOf(deps, due),
  ]);
  // A deposit whose verdict is unchanged only gets the time of its next screening. Its verdict is
  // not recorded again.
  const postponed = due.flatMap((before) => {
    const result = results.get(before.id);
    return result !== undefined && isUnchanged(before, result)
      ? [{ projectId: before.projectId, id: before.id, againAt: againAfter(before, now) }]
      : [];
  });
  await deps.database.rawTransaction((sql) => postponeDeposits(sql, postponed));
  const moves = due.flatMap((before, index): Move[] => {
    const result = results.get(before.id);
    if (result === undefined || isUnchanged(before, result)) return [];
    if (result.isStopped)
      return [
        {
          before,
          to: { state: "quarantined", isHeld: true },
          usdMicro: worths[index] ?? null,
          result,
        },
      ];
    const isFinal = before.blockNumber <= finalNumber;
    const state = isFinal ? "credited" : "pending";
    return [
      {
        before,
        to: { state, isHeld: false },
        usdMicro: isFinal ? (worths[index] ?? null) : null,
        result,
      },
    ];
  });
  await applyAll(deps, moves, now);
};

/**
 * Returns the error about deposits that could not be changed instead of throwing it, so that the
 * caller continues.
 */
const unmovedIn = async (work: Promise<void>): Promise<UnmovedError | null> => {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof UnmovedError) return error;
    throw error;
  }
};

/**
 * Credits or quarantines final deposits, and adds dust to the sums. Any number of instances may run
 * it at the same time, because each state is set by compare-and-set.
 * @throws UnmovedError after everything else was done; the database's error
 */
export const settleChain = async (deps: ScanDeps, chainId: number): Promise<void> => {
  const reader = sqlOn(deps.database.pool);
  const cursor = await readCursor(reader, chainId);
  if (cursor === null) return;
  const at = { chainId, finalNumber: cursor.finalNumber, limit: BATCH };
  const unmoved: (UnmovedError | null)[] = [];
  let after: Pick<Deposit, "blockNumber" | "id"> = { blockNumber: -1n, id: "" };
  for (;;) {
    const due = await dueDeposits(reader, at, after);
    if (due.length > 0) unmoved.push(await unmovedIn(settleBatch(deps, due)));
    const last = due.at(-1);
    if (last === undefined || due.length < BATCH) break;
    after = last;
  }
  await deps.database.rawTransaction((sql) => foldDust(sql, chainId, cursor.finalNumber));
  unmoved.push(await unmovedIn(screenAgain(deps, chainId, cursor.finalNumber)));
  const [first] = unmoved.filter((error) => error !== null);
  if (first !== undefined) throw first;
};
