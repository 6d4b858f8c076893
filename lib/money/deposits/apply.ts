import type { Token } from "@/lib/core/token";
import { announce, type Sql } from "@/lib/platform/db/sql";
import { recordEventsOn } from "@/lib/news/events/service";
import { changeQuarantine, type QuarantineChange } from "@/lib/books/holds/service";
import { moveDepositOperations, storeDepositOperations } from "@/lib/money/operations/service";
import type { ScreeningService } from "@/lib/trust/screening/service";
import {
  changeDeposits,
  type DepositChange,
  inChunks,
  type NewDeposit,
  storeDeposits,
} from "./repository";
import type { Deposit } from "./rows";
import { depositEvents, operationStateOf } from "./deposit";
import { recordScreenings, type SenderScreening } from "./screen";
import { worthOf } from "@/lib/core/decimal";
import { parseUnits } from "viem";
import type { ChainRegistry } from "@/lib/chain/registry";

// Stores new deposits and new states of deposits, with everything that depends on them: operations,
// events, holds and records.

/** The PostgreSQL channel that announces projects whose deposits have changed. */
export const DEPOSIT_CHANNEL = "deposit";

/** Returns the token of a deposit, even after it was removed from the chain's configuration. */
type TokenOf = (deposit: Pick<Deposit, "chainId" | "token">) => Token;

export interface StoreDeps {
  readonly screening: Pick<ScreeningService, "record">;
  readonly tokenOf: TokenOf;
}

interface Moved {
  readonly after: Deposit;
  /** True when the deposit has no operation and no event yet. */
  readonly isNew: boolean;
}

/** The change of a balance's quarantine when a deposit is added (`sign` 1) or removed (-1). */
export const holdOf = (deposit: Deposit, sign: 1n | -1n): QuarantineChange => ({
  projectId: deposit.projectId,
  walletAddress: deposit.walletAddress,
  chainId: deposit.chainId,
  token: deposit.token,
  amountBase: sign * deposit.amountBase,
});

/**
 * Stores the new states in the operations, the operations' events and the project's events, and
 * announces the projects when the transaction commits. The transaction must hold the locks of the
 * deposits' rows.
 */
export const tell = async (
  sql: Sql,
  tokenOf: TokenOf,
  moved: readonly Moved[],
  now: Date,
): Promise<void> => {
  for (const chunk of inChunks(moved)) await tellChunk(sql, tokenOf, chunk, now);
};

const tellChunk = async (
  sql: Sql,
  tokenOf: TokenOf,
  moved: readonly Moved[],
  now: Date,
): Promise<void> => {
  const told = moved.flatMap(({ after, isNew }) => {
    const state = operationStateOf(after.state);
    return state === null ? [] : [{ after, isNew, state, token: tokenOf(after) }];
  });
  const eventOf = ({ state }: Deposit): string =>
    state === "pending" ? "deposit.detected" : `deposit.${state}`;
  await storeDepositOperations(
    sql,
    told
      .filter(({ isNew }) => isNew)
      .map(({ after, state, token }) => ({
        ...{ id: after.id, projectId: after.projectId, ...state, event: eventOf(after) },
        wallet: { id: after.walletId, address: after.walletAddress },
        ...{ sender: after.sender, token, amountBase: after.amountBase, txHash: after.txHash },
      })),
    now,
  );
  await moveDepositOperations(
    sql,
    told
      .filter(({ isNew }) => !isNew)
      .map(({ after, state }) => ({
        projectId: after.projectId,
        id: after.id,
        ...state,
        event: eventOf(after),
      })),
    now,
  );
  const events = told.flatMap(({ after, isNew, token }) =>
    depositEvents({ ...after, token }, isNew, now),
  );
  await recordEventsOn(sql, events);
  for (const projectId of new Set(told.map(({ after }) => after.projectId)))
    announce(sql, { channel: DEPOSIT_CHANNEL, payload: projectId });
};

export interface Found {
  readonly deposit: Omit<NewDeposit, "screeningId">;
  readonly result: SenderScreening;
}

