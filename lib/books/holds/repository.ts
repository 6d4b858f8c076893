import { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/platform/db/client";
import { inOrder } from "@/lib/platform/db/in-order";
import { keptSqlOn, type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import { int, table } from "@/lib/platform/db/table";
import { FundsMovedError } from "./errors";
import {
  type FundsKey,
  type Guard,
  guards,
  type HeldChange,
  heldChanges,
  newHolds,
} from "./rows";
import { committedAfter, heldSince, QUARANTINE } from "./sum-repository";

export type { FundsKey, Guard, HeldChange } from "./rows";

/**
 * Money that a leg of an accepted operation will spend. It is held until the chain shows it as
 * spent. Each leg has one hold.
 */
export interface Hold extends FundsKey {
  readonly legId: string;
  readonly amountBase: bigint;
}

/**
 * A wallet's balance of a token, and the version of its row in `balance_guard`. The version was
 * read before the balance.
 */
export interface Funds extends FundsKey {
  readonly balanceBase: bigint;
  readonly guardVersion: number;
  /**
   * The balance at the newest block up to which deposits were screened. Money that arrived in
   * later blocks may not be spent. Null when no policy requires screening.
   */
  readonly screened: { readonly balanceBase: bigint; readonly block: bigint } | null;
}

export const fundsKey = (at: FundsKey): string =>
  `${at.walletAddress}:${String(at.chainId)}:${at.token}`;

/**
 * Sets whether a leg's money is held. A hold ends when the chain shows the money as spent, and
 * starts again when a reorganisation undoes the spending.
 */
export const syncHold = async (
  tx: Tx,
  legId: string,
  held: boolean,
  now: Date,
): Promise<void> => {
  const { count } = await tx.balanceHold.updateMany({
    where: { id: legId, releasedAt: held ? { not: null } : null },
    data: { releasedAt: held ? null : now },
  });
  if (count === 0) return;
  await sqlOf(tx).change(sql`
    WITH bumped AS (
      UPDATE balance_guard g SET version = version + 1
      FROM balance_hold h
      WHERE h.id = ${legId}
        AND g.wallet_address = h.wallet_address
        AND g.chain_id = h.chain_id
        AND g.token = h.token
      RETURNING g.version
    )
    UPDATE balance_hold SET
      released_version = CASE WHEN ${held}::boolean THEN NULL ELSE bumped.version END
    FROM bumped
    WHERE id = ${legId}`);
};

/**
 * Like `syncHold`, for any number of legs in one statement. The caller must hold the locks of their
 * operations.
 */
export const syncHolds = async (db: Sql, holds: readonly HeldChange[]): Promise<void> => {
  if (holds.length === 0) return;
  // The guards are locked in the same order in all transactions, to prevent deadlocks.
  await db.change(sql`
    WITH due_holds AS (
      SELECT h.id, h.wallet_address, h.chain_id, h.token, w.held, w.now
      FROM ${heldChanges.list(holds, { isCounted: true })} AS w
      JOIN balance_hold h ON h.id = w.id
      WHERE (h.released_at IS NULL) <> w.held
    ), locked_guards AS (
      SELECT g.wallet_address, g.chain_id, g.token FROM balance_guard g
      WHERE (g.wallet_address, g.chain_id, g.token) IN (
        SELECT wallet_address, chain_id, token FROM due_holds
      )
      ORDER BY g.wallet_address || ':' || g.chain_id || ':' || g.token COLLATE "C"
      FOR NO KEY UPDATE
    ), bumped_guards AS (
      UPDATE balance_guard g SET version = g.version + 1
      FROM locked_guards l
      WHERE g.wallet_address = l.wallet_address
        AND g.chain_id = l.chain_id
        AND g.token = l.token
      RETURNING g.wallet_address, g.chain_id, g.token, g.version
    )
    UPDATE balance_hold h SET
      released_at = CASE WHEN d.held THEN NULL ELSE d.now END,
      released_version = CASE WHEN d.held THEN NULL ELSE b.version END
    FROM due_holds d
    JOIN bumped_guards b
      ON b.wallet_address = d.wallet_address
      AND b.chain_id = d.chain_id
      AND b.token = d.token
    WHERE h.id = d.id`);
};

const versions = table({ version: int });

/**
 * Locks the guard's row until the transaction ends. Reserving locks the same row, so the lock
 * serialises all transactions that need the balance. Callers must lock several rows in the same
 * order, to prevent deadlocks.
 */
const lockGuard = async (
  db: SqlReader,
  { walletAddress, chainId, token }: FundsKey,
): Promise<number> => {
  const guard = await versions.first(
    db,
    sql`
      INSERT INTO balance_guard (wallet_address, chain_id, token)
      VALUES (${walletAddress}, ${chainId}::int, ${token})
      ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version
      RETURNING ${versions.columns("balance_guard")}`,
  );
  return guard?.version ?? 0;
};

interface NewHolds {
  readonly operationId: string;
  readonly projectId: string;
  readonly holds: readonly Hold[];
  readonly now: Date;
}

interface Wanted {
  readonly holds: readonly Hold[];
  readonly funds: readonly Funds[];
  readonly now: Date;
}

const inLockOrder = (funds: readonly Funds[]): Funds[] =>
  [...funds].sort((a, b) => (fundsKey(a) < fundsKey(b) ? -1 : 1));

const neededOf = (fund: Funds, holds: readonly Hold[]): bigint =>
  holds
    .filter((hold) => fundsKey(hold) === fundsKey(fund))
    .reduce((sum, hold) => sum + hold.amountBase, 0n);

/** @throws FundsMovedError; DomainError `insufficient_balance` */
const requireCovered = (
  fund: Funds,
  { version, heldBase, neededBase }: { version: number; heldBase: bigint; neededBase: bigint },
): void => {
  if (heldBase + neededBase <= fund.balanceBase) return;
  if (version !== fund.guardVersion) throw new FundsMovedError();
  throw new DomainError(
    "insufficient_balance",
    "The wallet does not hold enough: other operations draw on the same balance. Nothing was sent.",
  );
};

/**
 * On most chains, blocks are final and searched for deposits within some seconds, so a retry after
 * this time can succeed.
 */
const SCREENED_AGAIN_SECONDS = 5;

/**
 * @throws DomainError `insufficient_balance` with `retryAfterSeconds` when the holds would include
 * money from after the last screened block
 */
const requireScreened = (screenedBase: bigint, committedBase: bigint): void => {
  if (committedBase <= screenedBase) return;
  throw new DomainError(
    "insufficient_balance",
    "The policy lets screened money alone move, and the screened part of the balance does not suffice. Nothing was sent. New deposits count once they are final and their senders are screened.",
    { retryAfterSeconds: SCREENED_AGAIN_SECONDS },
  );
};

/**
 * Locks a balance and reads its held amounts. The sums are separate statements after the lock, so
 * that they include everything that was committed during the wait.
 */
const lockFund = async (db: Sql, fund: Funds, now: Date) => {
  const { screened } = fund;
  const [version, heldBase, committedBase] = await inOrder(db, [
    () => lockGuard(db, fund),
    () => heldSince(db, fund, fund.guardVersion),
    async () => (screened === null ? 0n : committedAfter(db, fund, screened.block, now)),
  ]);
  return { version, heldBase, committedBase };
};

/**
 * Locks the balances, and checks that they cover the new holds in addition to all existing ones.
 * The caller must store the holds in the same transaction (`insertHolds`).
 * @throws FundsMovedError; DomainError `insufficient_balance`
 */
export const requireFunds = async (db: Sql, { holds, funds, now }: Wanted): Promise<void> => {
  const ordered = inLockOrder(funds);
  const locked = await inOrder(
    db,
    ordered.map((fund) => () => lockFund(db, fund, now)),
  );
  for (const [index, fund] of ordered.entries()) {
    const found = locked[index];
    if (found === undefined) throw new Error("A balance was not locked.");
    const neededBase = neededOf(fund, holds);
    requireCovered(fund, { ...found, neededBase });
    if (fund.screened !== null)
      requireScreened(fund.screened.balanceBase, found.committedBase + neededBase);
  }
};

/** Stores the holds. The transaction must have locked their balances. */
export const insertHolds = async (
  db: Sql,
  { operationId, projectId, holds, now }: NewHolds,
): Promise<void> => {
  if (holds.length === 0) return;
  const rows = holds.map((hold) => ({ ...hold, id: hold.legId }));
  await db.change(sql`
    INSERT INTO balance_hold (operation_id, project_id, created_at, ${newHolds.names})
    SELECT ${operationId}::text, ${projectId}::text, ${now}::timestamptz, ${newHolds.names}
    FROM ${newHolds.list(rows)} AS h`);
};

/**
 * The distinct keys as rows of `wanted`. Without the LIMIT, PostgreSQL would plan the statement
 * again for each list length, which takes longer than running it.
 */
const listOf = (keys: readonly FundsKey[]): Statement => sql`(
    SELECT * FROM unnest(
      ${keys.map(({ walletAddress }) => walletAddress)}::text[],
      ${keys.map(({ chainId }) => chainId)}::int[],
      ${keys.map(({ token }) => token)}::text[]
    ) AS listed (wallet_address, chain_id, token)
    LIMIT ${keys.length}::int
  ) AS wanted`;

/**
 * The statement of `guards`. `screened_block` is set for wallets whose newest wallet or project
 * policy requires screened money. Only a wallet with a key of the project counts, because another
 * project may have linked the same address. For native coins, `screened_block` is the block of the
 * last comparison of balances, which may be behind the search for tokens.
 */
const selectGuards = (keys: readonly FundsKey[]): Statement => sql`
  SELECT ${guards.columns("found")}
  FROM (
    SELECT wanted.wallet_address, wanted.chain_id, wanted.token,
      coalesce(g.version, 0) AS version,
      (
        SELECT coalesce(sum(h.amount_base), 0) FROM balance_hold h
        WHERE h.wallet_address = wanted.wallet_address
          AND h.chain_id = wanted.chain_id
          AND h.token = wanted.token
          AND h.released_at IS NULL
      ) AS held_base,
      CASE
        WHEN strict.id IS NULL THEN NULL
        WHEN wanted.token <> 'native' THEN coalesce(s.final_number, -1)
        ELSE coalesce(
          (
            SELECT min(c.block_number) FROM deposit_coins c
            WHERE c.wallet_address = wanted.wallet_address
              AND c.chain_id = wanted.chain_id
              AND c.is_deferred
          ),
          CASE
            WHEN EXISTS (
              SELECT 1 FROM deposit_coins c
              WHERE c.project_id = strict.project_id
                AND c.wallet_id = strict.id
                AND c.chain_id = wanted.chain_id
            ) THEN s.native_number
          END,
          -1
        )
      END AS screened_block
    FROM ${listOf(keys)}
    LEFT JOIN balance_guard g USING (wallet_address, chain_id, token)
    LEFT JOIN LATERAL (
      SELECT w.id, w.project_id FROM wallet w
      WHERE w.address = wanted.wallet_address
        AND w.kind IN ('treasury', 'smart_account')
        AND w.key_id IS NOT NULL
        AND w.unlinked_at IS NULL
        AND (
          (
            SELECT p.rules->>'screening' FROM policy p
            WHERE p.project_id = w.project_id
              AND p.scope = 'project'
              AND p.subject_id = w.project_id
            ORDER BY p.version DESC
            LIMIT 1
          ) = 'require_clear'
          OR (
            SELECT p.rules->>'screening' FROM policy p
            WHERE p.project_id = w.project_id
              AND p.scope = 'wallet'
              AND p.subject_id = w.id
            ORDER BY p.version DESC
            LIMIT 1
          ) = 'require_clear'
        )
      LIMIT 1
    ) strict ON true
    LEFT JOIN deposit_scan s ON strict.id IS NOT NULL AND s.chain_id = wanted.chain_id
  ) AS found`;

const heldSums = guards.pick("walletAddress", "chainId", "token", "heldBase");

const selectHeld = (keys: readonly FundsKey[]): Statement => sql`
  SELECT ${heldSums.columns("found")}
  FROM (
    SELECT h.wallet_address, h.chain_id, h.token, sum(h.amount_base) AS held_base
    FROM ${listOf(keys)}
    JOIN balance_hold h USING (wallet_address, chain_id, token)
    WHERE h.released_at IS NULL
    GROUP BY h.wallet_address, h.chain_id, h.token
  ) AS found`;

export const createHoldsRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = keptSqlOn(pool);

  return {
    /**
     * The guards of balances by `fundsKey`, with the held amounts. Must be read before the
     * balances. `keys` must be distinct.
     */
    guards: async (keys: readonly FundsKey[]): Promise<Map<string, Guard>> => {
      const rows = await guards.all(db, selectGuards(keys));
      return new Map(rows.map((row) => [fundsKey(row), row]));
    },

    /**
     * Held amounts in base units by `fundsKey`. The map lacks balances without holds. `keys` must
     * be distinct.
     */
    held: async (keys: readonly FundsKey[]): Promise<Map<string, bigint>> => {
      const rows = await heldSums.all(db, selectHeld(keys));
      return new Map(rows.map((row) => [fundsKey(row), row.heldBase]));
    },
  };
};

export type HoldsRepository = ReturnType<typeof createHoldsRepository>;

/**
 * Locks the balances until the transaction ends, in the same order for all callers, which prevents
 * deadlocks.
 */
export const lockFunds = async (db: SqlReader, keys: readonly FundsKey[]): Promise<void> => {
  const known = new Map(keys.map((key) => [fundsKey(key), key]));
  for (const [, key] of [...known].sort(([a], [b]) => (a < b ? -1 : 1)))
    await lockGuard(db, key);
};

// The quarantine of a balance is one hold, for the sum of all deposits that await a person's
// decision. So every sum of holds includes it without another statement, and thousands of deposits
// cost no more than one.

/** A change of a balance's quarantine in base units; negative to reduce it. */
export interface QuarantineChange extends FundsKey {
  readonly projectId: string;
  readonly amountBase: bigint;
}

const idOf = (change: QuarantineChange): string =>
  `${QUARANTINE}:${change.projectId}:${fundsKey(change)}`;

const add = async (
  db: Sql,
  change: QuarantineChange & { readonly id: string },
  now: Date,
): Promise<void> => {
  await db.change(sql`
    INSERT INTO balance_hold (operation_id, project_id, created_at, ${newHolds.names})
    SELECT ${QUARANTINE}::text, ${change.projectId}::text, ${now}::timestamptz, ${newHolds.names}
    FROM ${newHolds.list([change])} AS h
    ON CONFLICT (id) DO UPDATE SET
      amount_base = balance_hold.amount_base + EXCLUDED.amount_base`);
};

const take = async (db: Sql, id: string, amountBase: bigint): Promise<void> => {
  const emptied = await db.change(sql`
    DELETE FROM balance_hold WHERE id = ${id} AND amount_base = ${amountBase}::numeric`);
  if (emptied === 1) return;
  const taken = await db.change(sql`
    UPDATE balance_hold SET amount_base = amount_base - ${amountBase}::numeric
    WHERE id = ${id} AND amount_base > ${amountBase}::numeric`);
  if (taken === 1) return;
  throw new Error(`The quarantine ${id} holds less than ${String(amountBase)}.`);
};

/**
 * Changes quarantines under the locks of their balances. Must run in the transaction that changes
 * the deposits.
 */
export const changeQuarantine = async (
  db: Sql,
  changes: readonly QuarantineChange[],
  now: Date,
): Promise<void> => {
  const sums = new Map<string, QuarantineChange>();
  for (const change of changes) {
    const before = sums.get(idOf(change))?.amountBase ?? 0n;
    sums.set(idOf(change), { ...change, amountBase: before + change.amountBase });
  }
  await lockFunds(db, [...sums.values()]);
  for (const [id, change] of sums) {
    const { amountBase } = change;
    if (amountBase < 0n) await take(db, id, -amountBase);
    if (amountBase > 0n) await add(db, { ...change, id }, now);
  }
};
