import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { EvmAddress } from "@/lib/core/evm";
import { DEFAULT_MODE, type ScreeningMode, stricterMode } from "@/lib/trust/screening/service";
import { inChunks } from "./repository";

// The wallets for which deposits are searched.

/** A wallet for which deposits are searched: the service signs for it with a key of its project. */
export interface DepositWallet {
  readonly projectId: string;
  readonly id: string;
  readonly address: EvmAddress;
  readonly createdAt: Date;
  /** How strictly senders are screened, by the wallet's policy and the project's. */
  readonly mode: ScreeningMode;
}

/**
 * Wallets for which the service signs. Linked wallets and smart accounts with an external owner are
 * left out: the owner can spend without the service, so nothing could be held back, and several
 * projects may link the same address. A key belongs to only one project, so only that project sees
 * and holds back what its wallets receive.
 */
const IS_OURS =
  "w.kind IN ('treasury', 'smart_account') AND w.key_id IS NOT NULL AND w.unlinked_at IS NULL";

const NEWEST_MODE = (scope: "project" | "wallet", subject: string): string => `
  (SELECT p.rules->>'screening' FROM policy p WHERE p.project_id = w.project_id AND p.scope = '${scope}'
    AND p.subject_id = ${subject} ORDER BY p.version DESC LIMIT 1)`;

const WALLET_COLUMNS = `w.project_id AS "projectId", w.id, w.address, w.created_at AS "createdAt",
  ${NEWEST_MODE("project", "w.project_id")} AS project_mode, ${NEWEST_MODE("wallet", "w.id")} AS wallet_mode`;

const SOME_ADDRESSES = `SELECT DISTINCT w.address FROM wallet w WHERE ${IS_OURS} LIMIT $1::int`;

const BY_ADDRESS = `SELECT ${WALLET_COLUMNS} FROM wallet w WHERE w.address = ANY($1::text[]) AND ${IS_OURS}`;

const AFTER = `SELECT ${WALLET_COLUMNS} FROM wallet w WHERE w.id > $1 AND ${IS_OURS} ORDER BY w.id LIMIT $2::int`;

interface WalletRow {
  readonly projectId: string;
  readonly id: string;
  readonly address: string;
  readonly createdAt: Date;
  readonly project_mode: string | null;
  readonly wallet_mode: string | null;
}

const MODES: readonly ScreeningMode[] = ["off", "block_hits", "require_clear"];
const modeOf = (text: string | null): ScreeningMode | undefined =>
  MODES.find((mode) => mode === text);

const parseWallet = ({ project_mode, wallet_mode, ...row }: WalletRow): DepositWallet => {
  const project = modeOf(project_mode) ?? DEFAULT_MODE;
  return {
    ...row,
    address: row.address as EvmAddress,
    mode: stricterMode(project, modeOf(wallet_mode) ?? project),
  };
};

/** All addresses, or null when there are more than `most`. */
export const addressesUpTo = async (
  sql: SqlReader,
  most: number,
): Promise<readonly EvmAddress[] | null> => {
  const rows = await sql.query<{ address: EvmAddress }>(SOME_ADDRESSES, [most + 1]);
  return rows.length > most ? null : rows.map(({ address }) => address);
};

/** The wallets with these addresses. */
export const walletsAt = async (
  sql: SqlReader,
  addresses: readonly string[],
): Promise<DepositWallet[]> =>
  addresses.length === 0
    ? []
    : (await sql.query<WalletRow>(BY_ADDRESS, [addresses])).map(parseWallet);

/** A page of all wallets, by id. */
export const walletsAfter = async (
  sql: SqlReader,
  afterId: string,
  limit: number,
): Promise<DepositWallet[]> =>
  (await sql.query<WalletRow>(AFTER, [afterId, limit])).map(parseWallet);

// Reads the amounts by which the project's own operations explain transfers into its wallets.

/** A transfer into a wallet of a project. */
export interface SeenTransfer {
  readonly projectId: string;
  readonly chainId: number;
  readonly txHash: string | null;
  readonly walletAddress: string;
  /** Lower-case address, or `native`. */
  readonly token: string;
  readonly sender: string | null;
  readonly amountBase: bigint;
  readonly detectedAt: Date;
}

export interface Hints {
  /** True when the sender is a wallet for which the service signs in this project. */
  readonly isOwnSender: boolean;
  /**
   * True when an operation that was in progress when the transfer was seen may explain it, and has
   * not ended.
   */
  readonly mayBeOwn: boolean;
  /**
   * The amounts of this token that operations paid into this wallet in this transaction, one per
   * leg or step.
   */
  readonly explained: readonly bigint[];
  /**
   * Amounts that are already attributed to transfers stored as the project's own, and cannot
   * explain another transfer.
   */
  readonly used: readonly bigint[];
}

