import { depositStates } from "@/lib/contracts/deposit-records";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, raw, sql } from "@/lib/platform/db/statement";
import { type RowOf, table, text } from "@/lib/platform/db/table";
import type { ShownState } from "./deposit";
import { type Deposit, depositChanges, deposits, newDeposits } from "./rows";

/**
 * Maximum number of rows per statement. The planner assumes that a list has 100 rows and may
 * compare every pair of rows, so several short lists cost less than a long one.
 */
const CHUNK = 500;

export const inChunks = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) =>
    rows.slice(index * CHUNK, (index + 1) * CHUNK),
  );

export type NewDeposit = RowOf<typeof newDeposits>;
export type DepositChange = RowOf<typeof depositChanges>;

const COLUMNS = deposits.columns("d");
const ids = table({ id: text });

/**
 * States of deposits that were decided or were removed from the chain. Only `storeDeposits` changes
 * such a deposit again, when the log of a dropped deposit comes back.
 */
const HAS_ENDED = raw("('credited', 'released', 'dropped')");

/**
 * Stores new deposits. Skips a log that is stored already.
 * @returns the ids of the stored deposits
 */
export const storeDeposits = async (
  db: Sql,
  rows: readonly NewDeposit[],
  now: Date,
): Promise<ReadonlySet<string>> => {
  const stored = new Set<string>();
  for (const chunk of inChunks(rows)) {
    const list = newDeposits.list(chunk);
    // A log that a reorganisation removed and that comes back is the same deposit, with the fields
    // of the new log. Rows of native coins cannot conflict: see `advanceNative`.
    const found = await ids.all(
      db,
      sql`
        INSERT INTO deposit (updated_at, ${newDeposits.names})
        SELECT ${now}::timestamptz, ${newDeposits.names} FROM ${list} AS seen
        ON CONFLICT (project_id, chain_id, tx_hash, log_index) DO UPDATE SET
          block_number = EXCLUDED.block_number,
          wallet_id = EXCLUDED.wallet_id,
          wallet_address = EXCLUDED.wallet_address,
          token = EXCLUDED.token,
          sender = EXCLUDED.sender,
          amount_base = EXCLUDED.amount_base,
          usd_micro = EXCLUDED.usd_micro,
          state = EXCLUDED.state,
          is_held = EXCLUDED.is_held,
          verdict = EXCLUDED.verdict,
          verdict_source = EXCLUDED.verdict_source,
          list_version = EXCLUDED.list_version,
          screened_at = EXCLUDED.screened_at,
          screening_id = EXCLUDED.screening_id,
          again_at = EXCLUDED.again_at,
          updated_at = EXCLUDED.updated_at
        WHERE deposit.state = 'dropped'
        RETURNING id`,
    );
    for (const { id } of found) stored.add(id);
  }
  return stored;
};

type Log = Pick<Deposit, "projectId" | "txHash" | "logIndex">;

const byLog = (chainId: number, logs: readonly Log[]) => sql`
  SELECT ${COLUMNS}
  FROM unnest(
    ${logs.map(({ projectId }) => projectId)}::text[],
    ${logs.map(({ txHash }) => txHash)}::text[],
    ${logs.map(({ logIndex }) => logIndex)}::int[]
  ) AS log (project_id, tx_hash, log_index)
  JOIN deposit d
    ON d.project_id = log.project_id
    AND d.chain_id = ${chainId}::int
    AND d.tx_hash = log.tx_hash
    AND d.log_index = log.log_index`;

export const depositsByLog = async (
  db: SqlReader,
  chainId: number,
  logs: readonly Log[],
): Promise<Deposit[]> => {
  const found: Deposit[] = [];
  for (const chunk of inChunks(logs))
    found.push(...(await deposits.all(db, byLog(chainId, chunk))));
  return found;
};

/**
 * Like `depositsByLog`, but also locks the rows until the transaction ends, so that none of the
 * deposits changes its state before it is dropped.
 */
