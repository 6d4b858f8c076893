/** Rows of deposits. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import { inChunks } from "./chunks";
import { DEPOSIT_COLUMNS, parseDeposit, type Deposit, type DepositRow } from "./deposit";

/** A deposit as it is stored when it is seen. */
export type NewDeposit = Omit<Deposit, "decidedBy" | "decidedReason" | "decidedAt" | "updatedAt"> & {
  readonly screeningId: string | null;
  /** When its sender is screened again. */
  readonly againAt: Date | null;
};

const PLAIN = `project_id, id, chain_id, tx_hash, log_index, block_number, wallet_id, wallet_address, token, sender, amount_base, usd_micro,
  state, is_held, verdict, verdict_source, list_version, screened_at, screening_id, again_at, detected_at, updated_at`;

// A log that a reorganisation removed and that comes back is the same deposit again, with what it says now. The native key cannot conflict:
// see `advanceNative`.
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

// Locked, so that none of them gets another state before it is dropped.
const LOCKED_BY_LOG = `${BY_LOG} ORDER BY d.project_id, d.id FOR NO KEY UPDATE OF d`;

const LOCKED_BETWEEN = `
  SELECT ${DEPOSIT_COLUMNS} FROM deposit d
  WHERE d.chain_id = $1::int AND d.block_number BETWEEN $2::bigint AND $3::bigint AND d.tx_hash IS NOT NULL
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

const UNDER_WAY = `
  SELECT * FROM (
    SELECT ${DEPOSIT_COLUMNS} FROM deposit d
    WHERE d.project_id = $1 AND d.updated_at >= $2::timestamptz AND d.state NOT IN ('own', 'unclear', 'pending')
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

/** @returns the ids of those that were stored: a log that is stored already is not stored again */
export const storeDeposits = async (sql: Sql, rows: readonly NewDeposit[], now: Date): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for (const chunk of inChunks(rows)) {
    const stored = await sql.query<{ id: string }>(STORE, [json(chunk.map((row) => ({ ...row, updatedAt: now })))]);
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

const readByLog = async (sql: SqlReader, text: string, chainId: number, logs: readonly Log[]): Promise<Deposit[]> => {
  const found: Deposit[][] = [];
  for (const chunk of inChunks(logs)) found.push(await read(sql, text, [...logColumns(chunk), chainId]));
  return found.flat();
};

export const depositsByLog = (sql: SqlReader, chainId: number, logs: readonly Log[]): Promise<Deposit[]> =>
  readByLog(sql, BY_LOG, chainId, logs);

/** As `depositsByLog`, and locks the rows until the transaction ends. */
export const lockDepositsByLog = (sql: Sql, chainId: number, logs: readonly Log[]): Promise<Deposit[]> =>
  readByLog(sql, LOCKED_BY_LOG, chainId, logs);

/** Deposits of tokens in these blocks that a reorganisation may have replaced. Locks the rows until the transaction ends. */
export const lockDepositsBetween = (
  sql: Sql,
  { chainId, from, to }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<Deposit[]> => read(sql, LOCKED_BETWEEN, [chainId, from.toString(), to.toString()]);

/** Deposits in final blocks about which nothing is decided yet, in order of their blocks. */
export const dueDeposits = (
  sql: SqlReader,
  at: { readonly chainId: number; readonly finalNumber: bigint; readonly limit: number },
  after: Pick<Deposit, "blockNumber" | "id">,
): Promise<Deposit[]> =>
  read(sql, DUE, [at.chainId, at.finalNumber.toString(), after.blockNumber.toString(), after.id, at.limit]);

/** Quarantined deposits whose senders could not be screened, and are due to be screened again. */
export const depositsToScreenAgain = (
  sql: SqlReader,
  at: { readonly chainId: number; readonly now: Date; readonly limit: number },
): Promise<Deposit[]> => read(sql, AGAIN, [at.chainId, at.now, at.limit]);

/** A new state by compare-and-set. */
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

/** @returns the ids of those that were in `fromState` */
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
    await sql.change(POSTPONE, [json(chunk.map(({ projectId, id, againAt }) => ({ projectId, id, againAt })))]);
};

/** Sets the blocks of deposits whose transactions a reorganisation put into other ones. */
export const relocateDeposits = async (
  sql: Sql,
  rows: readonly Pick<Deposit, "projectId" | "id" | "blockNumber">[],
): Promise<void> => {
  for (const chunk of inChunks(rows))
    await sql.change(RELOCATE, [json(chunk.map(({ projectId, id, blockNumber }) => ({ projectId, id, blockNumber })))]);
};

export const depositsByIds = (sql: SqlReader, projectId: string, ids: readonly string[]): Promise<Deposit[]> =>
  ids.length === 0 ? Promise.resolve([]) : read(sql, BY_IDS, [projectId, ids]);

/** Locks the row until the transaction ends. */
export const lockDeposit = async (sql: Sql, projectId: string, id: string): Promise<Deposit | null> =>
  (await read(sql, LOCKED, [projectId, id]))[0] ?? null;

/** @returns false when it is not quarantined any more */
export const releaseDeposit = async (
  sql: Sql,
  { projectId, id }: Pick<Deposit, "projectId" | "id">,
  decision: { readonly by: string; readonly reason: string; readonly at: Date; readonly usdMicro: bigint | null },
): Promise<boolean> => {
  const { by, reason, at, usdMicro } = decision;
  return (
    (await sql.change(RELEASE, [projectId, id, by, reason, at, usdMicro === null ? null : usdMicro.toString()])) === 1
  );
};

/** The most worth first: dust hides no other deposit. Those of unknown worth come last. */
export const quarantinedDeposits = (sql: SqlReader, projectId: string, limit: number): Promise<Deposit[]> =>
  read(sql, QUARANTINED, [projectId, limit]);

/** The newest deposits that are not final yet or have changed since. */
export const depositsUnderWay = (
  sql: SqlReader,
  projectId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<Deposit[]> => read(sql, UNDER_WAY, [projectId, since, limit]);