const LOWER_SOURCE_TOKEN =
  "lower(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')";
const LOWER_DESTINATION_TOKEN = "lower(o.request->'destination'->'token'->>'address')";
const RECIPIENT_OF_OPERATION = "o.request->'destination'->>'recipient'";

const ASKED_HINTS = `asked AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS i (n int, project_id text, chain_id int, tx_hash text, wallet text, token text,
      sender text, detected_at timestamptz)
  ), asking AS MATERIALIZED (SELECT DISTINCT project_id FROM asked)`;

/**
 * An operation's transaction is stored with its leg before the leg ends. So once no operation that
 * was accepted before the transfer was seen is in progress, the amounts in these tables explain
 * every transfer of the project's own. A leg that waits for a person may still bring money, but
 * only to its own two wallets.
 */
const OPEN = `
  WITH ${ASKED_HINTS}, open_leg AS MATERIALIZED (
    SELECT o.project_id, o.accepted_at, l.source_chain_id, l.wallet_address, e.address AS executor, l.dest_chain_id,
      ${RECIPIENT_OF_OPERATION} AS recipient, ${LOWER_DESTINATION_TOKEN} AS token
    FROM asking p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l ON l.operation_id = o.id AND l.state NOT IN ('completed', 'failed', 'refunded')
    LEFT JOIN wallet e ON e.id = l.executor_wallet_id
  ), open_private AS MATERIALIZED (
    SELECT s.project_id, s.chain_id, t.created_at, t.to_address, lower(t.token_out->>'address') AS token
    FROM asking p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t ON t.project_id = o.project_id AND t.operation_id = o.id AND t.to_address IS NOT NULL
    JOIN privacy_step s ON s.project_id = o.project_id AND s.operation_id = o.id AND s.state NOT IN ('completed', 'failed')
  )
  SELECT i.n,
    EXISTS (SELECT 1 FROM wallet w WHERE w.project_id = i.project_id AND w.address = i.sender AND ${IS_OURS}) AS "isOwnSender",
    EXISTS (SELECT 1 FROM open_leg l WHERE l.project_id = i.project_id AND l.accepted_at <= i.detected_at
        AND ((l.dest_chain_id = i.chain_id AND l.recipient = i.wallet AND l.token = i.token)
          OR (l.source_chain_id = i.chain_id AND i.wallet IN (l.wallet_address, l.executor))))
      OR EXISTS (SELECT 1 FROM open_private s WHERE s.project_id = i.project_id AND s.chain_id = i.chain_id
        AND s.to_address = i.wallet AND s.token = i.token AND s.created_at <= i.detected_at) AS "mayBeOwn"
  FROM asked i`;

/**
 * The amounts that legs and private steps brought in these transactions: the received amount to the
 * recipient, the refund to the source wallet, and to the wallet that executes the source at most
 * the amount that the leg pays in.
 */
const EXPLAINED = `
  WITH ${ASKED_HINTS}
  SELECT i.n, l.received_base::text AS amount, false AS used
  FROM asked i JOIN operation_leg l ON l.dest_tx_hash = i.tx_hash AND l.dest_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  WHERE ${RECIPIENT_OF_OPERATION} = i.wallet AND ${LOWER_DESTINATION_TOKEN} = i.token AND l.received_base > 0
  UNION ALL
  SELECT i.n, l.received_base::text, false
  FROM asked i JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  WHERE l.dest_tx_hash IS NULL AND l.dest_chain_id = i.chain_id AND ${RECIPIENT_OF_OPERATION} = i.wallet AND ${LOWER_DESTINATION_TOKEN} = i.token
    AND l.received_base > 0
  UNION ALL
  SELECT i.n, l.amount_base::text, false
  FROM asked i JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  LEFT JOIN wallet e ON e.id = l.executor_wallet_id
  WHERE i.wallet IN (l.wallet_address, e.address) AND ${LOWER_SOURCE_TOKEN} = i.token
  UNION ALL
  SELECT i.n, l.refunded_base::text, false
  FROM asked i JOIN operation_leg l ON l.refund_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  WHERE l.wallet_address = i.wallet AND lower(l.refund_token->>'address') = i.token AND l.refunded_base > 0
  UNION ALL
  SELECT i.n, s.received_base::text, false
  FROM asked i JOIN privacy_step s ON s.project_id = i.project_id AND s.chain_id = i.chain_id AND s.tx_hash = i.tx_hash
  JOIN privacy_transfer t ON t.project_id = s.project_id AND t.operation_id = s.operation_id
  WHERE t.to_address = i.wallet AND lower(t.token_out->>'address') = i.token AND s.received_base > 0
  UNION ALL
  SELECT i.n, d.amount_base::text, true
  FROM asked i JOIN deposit d ON d.project_id = i.project_id AND d.chain_id = i.chain_id AND d.tx_hash = i.tx_hash
  WHERE d.state = 'own' AND d.wallet_address = i.wallet AND d.token = i.token`;

