import { depositStates } from "@/lib/contracts/deposit-records";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import {
  type Deposit,
  DEPOSIT_COLUMNS,
  type DepositRow,
  parseDeposit,
  type ShownState,
} from "./deposit";
import type { EvmAddress } from "@/lib/core/evm";

/**
 * Maximum number of rows per statement. The planner assumes that a list has 100 rows and may
 * compare each row with each, so several short lists cost less than a long one.
 */
const CHUNK = 500;

export const inChunks = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) =>
    rows.slice(index * CHUNK, (index + 1) * CHUNK),
  );

// Rows of deposits.

/** A deposit as it is stored when it is seen. */
export type NewDeposit = Omit<
  Deposit,
  "decidedBy" | "decidedReason" | "decidedAt" | "updatedAt"
> & {
  readonly screeningId: string | null;
  /** When the sender is screened again; null when it is not. */
  readonly againAt: Date | null;
};

const PLAIN = `project_id, id, chain_id, tx_hash, log_index, block_number, wallet_id, wallet_address, token, sender, amount_base, usd_micro,
  state, is_held, verdict, verdict_source, list_version, screened_at, screening_id, again_at, detected_at, updated_at`;

// A log that a reorganisation removed and that comes back is the same deposit, with the fields of
// the new log. Rows of native coins cannot conflict: see `advanceNative`.
const STORE = `
  INSERT INTO deposit (${PLAIN}) SELECT ${PLAIN} FROM jsonb_populate_recordset(NULL::deposit, $1::jsonb)
  ON CONFLICT (project_id, chain_id, tx_hash, log_index) DO UPDATE SET block_number = EXCLUDED.block_number,
    wallet_id = EXCLUDED.wallet_id, wallet_address = EXCLUDED.wallet_address, token = EXCLUDED.token, sender = EXCLUDED.sender,
    amount_base = EXCLUDED.amount_base, usd_micro = EXCLUDED.usd_micro, state = EXCLUDED.state, is_held = EXCLUDED.is_held, verdict = EXCLUDED.verdict,
    verdict_source = EXCLUDED.verdict_source, list_version = EXCLUDED.list_version, screened_at = EXCLUDED.screened_at,
    screening_id = EXCLUDED.screening_id, again_at = EXCLUDED.again_at, updated_at = EXCLUDED.updated_at
  WHERE deposit.state = 'dropped'
  RETURNING id`;

const BY_LOG = `
  SELECT ${DEPOSIT_COLUMNS} FROM unnest($1::text[], $2::text[], $3::int[]) AS l (project_id, tx_hash, log_index)
  JOIN deposit d ON d.project_id = l.project_id AND d.chain_id = $4::int AND d.tx_hash = l.tx_hash AND d.log_index = l.log_index`;

// The rows are locked, so that none of the deposits changes its state before it is dropped.
const LOCKED_BY_LOG = `${BY_LOG} ORDER BY d.project_id, d.id FOR NO KEY UPDATE OF d`;

const LOCKED_BETWEEN = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d
  WHERE d.chain_id = $1::int AND d.block_number BETWEEN $2::bigint AND $3::bigint AND d.token <> 'native'
    AND d.state NOT IN ('credited', 'released', 'dropped')
  ORDER BY d.project_id, d.id FOR NO KEY UPDATE`;

const DUE = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d
  WHERE d.chain_id = $1::int AND d.block_number <= $2::bigint AND d.state IN ('unclear', 'pending')
    AND (d.block_number, d.id) > ($3::bigint, $4)
  ORDER BY d.block_number, d.id LIMIT $5::int`;

