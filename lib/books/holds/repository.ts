import { jsonRows } from "@/lib/platform/db/json-rows";
import { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import { inOrder } from "@/lib/platform/db/in-order";
import { committedAfter, type FundsKey, heldSince, QUARANTINE } from "./sum-repository";
import { FundsMovedError } from "./errors";

export type { FundsKey } from "./sum-repository";

/**
 * Money that a leg of an accepted operation will spend, until the chain shows it as spent. Each leg
 * has one hold.
 */
export interface Hold extends FundsKey {
  readonly legId: string;
  readonly amountBase: bigint;
}

/**
 * A wallet's balance of a token, and the version of the balance's guard. The version was read
 * before the balance.
 */
export interface Funds extends FundsKey {
  readonly balanceBase: bigint;
  readonly guardVersion: number;
  /**
   * The balance at the newest block up to which deposits were screened. Money that came later may
   * not be spent. Null when no policy requires screened money.
   */
  readonly screened: { readonly balanceBase: bigint; readonly block: bigint } | null;
}

/** The guard of a balance: the row whose lock serialises reservations. */
export interface Guard {
  readonly version: number;
  /** The amount that was held when the version was read, in base units. */
  readonly heldBase: bigint;
  /**
   * The newest block up to which deposits were screened, or -1 when none was searched. Null when
   * the policies do not require screening.
   */
  readonly screenedBlock: bigint | null;
}

/** The key of a balance as one string. */
export const fundsKey = (at: FundsKey): string =>
  `${at.walletAddress}:${String(at.chainId)}:${at.token}`;

/**
 * Sets whether a leg's money is held. The hold ends when the chain shows the money as spent, and
 * returns when a reorganisation undoes that.
 */
export const syncHold = async (tx: Tx, legId: string, held: boolean, now: Date): Promise<void> => {
  const { count } = await tx.balanceHold.updateMany({
    where: { id: legId, releasedAt: held ? { not: null } : null },
    data: { releasedAt: held ? null : now },
  });
  if (count === 0) return;
  await tx.$executeRaw`
    WITH bumped AS (
      UPDATE balance_guard g SET version = version + 1 FROM balance_hold h
      WHERE h.id = ${legId} AND g.wallet_address = h.wallet_address AND g.chain_id = h.chain_id AND g.token = h.token
      RETURNING g.version)
    UPDATE balance_hold SET released_version = CASE WHEN ${held} THEN NULL ELSE bumped.version END
    FROM bumped WHERE id = ${legId}`;
};

// The guards are locked in the same order in all transactions, to prevent deadlocks.
const SYNC = `
  WITH due_holds AS (
    SELECT h.id, h.wallet_address, h.chain_id, h.token, w.held, w.now
    FROM ${jsonRows("$1", "id text, held boolean, now timestamptz")} AS w
    JOIN balance_hold h ON h.id = w.id WHERE (h.released_at IS NULL) <> w.held
  ), locked_guards AS (
    SELECT g.wallet_address, g.chain_id, g.token FROM balance_guard g
    WHERE (g.wallet_address, g.chain_id, g.token) IN (SELECT wallet_address, chain_id, token FROM due_holds)
    ORDER BY g.wallet_address || ':' || g.chain_id || ':' || g.token COLLATE "C" FOR NO KEY UPDATE
  ), bumped_guards AS (
    UPDATE balance_guard g SET version = g.version + 1 FROM locked_guards l
    WHERE g.wallet_address = l.wallet_address AND g.chain_id = l.chain_id AND g.token = l.token
    RETURNING g.wallet_address, g.chain_id, g.token, g.version
  )
  UPDATE balance_hold h SET released_at = CASE WHEN d.held THEN NULL ELSE d.now END,
    released_version = CASE WHEN d.held THEN NULL ELSE b.version END
  FROM due_holds d
  JOIN bumped_guards b ON b.wallet_address = d.wallet_address AND b.chain_id = d.chain_id AND b.token = d.token
  WHERE h.id = d.id`;

/** Whether the money of the leg with this id is held from `now` on. */
export interface HeldChange {
  readonly id: string;
  readonly held: boolean;
  readonly now: Date;
}

/**
 * Like `syncHold`, for any number of legs in one statement. The caller holds the locks of their
 * operations.
 */
export const syncHolds = async (sql: Sql, holds: readonly HeldChange[]): Promise<void> => {
  if (holds.length > 0) await sql.change(SYNC, [JSON.stringify(holds)]);
};

const LOCK_GUARD = `
  INSERT INTO balance_guard (wallet_address, chain_id, token) VALUES ($1, $2::int, $3)
  ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version
  RETURNING version`;

/**
 * Locks the guard's row until the transaction ends. All callers lock several rows in the same
 * order, which prevents deadlocks.
 */
const lockGuard = async (
  sql: Sql,
  { walletAddress, chainId, token }: FundsKey,
): Promise<number> => {
  const values = [walletAddress, chainId, token];
  const [row] = await sql.query<{ version: number }>(LOCK_GUARD, values);
  return row?.version ?? 0;
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
 * On most chains blocks become final and are searched for deposits within some seconds, so a retry
 * after this time can succeed.
 */
const SCREENED_AGAIN_SECONDS = 5;

/**
 * @throws DomainError `insufficient_balance` with `retryAfterSeconds` when the holds would include
 * money that came after the last screened block
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
 * Locks a balance and reads its held amounts. The sums run in separate statements after the lock,
 * so they include everything that was committed during the wait.
 */
const lockFund = async (sql: Sql, fund: Funds, now: Date) => {
  const { screened } = fund;
  const [version, heldBase, committedBase] = await inOrder(sql, [
    () => lockGuard(sql, fund),
    () => heldSince(sql, fund, fund.guardVersion),
    async () => (screened === null ? 0n : committedAfter(sql, fund, screened.block, now)),
  ]);
  return { version, heldBase, committedBase };
};

/**
 * Locks the balances, and checks that they cover the new holds in addition to all existing ones.
 * The caller stores the holds in the same transaction (`insertHolds`).
 * @throws FundsMovedError; DomainError `insufficient_balance`
 */
export const requireFunds = async (sql: Sql, { holds, funds, now }: Wanted): Promise<void> => {
  const ordered = inLockOrder(funds);
  const locked = await inOrder(
    sql,
    ordered.map((fund) => () => lockFund(sql, fund, now)),
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

const INSERT = `
  INSERT INTO balance_hold (id, operation_id, project_id, wallet_address, chain_id, token, amount_base, created_at)
  SELECT h.id, $1, $2, h.wallet_address, h.chain_id, h.token, h.amount_base, $3::timestamptz
  FROM jsonb_to_recordset($4::jsonb)
    AS h (id text, wallet_address text, chain_id int, token text, amount_base numeric)`;

/** Stores the holds, in the transaction that has locked their balances. */
export const insertHolds = async (
  sql: Sql,
  { operationId, projectId, holds, now }: NewHolds,
): Promise<void> => {
  if (holds.length === 0) return;
  const rows = holds.map(({ legId, amountBase, walletAddress, chainId, token }) => ({
    id: legId,
    wallet_address: walletAddress,
    chain_id: chainId,
    token,
    amount_base: amountBase.toString(),
  }));
  await sql.change(INSERT, [operationId, projectId, now.toISOString(), JSON.stringify(rows)]);
};

interface StoredKey {
  readonly wallet_address: string;
  readonly chain_id: number;
  readonly token: string;
}

const keyOf = (row: StoredKey): string =>
  fundsKey({ walletAddress: row.wallet_address, chainId: row.chain_id, token: row.token });

const columnsOf = (keys: readonly FundsKey[]): readonly unknown[] => [
  keys.map(({ walletAddress }) => walletAddress),
  keys.map(({ chainId }) => chainId),
  keys.map(({ token }) => token),
];

// The LIMIT keeps PostgreSQL from planning the statement anew for each list length, which takes
// longer than running it.
const ASKED = `(
    SELECT * FROM unnest($1::text[], $2::int[], $3::text[]) AS listed (wallet_address, chain_id, token) LIMIT cardinality($1::text[])
  ) AS asked`;

// `screened` is set for wallets whose newest wallet or project policy requires screened money. Only
// a wallet with a key of the project counts, because another project may link the same address. For
// native coins it is the block of the last comparison of balances, which may be behind the search
// for tokens.
const GUARDS = `
  SELECT asked.wallet_address, asked.chain_id, asked.token, coalesce(g.version, 0) AS version,
    CASE WHEN strict.id IS NULL THEN NULL
      WHEN asked.token <> 'native' THEN coalesce(s.final_number, -1)
      ELSE coalesce((SELECT min(c.block_number) FROM deposit_coins c
        WHERE c.wallet_address = asked.wallet_address AND c.chain_id = asked.chain_id AND c.is_deferred),
        CASE WHEN EXISTS (SELECT 1 FROM deposit_coins c
          WHERE c.project_id = strict.project_id AND c.wallet_id = strict.id AND c.chain_id = asked.chain_id)
        THEN s.native_number END, -1)
    END::text AS screened, (
      SELECT coalesce(sum(h.amount_base), 0)::text FROM balance_hold h
      WHERE h.wallet_address = asked.wallet_address AND h.chain_id = asked.chain_id AND h.token = asked.token AND h.released_at IS NULL
    ) AS held
  FROM ${ASKED}
  LEFT JOIN balance_guard g USING (wallet_address, chain_id, token)
  LEFT JOIN LATERAL (
    SELECT w.id, w.project_id FROM wallet w
    WHERE w.address = asked.wallet_address AND w.kind IN ('treasury', 'smart_account') AND w.key_id IS NOT NULL
      AND w.unlinked_at IS NULL AND (
      (SELECT p.rules->>'screening' FROM policy p WHERE p.project_id = w.project_id AND p.scope = 'project'
        AND p.subject_id = w.project_id ORDER BY p.version DESC LIMIT 1) = 'require_clear'
      OR (SELECT p.rules->>'screening' FROM policy p WHERE p.project_id = w.project_id AND p.scope = 'wallet'
        AND p.subject_id = w.id ORDER BY p.version DESC LIMIT 1) = 'require_clear')
    LIMIT 1
  ) strict ON true
  LEFT JOIN deposit_scan s ON strict.id IS NOT NULL AND s.chain_id = asked.chain_id`;

const HELD = `
  SELECT h.wallet_address, h.chain_id, h.token, sum(h.amount_base)::text AS held
  FROM ${ASKED} JOIN balance_hold h USING (wallet_address, chain_id, token)
  WHERE h.released_at IS NULL GROUP BY 1, 2, 3`;

export const createHoldsRepository = ({ pool }: Pick<Database, "pool">) => ({
  /**
   * The guards of all these balances by `fundsKey`, with the held amounts. Read them before the
   * balances. `keys` must be distinct.
   */
  guards: async (keys: readonly FundsKey[]): Promise<Map<string, Guard>> => {
    const rows = await keptSqlOn(pool).query<
      StoredKey & { version: number; held: string; screened: string | null }
    >(GUARDS, columnsOf(keys));
    return new Map(
      rows.map((row) => {
        const screenedBlock = row.screened === null ? null : BigInt(row.screened);
        return [keyOf(row), { version: row.version, heldBase: BigInt(row.held), screenedBlock }];
      }),
    );
  },

  /**
   * Held amounts in base units by `fundsKey`. Balances without holds are missing from the map.
   * `keys` must be distinct.
   */
  held: async (keys: readonly FundsKey[]): Promise<Map<string, bigint>> => {
    const rows = await keptSqlOn(pool).query<StoredKey & { held: string }>(HELD, columnsOf(keys));
    return new Map(rows.map((row) => [keyOf(row), BigInt(row.held)]));
  },
});

export type HoldsRepository = ReturnType<typeof createHoldsRepository>;

// Reserving locks the same row, so the lock serialises all transactions that need the balance.
const LOCK = `
  INSERT INTO balance_guard (wallet_address, chain_id, token) VALUES ($1, $2::int, $3)
  ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version`;

/**
 * Locks the balances until the transaction ends. All callers lock in the same order, which prevents
 * deadlocks.
 */
export const lockFunds = async (sql: SqlReader, keys: readonly FundsKey[]): Promise<void> => {
  const known = new Map(keys.map((key) => [fundsKey(key), key]));
  for (const [, key] of [...known].sort(([a], [b]) => (a < b ? -1 : 1)))
    await sql.query(LOCK, [key.walletAddress, key.chainId, key.token]);
};

// The quarantine of a balance is one hold, for the sum of all deposits that wait for a person's
// decision. Every sum of holds therefore includes it without another statement, and thousands of
// deposits cost no more than one.

/**
 * An amount in base units that is added to a balance's quarantine, or removed from it when
 * negative.
 */
export interface QuarantineChange extends FundsKey {
  readonly projectId: string;
  readonly amountBase: bigint;
}

const idOf = (change: QuarantineChange): string =>
  `${QUARANTINE}:${change.projectId}:${fundsKey(change)}`;

const ADD = `
  INSERT INTO balance_hold (id, operation_id, project_id, wallet_address, chain_id, token, amount_base, created_at)
  VALUES ($1, '${QUARANTINE}', $2, $3, $4::int, $5, $6::numeric, $7::timestamptz)
  ON CONFLICT (id) DO UPDATE SET amount_base = balance_hold.amount_base + EXCLUDED.amount_base`;
const EMPTY = "DELETE FROM balance_hold WHERE id = $1 AND amount_base = $2::numeric";
const TAKE =
  "UPDATE balance_hold SET amount_base = amount_base - $2::numeric WHERE id = $1 AND amount_base > $2::numeric";

const take = async (sql: Sql, id: string, amountBase: bigint): Promise<void> => {
  const values = [id, amountBase.toString()];
  if ((await sql.change(EMPTY, values)) === 1 || (await sql.change(TAKE, values)) === 1) return;
  throw new Error(`The quarantine ${id} holds less than ${String(amountBase)}.`);
};

/**
 * Changes quarantines under the locks of their balances, in the transaction that changes the
 * deposits.
 */
export const changeQuarantine = async (
  sql: Sql,
  changes: readonly QuarantineChange[],
  now: Date,
): Promise<void> => {
  const sums = new Map<string, QuarantineChange>();
  for (const change of changes) {
    const before = sums.get(idOf(change))?.amountBase ?? 0n;
    sums.set(idOf(change), { ...change, amountBase: before + change.amountBase });
  }
  await lockFunds(sql, [...sums.values()]);
  for (const [id, { projectId, walletAddress, chainId, token, amountBase }] of sums) {
    if (amountBase < 0n) await take(sql, id, -amountBase);
    if (amountBase > 0n)
      await sql.change(ADD, [
        id,
        projectId,
        walletAddress,
        chainId,
        token,
        amountBase.toString(),
        now,
      ]);
  }
};