const recorded = async (
  sql: Sql,
  { screening }: StoreDeps,
  rows: readonly {
    readonly projectId: string;
    readonly id: string;
    readonly result: SenderScreening | null;
  }[],
): Promise<ReadonlyMap<string, string>> =>
  recordScreenings(
    sql,
    screening,
    rows.flatMap(({ result, ...row }) => (result === null ? [] : [{ ...row, result }])),
  );

/**
 * Stores deposits that were seen for the first time, or seen again after a reorganisation had
 * removed them.
 */
export const storeFound = async (
  sql: Sql,
  deps: StoreDeps,
  found: readonly Found[],
  now: Date,
): Promise<void> => {
  if (found.length === 0) return;
  const records = await recorded(
    sql,
    deps,
    // The screening of a deposit that passes is recorded when the deposit is credited. The
    // screening of a deposit that may come from the project itself is recorded when its origin is
    // known.
    found.map(({ deposit: { projectId, id, state }, result }) => ({
      ...{ projectId, id, result: state === "quarantined" ? result : null },
    })),
  );
  const rows = found.map(({ deposit }) => ({
    ...deposit,
    screeningId: records.get(deposit.id) ?? null,
  }));
  const stored = await storeDeposits(sql, rows, now);
  const after = rows
    .filter(({ id }) => stored.has(id))
    .map((row): Deposit => ({
      ...row,
      ...{ decidedBy: null, decidedReason: null, decidedAt: null, updatedAt: now },
    }));
  await changeQuarantine(
    sql,
    after.filter(({ isHeld }) => isHeld).map((deposit) => holdOf(deposit, 1n)),
    now,
  );
  const moved = after.map((deposit) => ({ after: deposit, isNew: true }));
  await tell(sql, deps.tokenOf, moved, now);
};

export interface Move {
  readonly before: Deposit;
  readonly to: Pick<Deposit, "state" | "isHeld">;
  readonly usdMicro: bigint | null;
  /** Null when the sender was not screened again. */
  readonly result: SenderScreening | null;
}

const changeOf = (
  { before, to, usdMicro, result }: Move,
  screeningId: string | null,
): DepositChange => {
  const { verdict, verdictSource, listVersion, screenedAt } = result ?? before;
  return {
    ...{ projectId: before.projectId, id: before.id, fromState: before.state, ...to, usdMicro },
    ...{ verdict, verdictSource, listVersion, screenedAt, screeningId },
    againAt: result?.againAt ?? null,
  };
};

/**
 * Changes the state of deposits by compare-and-set. A deposit that another instance has changed
 * first is left unchanged.
 */
export const applyMoves = async (
  sql: Sql,
  deps: StoreDeps,
  moves: readonly Move[],
  now: Date,
): Promise<void> => {
  if (moves.length === 0) return;
  const records = await recorded(
    sql,
    deps,
    moves.map(({ before: { projectId, id }, result }) => ({ projectId, id, result })),
  );
  const changes = moves.map((move) => changeOf(move, records.get(move.before.id) ?? null));
  const changed = await changeDeposits(sql, changes, now);
  const done = moves.filter(({ before }) => changed.has(before.id));
  const holds = done.flatMap(({ before, to }): QuarantineChange[] =>
    before.isHeld === to.isHeld ? [] : [holdOf(before, to.isHeld ? 1n : -1n)],
  );
  await changeQuarantine(sql, holds, now);
  const moved = done
    // A deposit that was dropped before any event announced it needs no event.
    .filter(
      ({ before, to }) =>
        before.state !== to.state &&
        (to.state !== "dropped" || operationStateOf(before.state) !== null),
    )
    .map(({ before, to, usdMicro, result }) => ({
      after: {
        ...{
          ...before,
          ...to,
          usdMicro: usdMicro ?? before.usdMicro,
          verdict: result?.verdict ?? before.verdict,
        },
        updatedAt: now,
      },
      isNew: before.state === "unclear",
    }));
  await tell(sql, deps.tokenOf, moved, now);
};

export interface WorthDeps {
  readonly prices: {
    priceUsd(
      tokens: readonly Token[],
      signal: AbortSignal,
    ): Promise<readonly (string | null)[]>;
  };
  readonly tokenOf: TokenOf;
}

const PRICES_TIMEOUT_MS = 2000;
const USD_DECIMALS = 6;