const AGAIN = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d
  WHERE d.chain_id = $1::int AND d.again_at <= $2::timestamptz AND d.state = 'quarantined' ORDER BY d.again_at LIMIT $3::int`;

const MOVE = `
  UPDATE deposit d SET state = m.state, is_held = m.is_held, usd_micro = coalesce(m.usd_micro, d.usd_micro),
    verdict = m.verdict, verdict_source = m.verdict_source, list_version = m.list_version, screened_at = m.screened_at,
    screening_id = coalesce(m.screening_id, d.screening_id), again_at = m.again_at, updated_at = $2::timestamptz
  FROM jsonb_to_recordset($1::jsonb) AS m (project_id text, id text, from_state text, state text, is_held boolean, usd_micro numeric,
    verdict text, verdict_source text, list_version text, screened_at timestamptz, screening_id text, again_at timestamptz)
  WHERE d.project_id = m.project_id AND d.id = m.id AND d.state = m.from_state
  RETURNING d.id`;

const RELOCATE = `
  UPDATE deposit d SET block_number = m.block_number
  FROM jsonb_to_recordset($1::jsonb) AS m (project_id text, id text, block_number bigint)
  WHERE d.project_id = m.project_id AND d.id = m.id AND d.state NOT IN ('credited', 'released', 'dropped')`;

const POSTPONE = `
  UPDATE deposit d SET again_at = m.again_at
  FROM jsonb_to_recordset($1::jsonb) AS m (project_id text, id text, again_at timestamptz)
  WHERE d.project_id = m.project_id AND d.id = m.id AND d.state = 'quarantined'`;

const BY_IDS = `SELECT ${DEPOSIT_COLUMNS} FROM deposit d WHERE d.project_id = $1 AND d.id = ANY($2::text[])`;

const LOCKED = `SELECT ${DEPOSIT_COLUMNS} FROM deposit d WHERE d.project_id = $1 AND d.id = $2 FOR NO KEY UPDATE`;

const RELEASE = `
  UPDATE deposit SET state = 'released', is_held = false, again_at = NULL, decided_by = $3, decided_reason = $4,
    decided_at = $5::timestamptz, usd_micro = coalesce($6::numeric, usd_micro), updated_at = $5::timestamptz
  WHERE project_id = $1 AND id = $2 AND state = 'quarantined'`;

const QUARANTINED = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d WHERE d.project_id = $1 AND d.state = 'quarantined'
  ORDER BY d.usd_micro DESC NULLS LAST, d.id DESC LIMIT $2::int`;

