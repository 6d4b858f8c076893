import { jsonRows } from "@/lib/db/json-rows";
import { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/db/client";
import { keptSqlOn, sqlOf, type Sql } from "@/lib/db/sql";
import type { JudgedPart, StatementPart } from "@/lib/db/together";
import { committedAfter, committedAfterQuery, HELD_SINCE, heldSince, type FundsKey } from "./sum-repository";
import { FundsMovedError } from "./errors";

export type { FundsKey } from "./sum-repository";

/** Money that a leg of an accepted operation will spend, until the chain shows it as spent. One hold per leg. */
export interface Hold extends FundsKey {
  readonly legId: string;
  readonly amountBase: bigint;
}

/** A wallet's balance of a token, and the version of the balance's guard, which was read before the balance. */
export interface Funds extends FundsKey {
  readonly balanceBase: bigint;
  readonly guardVersion: number;
  /**
   * The balance at the newest block up to which deposits were screened, where a policy lets screened money alone move; null elsewhere.
   * Money that came later is not spent.
   */
  readonly screened: { readonly balanceBase: bigint; readonly block: bigint } | null;
}

/** The guard of a balance. */
export interface Guard {
  readonly version: number;
  /** The amount that was held when the version was read, in base units. */
  readonly heldBase: bigint;
  /** The newest block up to which deposits were screened; null where the policies do not ask for it. -1: they were never. */
  readonly screenedBlock: bigint | null;
}

/** The key of a balance as text. */
export const fundsKey = (at: FundsKey): string => `${at.walletAddress}:${String(at.chainId)}:${at.token}`;

/** Sets whether a leg's money is held. It is released when the chain shows it as spent, and held again when a reorganisation undoes that. */
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

const DUE_HOLDS = `
  SELECT h.id, h.wallet_address, h.chain_id, h.token, w.held, w.now
  FROM ${jsonRows("$1", "id text, held boolean, now timestamptz")} AS w
  JOIN balance_hold h ON h.id = w.id WHERE (h.released_at IS NULL) <> w.held`;
// The guards are locked in the order in which all transactions lock several balances.
const LOCKED_GUARDS = `
  SELECT g.wallet_address, g.chain_id, g.token FROM balance_guard g
  WHERE (g.wallet_address, g.chain_id, g.token) IN (SELECT wallet_address, chain_id, token FROM due_holds)
  ORDER BY g.wallet_address || ':' || g.chain_id || ':' || g.token COLLATE "C" FOR NO KEY UPDATE`;
const BUMPED_GUARDS = `
  UPDATE balance_guard g SET version = g.version + 1 FROM locked_guards l
  WHERE g.wallet_address = l.wallet_address AND g.chain_id = l.chain_id AND g.token = l.token
  RETURNING g.wallet_address, g.chain_id, g.token, g.version`;
const SYNC = `
  UPDATE balance_hold h SET released_at = CASE WHEN d.held THEN NULL ELSE d.now END,
    released_version = CASE WHEN d.held THEN NULL ELSE b.version END
  FROM due_holds d
  JOIN bumped_guards b ON b.wallet_address = d.wallet_address AND b.chain_id = d.chain_id AND b.token = d.token
  WHERE h.id = d.id RETURNING h.id`;

/** Whether the money of the leg with this id is held from `now` on. */
export interface HeldChange {
  readonly id: string;
  readonly held: boolean;
  readonly now: Date;
}

/** As `syncHold`, for any number of legs, as parts of a statement. The caller holds the locks of their operations. */
export const syncHoldsParts = (holds: readonly HeldChange[]): StatementPart[] => {
  if (holds.length === 0) return [];
  const synced: JudgedPart = { text: SYNC, values: [], judge: () => undefined };
  return [
    { name: "due_holds", text: DUE_HOLDS, values: [JSON.stringify(holds)] },
    { name: "locked_guards", text: LOCKED_GUARDS, values: [] },
    { name: "bumped_guards", text: BUMPED_GUARDS, values: [] },
    synced,
  ];
};

const LOCK_GUARD = `
  INSERT INTO balance_guard (wallet_address, chain_id, token) VALUES ($1, $2::int, $3)
  ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET version = balance_guard.version
  RETURNING version`;

const guardValues = ({ walletAddress, chainId, token }: FundsKey): unknown[] => [walletAddress, chainId, token];

/** Locks the guard's row until the transaction ends. All callers lock several rows in the same order, which prevents deadlocks. */
const lockGuard = async (sql: Sql, key: FundsKey): Promise<number> => {
  const rows = await sql.query<{ version: number }>(LOCK_GUARD, guardValues(key));
  return rows[0]?.version ?? 0;
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
  holds.filter((hold) => fundsKey(hold) === fundsKey(fund)).reduce((sum, hold) => sum + hold.amountBase, 0n);

/** @throws FundsMovedError, DomainError `insufficient_balance` */
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

/** Blocks become final, and are searched, within some seconds on most chains. */
const SCREENED_AGAIN_SECONDS = 5;

/** @throws DomainError `insufficient_balance` with `retryAfterSeconds` when it would spend money that came after the last screened block */
const requireScreened = (screenedBase: bigint, committedBase: bigint): void => {
  if (committedBase <= screenedBase) return;
  throw new DomainError(
    "insufficient_balance",
    "The policy lets screened money alone move, and the screened part of the balance does not suffice. Nothing was sent. New deposits count once they are final and their senders are screened.",
    { retryAfterSeconds: SCREENED_AGAIN_SECONDS },
  );
};

/**
 * Locks the balances, and checks that the read amounts cover the holds in addition to all existing ones. The caller stores the holds in the
 * same transaction (`holdsPart`).
 * @throws FundsMovedError, DomainError `insufficient_balance`
 */
export const requireFunds = async (sql: Sql, { holds, funds, now }: Wanted): Promise<void> => {
  for (const fund of inLockOrder(funds)) {
    const neededBase = neededOf(fund, holds);
    const version = await lockGuard(sql, fund);
    requireCovered(fund, { version, heldBase: await heldSince(sql, fund, fund.guardVersion), neededBase });
    if (fund.screened === null) continue;
    const committedBase = await committedAfter(sql, fund, fund.screened.block, now);
    requireScreened(fund.screened.balanceBase, committedBase + neededBase);
  }
};

type Row = Readonly<Record<string, unknown>>;
const sumIn = ([row]: readonly Row[]): bigint => BigInt((row?.sum as string | undefined) ?? 0);

/**
 * As `requireFunds`, as parts of two statements of one transaction: `locks` of one, and `sums` of a later one, which sees what was
 * committed while the locks were waited for. `sums` may be in the statement that stores the holds.
 */
export const fundsParts = ({ holds, funds, now }: Wanted): { locks: JudgedPart[]; sums: JudgedPart[] } => {
  const versions = new Map<Funds, number>();
  const ordered = inLockOrder(funds);
  const locks = ordered.map((fund) => ({
    text: LOCK_GUARD,
    values: guardValues(fund),
    judge: ([row]: readonly Row[]) => {
      versions.set(fund, Number(row?.version ?? 0));
    },
  }));
  const sums = ordered.flatMap((fund): JudgedPart[] => {
    const neededBase = neededOf(fund, holds);
    const { screened } = fund;
    const held: JudgedPart = {
      text: HELD_SINCE,
      values: [...guardValues(fund), fund.guardVersion],
      judge: (rows) => {
        requireCovered(fund, { version: versions.get(fund) ?? 0, heldBase: sumIn(rows), neededBase });
      },
    };
    if (screened === null) return [held];
    const committed: JudgedPart = {
      ...committedAfterQuery(fund, screened.block, now),
      judge: (rows) => {
        requireScreened(screened.balanceBase, sumIn(rows) + neededBase);
      },
    };
    return [held, committed];
  });
  return { locks, sums };
};

const INSERT = `
  INSERT INTO balance_hold (id, operation_id, project_id, wallet_address, chain_id, token, amount_base, created_at)
  SELECT h.id, $1, $2, h.wallet_address, h.chain_id, h.token, h.amount_base, $3::timestamptz
  FROM jsonb_to_recordset($4::jsonb)
    AS h (id text, wallet_address text, chain_id int, token text, amount_base numeric)`;

/** Stores the holds, in the transaction that has locked their balances. */
export const holdsPart = ({ operationId, projectId, holds, now }: NewHolds): StatementPart => {
  const rows = holds.map(({ legId, amountBase, walletAddress, chainId, token }) => ({
    id: legId,
    wallet_address: walletAddress,
    chain_id: chainId,
    token,
    amount_base: amountBase.toString(),
  }));
  return { text: INSERT, values: [operationId, projectId, now.toISOString(), JSON.stringify(rows)] };
};

/**
 * Holds money for the legs of an operation, if the balances that were read cover it in addition to all existing holds.
 * @throws FundsMovedError, DomainError `insufficient_balance`
 */
export const reserveFunds = async (
  tx: Tx,
  { funds, ...input }: NewHolds & { readonly funds: readonly Funds[] },
): Promise<void> => {
  const sql = sqlOf(tx);
  await requireFunds(sql, { holds: input.holds, funds, now: input.now });
  const { text, values } = holdsPart(input);
  await sql.change(text, values);
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

// Without the limit PostgreSQL plans a statement for the length of each list, which takes longer than running it.
const ASKED = `(
    SELECT * FROM unnest($1::text[], $2::int[], $3::text[]) AS listed (wallet_address, chain_id, token) LIMIT cardinality($1::text[])
  ) AS asked`;

// A wallet is bound by its own newest policy and by its project's, where the project has its key: another project may name the same address.
// Its coins may be behind the tokens of the chain: `is_deferred`, or not
// compared yet.
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
  /** The guards by `fundsKey`, of every key, with what is held. Read them before the balances. `keys` must differ. */
  guards: async (keys: readonly FundsKey[]): Promise<Map<string, Guard>> => {
    const rows = await keptSqlOn(pool).query<StoredKey & { version: number; held: string; screened: string | null }>(
      GUARDS,
      columnsOf(keys),
    );
    return new Map(
      rows.map((row) => {
        const screenedBlock = row.screened === null ? null : BigInt(row.screened);
        return [keyOf(row), { version: row.version, heldBase: BigInt(row.held), screenedBlock }];
      }),
    );
  },

  /** Held amounts in base units by `fundsKey`. Balances without holds are missing from the map. `keys` must differ. */
  held: async (keys: readonly FundsKey[]): Promise<Map<string, bigint>> => {
    const rows = await keptSqlOn(pool).query<StoredKey & { held: string }>(HELD, columnsOf(keys));
    return new Map(rows.map((row) => [keyOf(row), BigInt(row.held)]));
  },
});

export type HoldsRepository = ReturnType<typeof createHoldsRepository>;