/** The current worth of deposits, in millionths of a dollar; null when no price is available. */
export const worthsOf = async (
  { prices, tokenOf }: WorthDeps,
  deposits: readonly Pick<Deposit, "chainId" | "token" | "amountBase">[],
): Promise<readonly (bigint | null)[]> => {
  const tokens = [
    ...new Map(deposits.map((deposit) => [deposit.token, tokenOf(deposit)])).values(),
  ];
  if (tokens.length === 0) return [];
  const found = await prices
    .priceUsd(tokens, AbortSignal.timeout(PRICES_TIMEOUT_MS))
    .catch(() => []);
  const priceOf = new Map(
    tokens.map((token, index) => [token.address.toLowerCase(), found[index] ?? null]),
  );
  return deposits.map((deposit) => {
    const price = priceOf.get(deposit.token) ?? null;
    if (price === null) return null;
    return worthOf(
      { amountBase: deposit.amountBase, decimals: tokenOf(deposit).decimals, price },
      USD_DECIMALS,
      "floor",
    );
  });
};

/**
 * Sets the worth of deposits that wait for a person, because the list of these deposits is sorted
 * by worth.
 */
export const withWorths = async <
  F extends { readonly deposit: Pick<Deposit, "chainId" | "token" | "amountBase" | "state"> },
>(
  deps: WorthDeps,
  found: readonly F[],
): Promise<(F & { readonly deposit: { readonly usdMicro: bigint | null } })[]> => {
  const stopped = found.filter(({ deposit }) => deposit.state === "quarantined");
  const worths = await worthsOf(
    deps,
    stopped.map(({ deposit }) => deposit),
  );
  const worthByRow = new Map(stopped.map((each, index) => [each, worths[index] ?? null]));
  return found.map((each) => ({
    ...each,
    deposit: { ...each.deposit, usdMicro: worthByRow.get(each) ?? null },
  }));
};

// Deposits that are too small to be shown one by one. Anybody can send any number of them to a
// wallet, so they get no operation and no event; they are counted per wallet, chain and token. The
// money still belongs to the wallet. Money from a sender that screening stops never counts as dust,
// because otherwise a listed sender could send any amount in small parts.

export interface DustDeps extends WorthDeps {
  readonly registry: Pick<ChainRegistry, "find">;
}

type Amount = Pick<Deposit, "chainId" | "token" | "amountBase">;

/**
 * Without a configured floor, an amount below this worth is dust: 0.01 US dollars, in millionths.
 */
const FLOOR_USD_MICRO = 10_000n;
/**
 * Without a price, an amount below one whole token divided by this number is dust. So a token
 * without decimals has no dust.
 */
const FLOOR_PART = 10_000n;

/**
 * `dustFloor` of the token in the chain's file, in base units; null when the US dollar value
 * decides.
 */
const configuredFloor = ({ registry, tokenOf }: DustDeps, amount: Amount): bigint | null => {
  const tokens = registry.find(amount.chainId)?.tokens ?? [];
  const floor = tokens.find(({ address }) => address.toLowerCase() === amount.token)?.dustFloor;
  return floor === undefined ? null : parseUnits(floor, tokenOf(amount).decimals);
};

/**
 * Whether the amount is too small to be shown as a separate deposit.
 * @param usdMicro the worth of the amount; null when no price is available
 */
export const isDust = (deps: DustDeps, amount: Amount, usdMicro: bigint | null): boolean => {
  const floor = configuredFloor(deps, amount);
  if (floor !== null) return amount.amountBase < floor;
  if (usdMicro !== null) return usdMicro < FLOOR_USD_MICRO;
  return amount.amountBase * FLOOR_PART < 10n ** BigInt(deps.tokenOf(amount).decimals);
};

/** Marks deposits as dust when they passed their screening and are too small. */
export const withDust = async (deps: DustDeps, found: readonly Found[]): Promise<Found[]> => {
  const passed = found.filter(({ deposit }) => deposit.state === "pending");
  const worths = await worthsOf(
    deps,
    passed.map(({ deposit }) => deposit),
  );
  const dust = new Set(
    passed.filter(({ deposit }, index) => isDust(deps, deposit, worths[index] ?? null)),
  );
  return found.map((each) =>
    dust.has(each) ? { ...each, deposit: { ...each.deposit, state: "dust" } } : each,
  );
};