const asJson = (incoming: readonly SeenTransfer[]): string =>
  JSON.stringify(
    incoming.map((each, n) => ({
      ...{ n, project_id: each.projectId, chain_id: each.chainId, tx_hash: each.txHash },
      ...{
        wallet: each.walletAddress,
        token: each.token,
        sender: each.sender,
        detected_at: each.detectedAt,
      },
    })),
  );

/** Returns the hints in the order of `incoming`. */
export const readHints = async (
  sql: SqlReader,
  incoming: readonly SeenTransfer[],
): Promise<readonly Hints[]> => {
  const hints: Hints[] = [];
  for (const chunk of inChunks(incoming)) {
    const json = asJson(chunk);
    const open = await sql.query<{ n: number } & Pick<Hints, "isOwnSender" | "mayBeOwn">>(OPEN, [
      json,
    ]);
    const amounts = await sql.query<{ n: number; amount: string; used: boolean }>(EXPLAINED, [
      json,
    ]);
    const rows = chunk.map(() => ({
      isOwnSender: false,
      mayBeOwn: true,
      explained: [] as bigint[],
      used: [] as bigint[],
    }));
    for (const { n, ...found } of open) Object.assign(rows[n] ?? {}, found);
    for (const { n, amount, used } of amounts)
      rows[n]?.[used ? "used" : "explained"].push(BigInt(amount));
    hints.push(...rows);
  }
  return hints;
};

// Coin balances of wallets at final blocks, and the amounts that the project's own operations moved
// between these blocks.

/** The coin balance of a wallet at its last comparison. */
export interface Coins {
  readonly projectId: string;
  readonly walletId: string;
  readonly walletAddress: string;
  readonly balanceBase: bigint;
  readonly blockNumber: bigint;
  readonly isDeferred: boolean;
}

const READ = `
  SELECT project_id AS "projectId", wallet_id AS "walletId", wallet_address AS "walletAddress", balance_base::text AS balance,
    block_number::text AS block, is_deferred AS "isDeferred"
  FROM deposit_coins WHERE chain_id = $1::int AND wallet_id = ANY($2::text[]) AND project_id = ANY($3::text[])`;

const WRITE = `
  INSERT INTO deposit_coins (project_id, wallet_id, chain_id, wallet_address, balance_base, block_number, is_deferred)
  SELECT project_id, wallet_id, $2::int, wallet_address, balance_base, block_number, is_deferred
  FROM jsonb_to_recordset($1::jsonb) AS c (project_id text, wallet_id text, wallet_address text, balance_base numeric,
    block_number bigint, is_deferred boolean)
  ON CONFLICT (project_id, wallet_id, chain_id) DO UPDATE SET balance_base = EXCLUDED.balance_base,
    block_number = EXCLUDED.block_number, is_deferred = EXCLUDED.is_deferred`;