const PAGE = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d
  WHERE d.project_id = $1 AND d.state = ANY ($2::text[]) AND ($4::text IS NULL OR d.id < $4)
    AND ($5::int[] IS NULL OR d.chain_id = ANY ($5)) AND ($6::text[] IS NULL OR d.wallet_id = ANY ($6))
    AND ($7::timestamptz IS NULL OR d.detected_at >= $7) AND ($8::timestamptz IS NULL OR d.detected_at < $8)
  ORDER BY d.id DESC LIMIT $3::int`;

const UNDER_WAY = `
  SELECT * FROM (
    SELECT ${DEPOSIT_COLUMNS} FROM deposit d
    WHERE d.project_id = $1 AND d.updated_at >= $2::timestamptz AND d.state NOT IN ('own', 'unclear', 'dust', 'pending')
    UNION ALL
    SELECT ${DEPOSIT_COLUMNS} FROM deposit d WHERE d.project_id = $1 AND d.state = 'pending'
  ) AS found ORDER BY id DESC LIMIT $3::int`;

const columnsOf = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([field, value]) => [
      field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === "bigint" ? value.toString() : (value as unknown),
    ]),
  );

const json = (rows: readonly object[]): string => JSON.stringify(rows.map(columnsOf));

const read = async (sql: SqlReader, text: string, values: readonly unknown[]): Promise<Deposit[]> =>
  (await sql.query<DepositRow>(text, values)).map(parseDeposit);

/** @returns the ids of the stored deposits; a log that is stored already is skipped */
export const storeDeposits = async (
  sql: Sql,
  rows: readonly NewDeposit[],
  now: Date,
): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for (const chunk of inChunks(rows)) {
    const stored = await sql.query<{ id: string }>(STORE, [
      json(chunk.map((row) => ({ ...row, updatedAt: now }))),
    ]);
    for (const { id } of stored) ids.add(id);
  }
  return ids;
};

type Log = Pick<Deposit, "projectId" | "txHash" | "logIndex">;

const logColumns = (logs: readonly Log[]): readonly unknown[] => [
  logs.map(({ projectId }) => projectId),
  logs.map(({ txHash }) => txHash),
  logs.map(({ logIndex }) => logIndex),
];

const readByLog = async (
  sql: SqlReader,
  text: string,
  chainId: number,
  logs: readonly Log[],
): Promise<Deposit[]> => {
  const found: Deposit[][] = [];
  for (const chunk of inChunks(logs))
    found.push(await read(sql, text, [...logColumns(chunk), chainId]));
  return found.flat();
};

export const depositsByLog = (
  sql: SqlReader,
  chainId: number,
  logs: readonly Log[],
): Promise<Deposit[]> => readByLog(sql, BY_LOG, chainId, logs);

/** Like `depositsByLog`, but also locks the rows until the transaction ends. */
export const lockDepositsByLog = (
  sql: Sql,
  chainId: number,
  logs: readonly Log[],
): Promise<Deposit[]> => readByLog(sql, LOCKED_BY_LOG, chainId, logs);

/**
 * Deposits of tokens in these blocks that a reorganisation may have replaced. Locks the rows until
 * the transaction ends.
 */
export const lockDepositsBetween = (
  sql: Sql,
  { chainId, from, to }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<Deposit[]> => read(sql, LOCKED_BETWEEN, [chainId, from.toString(), to.toString()]);

/** Undecided deposits in final blocks, in the order of their blocks. */
export const dueDeposits = (
  sql: SqlReader,
  at: { readonly chainId: number; readonly finalNumber: bigint; readonly limit: number },
  after: Pick<Deposit, "blockNumber" | "id">,
): Promise<Deposit[]> =>
  read(sql, DUE, [
    at.chainId,
    at.finalNumber.toString(),
    after.blockNumber.toString(),
    after.id,
    at.limit,
  ]);

/** Quarantined deposits whose senders could not be screened and are due to be screened again. */
export const depositsToScreenAgain = (
  sql: SqlReader,
  at: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<Deposit[]> => read(sql, AGAIN, [at.chainId, at.now, at.limit]);

/** A new state, set by compare-and-set. */
export type DepositChange = Pick<
  NewDeposit,
  | "projectId"
  | "id"
  | "state"
  | "isHeld"
  | "verdict"
  | "verdictSource"
  | "listVersion"
  | "screenedAt"
  | "screeningId"
  | "againAt"
  | "usdMicro"
> & { readonly fromState: Deposit["state"] };

/** @returns the ids of the deposits that were in `fromState` */
export const changeDeposits = async (
  sql: Sql,
  changes: readonly DepositChange[],
  now: Date,
): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for (const chunk of inChunks(changes))
    for (const { id } of await sql.query<{ id: string }>(MOVE, [json(chunk), now])) ids.add(id);
  return ids;
};

/** Sets when the senders of quarantined deposits are screened again. */
export const postponeDeposits = async (
  sql: Sql,
  rows: readonly (Pick<Deposit, "projectId" | "id"> & { readonly againAt: Date })[],
): Promise<void> => {
  for (const chunk of inChunks(rows))
    await sql.change(POSTPONE, [
      json(chunk.map(({ projectId, id, againAt }) => ({ projectId, id, againAt }))),
    ]);
};

/**
 * Updates the blocks of deposits whose transactions are in different blocks after a reorganisation.
 */
export const relocateDeposits = async (
  sql: Sql,
  rows: readonly Pick<Deposit, "projectId" | "id" | "blockNumber">[],
): Promise<void> => {
  for (const chunk of inChunks(rows))
    await sql.change(RELOCATE, [
      json(chunk.map(({ projectId, id, blockNumber }) => ({ projectId, id, blockNumber }))),
    ]);
};

export const depositsByIds = (
  sql: SqlReader,
  projectId: string,
  ids: readonly string[],
): Promise<Deposit[]> =>
  ids.length === 0 ? Promise.resolve([]) : read(sql, BY_IDS, [projectId, ids]);

/** Locks the row until the transaction ends. */
export const lockDeposit = async (
  sql: Sql,
  projectId: string,
  id: string,
): Promise<Deposit | null> => (await read(sql, LOCKED, [projectId, id]))[0] ?? null;

/** @returns false when it is no longer quarantined */
export const releaseDeposit = async (
  sql: Sql,
  { projectId, id }: Pick<Deposit, "projectId" | "id">,
  decision: {
    readonly by: string;
    readonly reason: string;
    readonly at: Date;
    readonly usdMicro: bigint | null;
  },
): Promise<boolean> => {
  const { by, reason, at, usdMicro } = decision;
  return (
    (await sql.change(RELEASE, [
      projectId,
      id,
      by,
      reason,
      at,
      usdMicro === null ? null : usdMicro.toString(),
    ])) === 1
  );
};

/**
 * The most valuable first, so that dust does not hide other deposits. Deposits of unknown worth
 * come last.
 */
export const quarantinedDeposits = (
  sql: SqlReader,
  projectId: string,
  limit: number,
): Promise<Deposit[]> => read(sql, QUARANTINED, [projectId, limit]);

export interface DepositFilter {
  /** Matches any of these states; all that callers see when absent. */
  readonly state?: readonly ShownState[] | undefined;
  /** Matches any of these chains. */
  readonly chainId?: readonly number[] | undefined;
  /** Matches any of these wallets. */
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
  sql: SqlReader,
  at: { readonly projectId: string; readonly before?: string | undefined; readonly limit: number },
  { state = depositStates, chainId, walletId, from, to }: DepositFilter,
): Promise<Deposit[]> => {
  const filters = [chainId ?? null, walletId ?? null, from ?? null, to ?? null];
  return read(sql, PAGE, [at.projectId, state, at.limit, at.before ?? null, ...filters]);
};

/** The newest deposits that are not final yet, or have changed since the given time. */
export const depositsUnderWay = (
  sql: SqlReader,
  projectId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<Deposit[]> => read(sql, UNDER_WAY, [projectId, since, limit]);

// Dust of projects. Dust in blocks that are not final is kept as rows, which a reorganisation may
// drop; dust in final blocks is kept as sums.

/** The sum of one token that came into a wallet in amounts too small to be shown one by one. */
export interface DustSum {
  readonly walletId: string;
  readonly walletAddress: EvmAddress;
  readonly chainId: number;
  /** Lower-case token address, or `native`. */
  readonly token: string;
  readonly count: number;
  readonly totalBase: bigint;
  readonly lastAt: Date;
}

// One statement moves rows into the sums, so that neither a crash nor another instance counts a row
// twice. Final blocks are not searched again, so no row comes back.
const FOLD = `
  WITH final AS (
    DELETE FROM deposit WHERE chain_id = $1::int AND block_number <= $2::bigint AND state = 'dust'
    RETURNING project_id, wallet_id, wallet_address, token, amount_base, detected_at
  )
  INSERT INTO deposit_dust AS d (project_id, wallet_id, chain_id, token, wallet_address, count, total_base, last_at)
  SELECT project_id, wallet_id, $1::int, token, min(wallet_address), count(*), sum(amount_base), max(detected_at)
  FROM final GROUP BY project_id, wallet_id, token ORDER BY project_id, wallet_id, token
  ON CONFLICT (project_id, wallet_id, chain_id, token) DO UPDATE SET count = d.count + EXCLUDED.count,
    total_base = d.total_base + EXCLUDED.total_base, last_at = greatest(d.last_at, EXCLUDED.last_at)`;

const SUMS = `
  SELECT wallet_id AS "walletId", min(wallet_address) AS "walletAddress", chain_id AS "chainId", token, sum(count)::float8 AS count,
    sum(total_base)::text AS "totalBase", max(last_at) AS "lastAt"
  FROM (
    SELECT wallet_id, wallet_address, chain_id, token, count, total_base, last_at FROM deposit_dust WHERE project_id = $1
    UNION ALL
    SELECT wallet_id, wallet_address, chain_id, token, 1, amount_base, detected_at FROM deposit WHERE project_id = $1 AND state = 'dust'
  ) AS each
  GROUP BY wallet_id, chain_id, token ORDER BY max(last_at) DESC, wallet_id, chain_id, token LIMIT $2::int`;

/** Adds the dust of final blocks to the sums, and removes its rows. */
export const foldDust = async (sql: Sql, chainId: number, finalNumber: bigint): Promise<void> => {
  await sql.change(FOLD, [chainId, finalNumber.toString()]);
};

/** The sums of a project, the newest first. */
export const dustSums = async (
  sql: SqlReader,
  projectId: string,
  limit: number,
): Promise<DustSum[]> => {
  const rows = await sql.query<
    Omit<DustSum, "totalBase" | "walletAddress"> & { totalBase: string; walletAddress: string }
  >(SUMS, [projectId, limit]);
  return rows.map((row) => ({
    ...row,
    walletAddress: row.walletAddress as EvmAddress,
    totalBase: BigInt(row.totalBase),
  }));
};

// How far each chain was searched. The cursor moves by compare-and-set, in the transaction that
// stores what was found.

export interface Cursor {
  /** The newest final block that was searched. */
  readonly finalNumber: bigint;
  /** The newest block that was searched, and its hash. */
  readonly seenNumber: bigint;
  readonly seenHash: string;
  /** The final block at which all coin balances were last compared. */
  readonly nativeNumber: bigint;
}

/** A stored cursor, with the start of its search. */
interface StoredCursor extends Cursor {
  /** When the search began. A wallet made later had no coins before, so all its coins are deposits. */
  readonly startedAt: Date;
}

interface CursorRow {
  readonly final_number: string;
  readonly seen_number: string;
  readonly seen_hash: string;
  readonly native_number: string;
  readonly started_at: Date;
}

const READ = `
  SELECT final_number::text, seen_number::text, seen_hash, native_number::text, started_at FROM deposit_scan WHERE chain_id = $1::int`;

const START = `
  INSERT INTO deposit_scan (chain_id, final_number, seen_number, seen_hash, native_number, started_at, updated_at)
  VALUES ($1::int, $2::bigint, $3::bigint, $4, $5::bigint, $6::timestamptz, $6::timestamptz) ON CONFLICT DO NOTHING`;

const ADVANCE = `
  UPDATE deposit_scan SET final_number = $5::bigint, seen_number = $6::bigint, seen_hash = $7, updated_at = $8::timestamptz
  WHERE chain_id = $1::int AND final_number = $2::bigint AND seen_number = $3::bigint AND seen_hash = $4`;

const ADVANCE_NATIVE = `
  UPDATE deposit_scan SET native_number = $3::bigint, updated_at = $4::timestamptz
  WHERE chain_id = $1::int AND native_number = $2::bigint`;

export const readCursor = async (sql: SqlReader, chainId: number): Promise<StoredCursor | null> => {
  const [row] = await sql.query<CursorRow>(READ, [chainId]);
  if (row === undefined) return null;
  return {
    finalNumber: BigInt(row.final_number),
    seenNumber: BigInt(row.seen_number),
    seenHash: row.seen_hash,
    nativeNumber: BigInt(row.native_number),
    startedAt: row.started_at,
  };
};

/** Stores where the search of a chain begins. Balances at that block are not deposits. */
export const startCursor = async (
  sql: Sql,
  chainId: number,
  cursor: Cursor,
  now: Date,
): Promise<void> => {
  const { finalNumber, seenNumber, seenHash, nativeNumber } = cursor;
  await sql.change(START, [
    chainId,
    String(finalNumber),
    String(seenNumber),
    seenHash,
    String(nativeNumber),
    now,
  ]);
};

export type Reached = Pick<Cursor, "finalNumber" | "seenNumber" | "seenHash">;

/**
 * @returns false when another instance has moved the cursor in the meantime; then nothing may be
 * stored
 */
export const advance = async (
  sql: Sql,
  chainId: number,
  from: Reached,
  to: Reached,
  now: Date,
): Promise<boolean> => {
  const before = [String(from.finalNumber), String(from.seenNumber), from.seenHash];
  const after = [String(to.finalNumber), String(to.seenNumber), to.seenHash];
  return (await sql.change(ADVANCE, [chainId, ...before, ...after, now])) === 1;
};

/** Like `advance`, for the comparison of coin balances. */
export const advanceNative = async (
  sql: Sql,
  chainId: number,
  move: { readonly from: bigint; readonly to: bigint; readonly now: Date },
): Promise<boolean> =>
  (await sql.change(ADVANCE_NATIVE, [chainId, String(move.from), String(move.to), move.now])) === 1;
