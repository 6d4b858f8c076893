/** Coins of wallets at final blocks, and the amounts that the project's own operations moved between these blocks. */
import type { Sql, SqlReader } from "@/lib/db/sql";

/** The coins of a wallet when they were compared last. */
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

/** By the id of the wallet. */
export const readCoins = async (
  sql: SqlReader,
  chainId: number,
  wallets: readonly { readonly projectId: string; readonly id: string }[],
): Promise<ReadonlyMap<string, Coins>> => {
  const projects = [...new Set(wallets.map(({ projectId }) => projectId))];
  const rows = await sql.query<
    Omit<Coins, "balanceBase" | "blockNumber"> & { readonly balance: string; readonly block: string }
  >(READ, [chainId, wallets.map(({ id }) => id), projects]);
  return new Map(
    rows.map(({ balance, block, ...row }) => [
      row.walletId,
      { ...row, balanceBase: BigInt(balance), blockNumber: BigInt(block) },
    ]),
  );
};

export const writeCoins = async (sql: Sql, chainId: number, coins: readonly Coins[]): Promise<void> => {
  if (coins.length === 0) return;
  const rows = coins.map((each) => ({
    ...{ project_id: each.projectId, wallet_id: each.walletId, wallet_address: each.walletAddress },
    ...{ balance_base: each.balanceBase.toString(), block_number: each.blockNumber.toString() },
    is_deferred: each.isDeferred,
  }));
  await sql.change(WRITE, [JSON.stringify(rows), chainId]);
};

/** The coins that operations of the project moved into and out of a wallet in the blocks after `fromBlock`, up to `toBlock`. */
interface OwnMoves {
  readonly inBase: bigint;
  readonly outBase: bigint;
  /** Whether an operation that may move coins of the wallet has not ended; the sums may lack its coins. */
  readonly isOpen: boolean;
}

const SOURCE_TOKEN = "(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')";
const DESTINATION_TOKEN = "(o.request->'destination'->'token'->>'address')";
const RECIPIENT = "(o.request->'destination'->>'recipient')";
const OPEN_LEG = "l.state NOT IN ('completed', 'failed', 'refunded')";

const ASKED = `asked AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS a (n int, project_id text, wallet text, from_block bigint)
  ), asking AS MATERIALIZED (SELECT project_id, min(from_block) AS from_block FROM asked GROUP BY project_id)`;
const FIRST = "(SELECT min(from_block) FROM asked)";
const ARRIVAL = "coalesce(l.dest_block, l.source_block)";

// Network fees are left out: they only make a rise smaller. Everything is found by its block, so that the cost does not grow with history.
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

// Coins that came and went between two comparisons leave the balance as it was.
const SPENT = `
  SELECT l.wallet_address AS address FROM unnest($1::text[]) AS asked (wallet)
  JOIN operation_leg l ON l.wallet_address = asked.wallet AND l.source_chain_id = $2::int
    AND l.source_block > $3::bigint AND l.source_block <= $4::bigint
  UNION
  SELECT b.wallet_address FROM unnest($1::text[]) AS asked (wallet)
  JOIN wallet_payout_batch b ON b.wallet_address = asked.wallet AND b.chain_id = $2::int
    AND b.block_number > $3::bigint AND b.block_number <= $4::bigint`;

const SOME_DEFERRED = "SELECT 1 FROM deposit_coins WHERE chain_id = $1::int AND is_deferred LIMIT 1";

/** The wallets from which the project spent in the blocks after `from`, up to `to`. */
export const spentFrom = async (
  sql: SqlReader,
  wallets: readonly string[],
  { chainId, from, to }: { readonly chainId: number; readonly from: bigint; readonly to: bigint },
): Promise<ReadonlySet<string>> => {
  const rows = await sql.query<{ address: string }>(SPENT, [wallets, chainId, from.toString(), to.toString()]);
  return new Set(rows.map(({ address }) => address));
};

export const hasDeferred = async (sql: SqlReader, chainId: number): Promise<boolean> =>
  (await sql.query(SOME_DEFERRED, [chainId])).length > 0;

/** In the order of `asked`. */
export const ownMovesOf = async (
  sql: SqlReader,
  at: { readonly chainId: number; readonly toBlock: bigint },
  asked: readonly { readonly projectId: string; readonly walletAddress: string; readonly fromBlock: bigint }[],
): Promise<readonly OwnMoves[]> => {
  if (asked.length === 0) return [];
  const rows = asked.map(({ projectId, walletAddress, fromBlock }, n) => ({
    ...{ n, project_id: projectId, wallet: walletAddress, from_block: fromBlock.toString() },
  }));
  const found = await sql.query<{ n: number; is_open: boolean; moved_in: string; moved_out: string }>(MOVES, [
    JSON.stringify(rows),
    at.chainId,
    at.toBlock.toString(),
  ]);
  const byPlace = new Map(found.map((row) => [row.n, row]));
  return asked.map((_, n): OwnMoves => {
    const row = byPlace.get(n);
    if (row === undefined) return { inBase: 0n, outBase: 0n, isOpen: true };
    return { inBase: BigInt(row.moved_in), outBase: BigInt(row.moved_out), isOpen: row.is_open };
  });
};