export const lockDepositsByLog = async (
  db: Sql,
  chainId: number,
  logs: readonly Log[],
): Promise<Deposit[]> => {
  const found: Deposit[] = [];
  for (const chunk of inChunks(logs)) {
    const locking = sql`
      ${byLog(chainId, chunk)}
      ORDER BY d.project_id, d.id FOR NO KEY UPDATE OF d`;
    found.push(...(await deposits.all(db, locking)));
  }
  return found;
};

/**
 * Deposits of tokens in the blocks `from` to `to` that a reorganisation may have replaced. Locks
 * the rows until the transaction ends.
 */
export const lockDepositsBetween = (
  db: Sql,
  {
    chainId,
    from,
    to,
  }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<Deposit[]> =>
  deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.chain_id = ${chainId}::int
        AND d.block_number BETWEEN ${from}::bigint AND ${to}::bigint
        AND d.token <> 'native'
        AND d.state NOT IN ${HAS_ENDED}
      ORDER BY d.project_id, d.id FOR NO KEY UPDATE`,
  );

/** Undecided deposits in final blocks, in the order of their blocks. */
export const dueDeposits = (
  db: SqlReader,
  at: { readonly chainId: number; readonly finalNumber: bigint; readonly limit: number },
  after: Pick<Deposit, "blockNumber" | "id">,
): Promise<Deposit[]> =>
  deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.chain_id = ${at.chainId}::int
        AND d.block_number <= ${at.finalNumber}::bigint
        AND d.state IN ('unclear', 'pending')
        AND (d.block_number, d.id) > (${after.blockNumber}::bigint, ${after.id})
      ORDER BY d.block_number, d.id
      LIMIT ${at.limit}::int`,
  );

/** Quarantined deposits whose senders could not be screened and are due to be screened again. */
export const depositsToScreenAgain = (
  db: SqlReader,
  at: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<Deposit[]> =>
  deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.chain_id = ${at.chainId}::int
        AND d.again_at <= ${at.now}::timestamptz
        AND d.state = 'quarantined'
      ORDER BY d.again_at
      LIMIT ${at.limit}::int`,
  );

/**
 * Changes deposits by compare-and-set on their state.
 * @returns the ids of the deposits that were in `fromState`
 */
export const changeDeposits = async (
  db: Sql,
  changes: readonly DepositChange[],
  now: Date,
): Promise<ReadonlySet<string>> => {
  const changed = new Set<string>();
  for (const chunk of inChunks(changes)) {
    const moved = await ids.all(
      db,
      sql`
        UPDATE deposit d SET
          state = m.state,
          is_held = m.is_held,
          usd_micro = coalesce(m.usd_micro, d.usd_micro),
          verdict = m.verdict,
          verdict_source = m.verdict_source,
          list_version = m.list_version,
          screened_at = m.screened_at,
          screening_id = coalesce(m.screening_id, d.screening_id),
          again_at = m.again_at,
          updated_at = ${now}::timestamptz
        FROM ${depositChanges.list(chunk)} AS m
        WHERE d.project_id = m.project_id AND d.id = m.id AND d.state = m.from_state
        RETURNING d.id`,
    );
    for (const { id } of moved) changed.add(id);
  }
  return changed;
};

const postponements = depositChanges.pick("projectId", "id", "againAt");

export const postponeDeposits = async (
  db: Sql,
  rows: readonly RowOf<typeof postponements>[],
): Promise<void> => {
  for (const chunk of inChunks(rows))
    await db.change(sql`
      UPDATE deposit d SET again_at = m.again_at
      FROM ${postponements.list(chunk)} AS m
      WHERE d.project_id = m.project_id AND d.id = m.id AND d.state = 'quarantined'`);
};

const places = deposits.pick("projectId", "id", "blockNumber");

/**
 * Updates the blocks of deposits whose transactions are in different blocks after a reorganisation.
 */
export const relocateDeposits = async (
  db: Sql,
  rows: readonly RowOf<typeof places>[],
): Promise<void> => {
  for (const chunk of inChunks(rows))
    await db.change(sql`
      UPDATE deposit d SET block_number = m.block_number
      FROM ${places.list(chunk)} AS m
      WHERE d.project_id = m.project_id AND d.id = m.id AND d.state NOT IN ${HAS_ENDED}`);
};

export const depositsByIds = async (
  db: SqlReader,
  projectId: string,
  depositIds: readonly string[],
): Promise<Deposit[]> => {
  if (depositIds.length === 0) return [];
  return deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.project_id = ${projectId} AND d.id = ANY(${depositIds}::text[])`,
  );
};

