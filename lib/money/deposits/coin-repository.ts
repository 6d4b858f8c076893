import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { base, bool, int, int8, type RowOf, table, text } from "@/lib/platform/db/table";
import { coinBalances, type Coins } from "./rows";

// Coin balances of wallets at final blocks, and the amounts that operations of the project moved
// between these blocks.

export const readCoins = async (
  db: SqlReader,
  chainId: number,
  wallets: readonly { readonly projectId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, Coins>> => {
  const projects = [...new Set(wallets.map(({ projectId }) => projectId))];
  const rows = await coinBalances.all(
    db,
    sql`
      SELECT ${coinBalances.columns()} FROM deposit_coins
      WHERE chain_id = ${chainId}::int
        AND wallet_id = ANY(${wallets.map(({ id }) => id)}::text[])
        AND project_id = ANY(${projects}::text[])`,
  );
  return new Map(rows.map((row) => [row.walletId, row]));
};

export const writeCoins = async (
  db: Sql,
  chainId: number,
  coins: readonly Coins[],
): Promise<void> => {
  if (coins.length === 0) return;
  await db.change(sql`
    INSERT INTO deposit_coins (chain_id, ${coinBalances.names})
    SELECT ${chainId}::int, ${coinBalances.names} FROM ${coinBalances.list(coins)} AS compared
    ON CONFLICT (project_id, wallet_id, chain_id) DO UPDATE SET
      balance_base = EXCLUDED.balance_base,
      block_number = EXCLUDED.block_number,
      is_deferred = EXCLUDED.is_deferred`);
};

export const hasDeferred = async (db: SqlReader, chainId: number): Promise<boolean> => {
  const rows = await db.query(sql`
    SELECT 1 FROM deposit_coins
    WHERE chain_id = ${chainId}::int AND is_deferred
    LIMIT 1`);
  return rows.length > 0;
};

const spenders = table({ address: text });

/**
 * The wallets from which the project spent in the blocks after `from`, up to and including `to`.
 * Spending can hide incoming coins, because the balance may then be unchanged. So these wallets are
 * compared even when their balances are unchanged.
 */
export const spentFrom = async (
  db: SqlReader,
  wallets: readonly string[],
  {
    chainId,
    from,
    to,
  }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<ReadonlySet<string>> => {
  const rows = await spenders.all(
    db,
    sql`
      SELECT l.wallet_address AS address FROM unnest(${wallets}::text[]) AS compared (wallet)
      JOIN operation_leg l
        ON l.wallet_address = compared.wallet
        AND l.source_chain_id = ${chainId}::int
        AND l.source_block > ${from}::bigint
        AND l.source_block <= ${to}::bigint
      UNION
      SELECT b.wallet_address FROM unnest(${wallets}::text[]) AS compared (wallet)
      JOIN wallet_payout_batch b
        ON b.wallet_address = compared.wallet
        AND b.chain_id = ${chainId}::int
        AND b.block_number > ${from}::bigint
        AND b.block_number <= ${to}::bigint`,
  );
  return new Set(rows.map(({ address }) => address));
};

/** A wallet, and the block at which its coin balance was last compared. */
const comparedWallets = table({
  n: int,
  projectId: text,
  walletAddress: text,
  fromBlock: int8,
});
type ComparedWallet = Omit<RowOf<typeof comparedWallets>, "n">;

/**
 * The coins that operations of the project moved into and out of a wallet in the blocks after
 * `fromBlock`, up to `toBlock`.
 */
const ownMoves = table({
  n: int,
  inBase: base,
  outBase: base,
  /**
   * Whether an operation that may move coins of the wallet is still in progress. The coins of such
   * an operation may be missing from the sums.
   */
  isOpen: bool,
});
type OwnMoves = Omit<RowOf<typeof ownMoves>, "n">;

const SOURCE_TOKEN = raw(
  "(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')",
);
const DESTINATION_TOKEN = raw("(o.request->'destination'->'token'->>'address')");
const RECIPIENT = raw("(o.request->'destination'->>'recipient')");
const ARRIVAL = raw("coalesce(l.dest_block, l.source_block)");

/** CTEs with the operations in progress that may move coins of the projects on the chain. */
const openOperations = (chainId: number): Statement => sql`
  open_leg AS MATERIALIZED (
    SELECT o.project_id,
      CASE WHEN l.dest_chain_id = ${chainId}::int AND ${DESTINATION_TOKEN} = 'native'
        THEN ${RECIPIENT}
      END AS recipient,
      CASE WHEN l.source_chain_id = ${chainId}::int AND ${SOURCE_TOKEN} = 'native'
        THEN l.wallet_address
      END AS payer
    FROM projects p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l
      ON l.operation_id = o.id AND l.state NOT IN ('completed', 'failed', 'refunded')
  ), open_private AS MATERIALIZED (
    SELECT t.project_id, t.to_address
    FROM projects p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t
      ON t.project_id = o.project_id
      AND t.operation_id = o.id
      AND t.chain_id = ${chainId}::int
      AND t.token_out->>'address' = 'native'
  ), open_payout AS MATERIALIZED (
    SELECT b.project_id, b.payout_id, b.number, b.wallet_address
    FROM projects p
    JOIN payout y ON y.project_id = p.project_id AND y.status = 'processing'
    JOIN wallet_payout_batch b
      ON b.project_id = y.project_id
      AND b.payout_id = y.id
      AND b.chain_id = ${chainId}::int
      AND b.token = 'native'
      AND b.state IN ('signed', 'sent', 'mined')
  ), open_batch AS MATERIALIZED (
    SELECT project_id, wallet_address FROM open_payout
    UNION ALL
    SELECT i.project_id, i.recipient
    FROM open_payout b
    JOIN wallet_payout_item i
      ON i.project_id = b.project_id AND i.payout_id = b.payout_id AND i.batch = b.number
    WHERE i.recipient IN (SELECT wallet_address FROM compared)
  )`;

/**
 * SQL that selects the native coins that operations of the project brought into its wallets, up to
 * `toBlock`.
 */
const movesIn = (chainId: number, toBlock: bigint): Statement => sql`
  SELECT o.project_id, ${RECIPIENT} AS wallet, ${ARRIVAL} AS block,
    l.received_base AS in_base, 0 AS out_base
  FROM operation_leg l
  JOIN operation o ON o.id = l.operation_id
  JOIN projects p ON p.project_id = o.project_id
  WHERE l.dest_chain_id = ${chainId}::int
    AND ${ARRIVAL} > (SELECT min(from_block) FROM compared)
    AND ${ARRIVAL} <= ${toBlock}::bigint
    AND ${DESTINATION_TOKEN} = 'native'
    AND l.received_base > 0
  UNION ALL
  SELECT o.project_id, l.wallet_address, l.refund_block, l.refunded_base, 0
  FROM operation_leg l
  JOIN operation o ON o.id = l.operation_id
  JOIN projects p ON p.project_id = o.project_id
  WHERE l.source_chain_id = ${chainId}::int
    AND l.refund_block > (SELECT min(from_block) FROM compared)
    AND l.refund_block <= ${toBlock}::bigint
    AND l.refund_token->>'address' = 'native'
  UNION ALL
  SELECT s.project_id, t.to_address, s.block_number, s.received_base, 0
  FROM projects p
  JOIN privacy_step s
    ON s.project_id = p.project_id
    AND s.chain_id = ${chainId}::int
    AND s.block_number > p.from_block
    AND s.block_number <= ${toBlock}::bigint
  JOIN privacy_transfer t ON t.project_id = s.project_id AND t.operation_id = s.operation_id
  WHERE t.token_out->>'address' = 'native'
  UNION ALL
  SELECT b.project_id, i.recipient, b.block_number::bigint, i.amount_base, 0
  FROM projects p
  JOIN wallet w ON w.project_id = p.project_id AND w.kind = 'treasury'
  JOIN wallet_payout_batch b
    ON b.wallet_address = w.address
    AND b.chain_id = ${chainId}::int
    AND b.block_number > p.from_block
    AND b.block_number <= ${toBlock}::bigint
    AND b.token = 'native'
    AND b.state IN ('mined', 'paid')
  JOIN wallet_payout_item i
    ON i.project_id = b.project_id
    AND i.payout_id = b.payout_id
    AND i.batch = b.number
    AND i.status IS NULL
  WHERE i.recipient IN (SELECT wallet_address FROM compared)`;

/** SQL that selects the coins that were spent from wallets, without network fees. */
const movesOut = (chainId: number, toBlock: bigint): Statement => sql`
  SELECT c.project_id, c.wallet_address, l.source_block, 0, l.spent_base
  FROM compared c
  JOIN operation_leg l
    ON l.wallet_address = c.wallet_address
    AND l.source_chain_id = ${chainId}::int
    AND l.source_block > c.from_block
    AND l.source_block <= ${toBlock}::bigint
  JOIN operation o ON o.id = l.operation_id
  WHERE ${SOURCE_TOKEN} = 'native'
  UNION ALL
  SELECT c.project_id, c.wallet_address, b.block_number::bigint, 0, b.amount_base
  FROM compared c
  JOIN wallet_payout_batch b
    ON b.wallet_address = c.wallet_address
    AND b.chain_id = ${chainId}::int
    AND b.block_number > c.from_block
    AND b.block_number <= ${toBlock}::bigint
  WHERE b.token = 'native' AND b.state IN ('mined', 'paid')`;

/**
 * Returns the moves in the order of `wallets`. Network fees are left out, because they only make an
 * increase smaller. Every query is limited to a range of blocks, so that the cost does not grow
 * with the history.
 */
export const ownMovesOf = async (
  db: SqlReader,
  { chainId, toBlock }: { readonly chainId: number; readonly toBlock: bigint },
  wallets: readonly ComparedWallet[],
): Promise<readonly OwnMoves[]> => {
  if (wallets.length === 0) return [];
  const numbered = wallets.map((wallet, n) => ({ ...wallet, n }));
  const found = await ownMoves.all(
    db,
    sql`
      WITH compared AS MATERIALIZED (
        SELECT * FROM ${comparedWallets.list(numbered)} AS numbered
      ), projects AS MATERIALIZED (
        SELECT project_id, min(from_block) AS from_block FROM compared GROUP BY project_id
      ), ${openOperations(chainId)}, moved AS MATERIALIZED (
        ${movesIn(chainId, toBlock)}
        UNION ALL
        ${movesOut(chainId, toBlock)}
      )
      SELECT ${ownMoves.columns("summed")}
      FROM (
        SELECT c.n,
          coalesce(sum(m.in_base), 0) AS in_base,
          coalesce(sum(m.out_base), 0) AS out_base,
          EXISTS (
            SELECT 1 FROM open_leg l
            WHERE l.project_id = c.project_id AND c.wallet_address IN (l.recipient, l.payer)
          ) OR EXISTS (
            SELECT 1 FROM open_private t
            WHERE t.project_id = c.project_id AND t.to_address = c.wallet_address
          ) OR EXISTS (
            SELECT 1 FROM open_batch b
            WHERE b.project_id = c.project_id AND b.wallet_address = c.wallet_address
          ) AS is_open
        FROM compared c
        LEFT JOIN moved m
          ON m.project_id = c.project_id
          AND m.wallet = c.wallet_address
          AND m.block > c.from_block
        GROUP BY c.n, c.project_id, c.wallet_address
      ) AS summed`,
  );
  const byPlace = new Map(found.map(({ n, ...moves }) => [n, moves]));
  return wallets.map(
    (_, n): OwnMoves => byPlace.get(n) ?? { inBase: 0n, outBase: 0n, isOpen: true },
  );
};
