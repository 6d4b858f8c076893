/** Stores new deposits and new states of deposits, with all that depends on them: operations, events, holds and records. */
import type { Token } from "@/lib/core/token";
import type { Sql } from "@/lib/db/sql";
import { announce } from "@/lib/db/announcements";
import { recordEventsOn } from "@/lib/modules/events/service";
import { changeQuarantine, type QuarantineChange } from "@/lib/modules/holds/service";
import { moveDepositOperations, storeDepositOperations } from "@/lib/modules/operations/service";
import type { ScreeningService } from "@/lib/modules/screening/service";
import { inChunks } from "./chunks";
import type { Deposit } from "./deposit";
import { changeDeposits, storeDeposits, type DepositChange, type NewDeposit } from "./repository";
import { recordScreenings, type SenderScreening } from "./screen";
import { depositEvents, operationStateOf } from "./operation-state";

/** On which projects with news of deposits are announced. */
export const DEPOSIT_CHANNEL = "deposit";

/** The token of a deposit, also where its chain has it no more. */
export type TokenOf = (deposit: Pick<Deposit, "chainId" | "token">) => Token;

export interface StoreDeps {
  readonly screening: Pick<ScreeningService, "record">;
  readonly tokenOf: TokenOf;
}

interface Moved {
  readonly after: Deposit;
  /** Whether it has no operation and no event yet. */
  readonly isNew: boolean;
}

/** The amount that a deposit adds to its balance's quarantine (`sign` 1), or takes from it (-1). */
export const holdOf = (deposit: Deposit, sign: 1n | -1n): QuarantineChange => ({
  projectId: deposit.projectId,
  walletAddress: deposit.walletAddress,
  chainId: deposit.chainId,
  token: deposit.token,
  amountBase: sign * deposit.amountBase,
});

/** Stores the new states in the operations, their events and the project's events. The transaction holds the deposits' rows. */
export const tell = async (sql: Sql, tokenOf: TokenOf, moved: readonly Moved[], now: Date): Promise<void> => {
  for (const chunk of inChunks(moved)) await tellChunk(sql, tokenOf, chunk, now);
};

const tellChunk = async (sql: Sql, tokenOf: TokenOf, moved: readonly Moved[], now: Date): Promise<void> => {
  const told = moved.flatMap(({ after, isNew }) => {
    const state = operationStateOf(after.state);
    return state === null ? [] : [{ after, isNew, state, token: tokenOf(after) }];
  });
  const eventOf = ({ state }: Deposit): string => (state === "pending" ? "deposit.detected" : `deposit.${state}`);
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
      .map(({ after, state }) => ({ projectId: after.projectId, id: after.id, ...state, event: eventOf(after) })),
    now,
  );
  const events = told.flatMap(({ after, isNew, token }) => depositEvents({ ...after, token }, isNew, now));
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
  rows: readonly { readonly projectId: string; readonly id: string; readonly result: SenderScreening | null }[],
): Promise<ReadonlyMap<string, string>> =>
  recordScreenings(
    sql,
    screening,
    rows.flatMap(({ result, ...row }) => (result === null ? [] : [{ ...row, result }])),
  );

/** Stores deposits that were seen for the first time, or again after a reorganisation had removed them. */
export const storeFound = async (sql: Sql, deps: StoreDeps, found: readonly Found[], now: Date): Promise<void> => {
  if (found.length === 0) return;
  const records = await recorded(
    sql,
    deps,
    // The screening of a deposit that passes is recorded when it is credited; that of one that may be the project's own, when that is known.
    found.map(({ deposit: { projectId, id, state }, result }) => ({
      ...{ projectId, id, result: state === "quarantined" ? result : null },
    })),
  );
  const rows = found.map(({ deposit }) => ({ ...deposit, screeningId: records.get(deposit.id) ?? null }));
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
  /** Null: its sender was not screened again. */
  readonly result: SenderScreening | null;
}

const changeOf = ({ before, to, usdMicro, result }: Move, screeningId: string | null): DepositChange => {
  const { verdict, verdictSource, listVersion, screenedAt } = result ?? before;
  return {
    ...{ projectId: before.projectId, id: before.id, fromState: before.state, ...to, usdMicro },
    ...{ verdict, verdictSource, listVersion, screenedAt, screeningId },
    againAt: result?.againAt ?? null,
  };
};

/** Moves deposits on by compare-and-set; one that another instance has moved is left as it is. */
export const applyMoves = async (sql: Sql, deps: StoreDeps, moves: readonly Move[], now: Date): Promise<void> => {
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
    // A deposit that was dropped before anybody was notified of it needs no event.
    .filter(
      ({ before, to }) =>
        before.state !== to.state && (to.state !== "dropped" || operationStateOf(before.state) !== null),
    )
    .map(({ before, to, usdMicro, result }) => ({
      after: {
        ...{ ...before, ...to, usdMicro: usdMicro ?? before.usdMicro, verdict: result?.verdict ?? before.verdict },
        updatedAt: now,
      },
      isNew: before.state === "unclear",
    }));
  await tell(sql, deps.tokenOf, moved, now);
};