/** Returns the balances by wallet id. */
export const readCoins = async (
  sql: SqlReader,
  chainId: number,
  wallets: readonly { readonly projectId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, Coins>> => {
  const projects = [...new Set(wallets.map(({ projectId }) => projectId))];
  const rows = await sql.query<
    Omit<Coins, "balanceBase" | "blockNumber"> & {
      readonly balance: string;
      readonly block: string;
    }
  >(READ, [chainId, wallets.map(({ id }) => id), projects]);
  return new Map(
    rows.map(({ balance, block, ...row }) => [
      row.walletId,
      { ...row, balanceBase: BigInt(balance), blockNumber: BigInt(block) },
    ]),
  );
};

export const writeCoins = async (
  sql: Sql,
  chainId: number,
  coins: readonly Coins[],
): Promise<void> => {
  if (coins.length === 0) return;
  const rows = coins.map((each) => ({
    ...{ project_id: each.projectId, wallet_id: each.walletId, wallet_address: each.walletAddress },
    ...{ balance_base: each.balanceBase.toString(), block_number: each.blockNumber.toString() },
    is_deferred: each.isDeferred,
  }));
  await sql.change(WRITE, [JSON.stringify(rows), chainId]);
};

/**
 * The coins that operations of the project moved into and out of a wallet in the blocks after
 * `fromBlock`, up to `toBlock`.
 */
interface OwnMoves {
  readonly inBase: bigint;
  readonly outBase: bigint;
  /**
   * Whether an operation that may move coins of the wallet has not ended. Its coins may then be
   * missing in the sums.
   */
  readonly isOpen: boolean;
}

const SOURCE_TOKEN =
  "(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')";
const DESTINATION_TOKEN = "(o.request->'destination'->'token'->>'address')";
const RECIPIENT = "(o.request->'destination'->>'recipient')";
const OPEN_LEG = "l.state NOT IN ('completed', 'failed', 'refunded')";

const ASKED = `asked AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS a (n int, project_id text, wallet text, from_block bigint)
  ), asking AS MATERIALIZED (SELECT project_id, min(from_block) AS from_block FROM asked GROUP BY project_id)`;
const FIRST = "(SELECT min(from_block) FROM asked)";
const ARRIVAL = "coalesce(l.dest_block, l.source_block)";

// Network fees are left out, because they only make an increase smaller. Everything is selected by
// block, so that the cost does not grow with history.
const MOVES = `
  WITH ${ASKED}, open_leg AS MATERIALIZED (
    SELECT o.project_id, CASE WHEN l.dest_chain_id = $2::int AND ${DESTINATION_TOKEN} = 'native' THEN ${RECIPIENT} END AS recipient,
      CASE WHEN l.source_chain_id = $2::int AND ${SOURCE_TOKEN} = 'native' THEN l.wallet_address END AS payer
    FROM asking p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l ON l.operation_id = o.id AND ${OPEN_LEG}
  ), open_private AS MATERIALIZED (
    SELECT t.project_id, t.to_address FROM asking p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t ON t.project_id = o.project_id AND t.operation_id = o.id AND t.chain_id = $2::int
      AND t.token_out->>'address' = 'native'
  ), open_payout AS MATERIALIZED (
    SELECT b.project_id, b.payout_id, b.number, b.wallet_address FROM asking p
    JOIN payout y ON y.project_id = p.project_id AND y.status = 'processing'
    JOIN wallet_payout_batch b ON b.project_id = y.project_id AND b.payout_id = y.id AND b.chain_id = $2::int
      AND b.token = 'native' AND b.state IN ('signed', 'sent', 'mined')
  ), open_batch AS MATERIALIZED (
    SELECT project_id, wallet_address FROM open_payout
    UNION ALL
    SELECT i.project_id, i.recipient FROM open_payout b
    JOIN wallet_payout_item i ON i.project_id = b.project_id AND i.payout_id = b.payout_id AND i.batch = b.number
    WHERE i.recipient IN (SELECT wallet FROM asked)
  ), moved AS MATERIALIZED (
    SELECT o.project_id, ${RECIPIENT} AS wallet, ${ARRIVAL} AS block, l.received_base AS in_base, 0 AS out_base
    FROM operation_leg l JOIN operation o ON o.id = l.operation_id JOIN asking p ON p.project_id = o.project_id
    WHERE l.dest_chain_id = $2::int AND ${ARRIVAL} > ${FIRST} AND ${ARRIVAL} <= $3::bigint
      AND ${DESTINATION_TOKEN} = 'native' AND l.received_base > 0
    UNION ALL
    SELECT o.project_id, l.wallet_address, l.refund_block, l.refunded_base, 0
    FROM operation_leg l JOIN operation o ON o.id = l.operation_id JOIN asking p ON p.project_id = o.project_id
    WHERE l.source_chain_id = $2::int AND l.refund_block > ${FIRST} AND l.refund_block <= $3::bigint
      AND l.refund_token->>'address' = 'native'
    UNION ALL
    SELECT s.project_id, t.to_address, s.block_number, s.received_base, 0
    FROM asking p
    JOIN privacy_step s ON s.project_id = p.project_id AND s.chain_id = $2::int
      AND s.block_number > p.from_block AND s.block_number <= $3::bigint
    JOIN privacy_transfer t ON t.project_id = s.project_id AND t.operation_id = s.operation_id
    WHERE t.token_out->>'address' = 'native'
    UNION ALL
    SELECT b.project_id, i.recipient, b.block_number::bigint, i.amount_base, 0
    FROM asking p
    JOIN wallet w ON w.project_id = p.project_id AND w.kind = 'treasury'
    JOIN wallet_payout_batch b ON b.wallet_address = w.address AND b.chain_id = $2::int AND b.block_number > p.from_block
      AND b.block_number <= $3::bigint AND b.token = 'native' AND b.state IN ('mined', 'paid')
    JOIN wallet_payout_item i ON i.project_id = b.project_id AND i.payout_id = b.payout_id AND i.batch = b.number AND i.status IS NULL
    WHERE i.recipient IN (SELECT wallet FROM asked)
    UNION ALL
    SELECT a.project_id, a.wallet, l.source_block, 0, l.spent_base
    FROM asked a JOIN operation_leg l ON l.wallet_address = a.wallet AND l.source_chain_id = $2::int
      AND l.source_block > a.from_block AND l.source_block <= $3::bigint
    JOIN operation o ON o.id = l.operation_id
    WHERE ${SOURCE_TOKEN} = 'native'
    UNION ALL
    SELECT a.project_id, a.wallet, b.block_number::bigint, 0, b.amount_base
    FROM asked a JOIN wallet_payout_batch b ON b.wallet_address = a.wallet AND b.chain_id = $2::int
      AND b.block_number > a.from_block AND b.block_number <= $3::bigint
    WHERE b.token = 'native' AND b.state IN ('mined', 'paid')
  )
  SELECT a.n,
    (EXISTS (SELECT 1 FROM open_leg l WHERE l.project_id = a.project_id AND a.wallet IN (l.recipient, l.payer))
      OR EXISTS (SELECT 1 FROM open_private t WHERE t.project_id = a.project_id AND t.to_address = a.wallet)
      OR EXISTS (SELECT 1 FROM open_batch b WHERE b.project_id = a.project_id AND b.wallet_address = a.wallet)) AS is_open,
    coalesce(sum(m.in_base), 0)::text AS moved_in, coalesce(sum(m.out_base), 0)::text AS moved_out
  FROM asked a
  LEFT JOIN moved m ON m.project_id = a.project_id AND m.wallet = a.wallet AND m.block > a.from_block
  GROUP BY a.n, a.project_id, a.wallet`;

// A spending between two comparisons can hide coins that came in, because the balance may be the
// same as before.
const SPENT = `
  SELECT l.wallet_address AS address FROM unnest($1::text[]) AS asked (wallet)
  JOIN operation_leg l ON l.wallet_address = asked.wallet AND l.source_chain_id = $2::int
    AND l.source_block > $3::bigint AND l.source_block <= $4::bigint
  UNION
  SELECT b.wallet_address FROM unnest($1::text[]) AS asked (wallet)
  JOIN wallet_payout_batch b ON b.wallet_address = asked.wallet AND b.chain_id = $2::int
    AND b.block_number > $3::bigint AND b.block_number <= $4::bigint`;

const SOME_DEFERRED =
  "SELECT 1 FROM deposit_coins WHERE chain_id = $1::int AND is_deferred LIMIT 1";

/**
 * The wallets from which the project spent in the blocks after `from`, up to and including `to`.
 */
export const spentFrom = async (
  sql: SqlReader,
  wallets: readonly string[],
  { chainId, from, to }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ address: string }>(SPENT, [
    wallets,
    chainId,
    from.toString(),
    to.toString(),
  ]);
  return new Set(rows.map(({ address }) => address));
};

export const hasDeferred = async (sql: SqlReader, chainId: number): Promise<boolean> =>
  (await sql.query(SOME_DEFERRED, [chainId])).length > 0;

/** Returns the moves in the order of `asked`. */
export const ownMovesOf = async (
  sql: SqlReader,
  at: { readonly chainId: number; readonly toBlock: bigint },
  asked: readonly {
    readonly projectId: string;
    readonly walletAddress: string;
    readonly fromBlock: bigint;
  }[],
): Promise<readonly OwnMoves[]> => {
  if (asked.length === 0) return [];
  const rows = asked.map(({ projectId, walletAddress, fromBlock }, n) => ({
    ...{ n, project_id: projectId, wallet: walletAddress, from_block: fromBlock.toString() },
  }));
  const found = await sql.query<{
    n: number;
    is_open: boolean;
    moved_in: string;
    moved_out: string;
  }>(MOVES, [JSON.stringify(rows), at.chainId, at.toBlock.toString()]);
  const byPlace = new Map(found.map((row) => [row.n, row]));
  return asked.map((_, n): OwnMoves => {
    const row = byPlace.get(n);
    if (row === undefined) return { inBase: 0n, outBase: 0n, isOpen: true };
    return { inBase: BigInt(row.moved_in), outBase: BigInt(row.moved_out), isOpen: row.is_open };
  });
};