/** Locks the row until the transaction ends. */
export const lockDeposit = (db: Sql, projectId: string, id: string): Promise<Deposit | null> =>
  deposits.first(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.project_id = ${projectId} AND d.id = ${id}
      FOR NO KEY UPDATE`,
  );

/**
 * Marks a quarantined deposit as released, with the person and the reason.
 * @returns false when the deposit is no longer quarantined
 */
export const releaseDeposit = async (
  db: Sql,
  { projectId, id }: Pick<Deposit, "projectId" | "id">,
  decision: {
    readonly by: string;
    readonly reason: string;
    readonly at: Date;
    readonly usdMicro: bigint | null;
  },
): Promise<boolean> => {
  const changed = await db.change(sql`
    UPDATE deposit SET
      state = 'released',
      is_held = false,
      again_at = NULL,
      decided_by = ${decision.by},
      decided_reason = ${decision.reason},
      decided_at = ${decision.at}::timestamptz,
      usd_micro = coalesce(${decision.usdMicro}::numeric, usd_micro),
      updated_at = ${decision.at}::timestamptz
    WHERE project_id = ${projectId} AND id = ${id} AND state = 'quarantined'`);
  return changed === 1;
};

/**
 * The project's quarantined deposits, the most valuable first, so that dust does not hide other
 * deposits. Deposits of unknown worth come last.
 */
export const quarantinedDeposits = (
  db: SqlReader,
  projectId: string,
  limit: number,
): Promise<Deposit[]> =>
  deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE d.project_id = ${projectId} AND d.state = 'quarantined'
      ORDER BY d.usd_micro DESC NULLS LAST, d.id DESC
      LIMIT ${limit}::int`,
  );

export interface DepositFilter {
  /** Matches any of these states. Absent: all states that callers see. */
  readonly state?: readonly ShownState[] | undefined;
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
  /** Seen at or after this time, RFC 3339. */
  readonly from?: string | undefined;
  /** Seen before this time, RFC 3339. */
  readonly to?: string | undefined;
}

/**
 * A page of deposits, newest first.
 * @param at `before`: only deposits with a smaller id, which are older
 */
export const depositsOnPage = (
  db: SqlReader,
  at: {
    readonly projectId: string;
    readonly before?: string | undefined;
    readonly limit: number;
  },
  { state = depositStates, chainId, walletId, from, to }: DepositFilter,
): Promise<Deposit[]> => {
  const conditions = [
    sql`d.project_id = ${at.projectId}`,
    sql`d.state = ANY (${state}::text[])`,
    ...(at.before === undefined ? [] : [sql`d.id < ${at.before}`]),
    ...(chainId === undefined ? [] : [sql`d.chain_id = ANY (${chainId}::int[])`]),
    ...(walletId === undefined ? [] : [sql`d.wallet_id = ANY (${walletId}::text[])`]),
    ...(from === undefined ? [] : [sql`d.detected_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`d.detected_at < ${to}::timestamptz`]),
  ];
  return deposits.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM deposit d
      WHERE ${join(conditions, " AND ")}
      ORDER BY d.id DESC
      LIMIT ${at.limit}::int`,
  );
};

/** The newest deposits that are not final yet, or have changed since `since`. */
export const depositsUnderWay = (
  db: SqlReader,
  projectId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<Deposit[]> =>
  deposits.all(
    db,
    sql`
      SELECT * FROM (
        SELECT ${COLUMNS} FROM deposit d
        WHERE d.project_id = ${projectId}
          AND d.updated_at >= ${since}::timestamptz
          AND d.state NOT IN ('own', 'unclear', 'dust', 'pending')
        UNION ALL
        SELECT ${COLUMNS} FROM deposit d
        WHERE d.project_id = ${projectId} AND d.state = 'pending'
      ) AS found
      ORDER BY id DESC
      LIMIT ${limit}::int`,
  );
