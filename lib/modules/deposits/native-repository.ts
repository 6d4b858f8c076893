/** Coins of wallets at final blocks, and what the project's own operations moved between them. */
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

/** What operations of the project did to the coins of a wallet in the blocks after `fromBlock`, up to `toBlock`. */
interface OwnMoves {
  readonly inBase: bigint;
  readonly outBase: bigint;
  /** One that may move coins of the wallet has not ended, so the sums may lack it. */
  readonly isOpen: boolean;
}

const SOURCE_TOKEN = "(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')";
const DESTINATION_TOKEN = "(o.request->'destination'->'token'->>'address')";
const RECIPIENT = "(o.request->'destination'->>'recipient')";
const OPEN_LEG = "l.state NOT IN ('completed', 'failed', 'refunded')";

// Network fees are left out: they only make a rise smaller.
const MOVES = `
  WITH asked AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS a (n int, project_id text, wallet text, from_block bigint)
  ), open_leg AS (
    SELECT o.project_id, CASE WHEN l.dest_chain_id = $2::int AND ${DESTINATION_TOKEN} = 'native' THEN ${RECIPIENT} END AS recipient,
      CASE WHEN l.source_chain_id = $2::int AND ${SOURCE_TOKEN} = 'native' THEN l.wallet_address END AS payer
    FROM (SELECT DISTINCT project_id FROM asked) p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l ON l.operation_id = o.id AND ${OPEN_LEG}
  ), open_private AS (
    SELECT t.project_id, t.to_address FROM (SELECT DISTINCT project_id FROM asked) p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t ON t.project_id = o.project_id AND t.operation_id = o.id AND t.chain_id = $2::int
      AND t.token_out->>'address' = 'native'
  ), open_batch AS (
    SELECT b.project_id, b.wallet_address FROM (SELECT DISTINCT project_id FROM asked) p
    JOIN payout y ON y.project_id = p.project_id AND y.status = 'processing'
    JOIN wallet_payout_batch b ON b.project_id = y.project_id AND b.payout_id = y.id AND b.chain_id = $2::int
      AND b.token = 'native' AND b.state IN ('signed', 'sent', 'mined')
  )
  SELECT a.n,
    (EXISTS (SELECT 1 FROM open_leg l WHERE l.project_id = a.project_id AND a.wallet IN (l.recipient, l.payer))
      OR EXISTS (SELECT 1 FROM open_private t WHERE t.project_id = a.project_id AND t.to_address = a.wallet)
      OR EXISTS (SELECT 1 FROM open_batch b WHERE b.project_id = a.project_id AND b.wallet_address = a.wallet)) AS is_open,
    (coalesce((SELECT sum(l.received_base) FROM operation o JOIN operation_leg l ON l.operation_id = o.id
        WHERE o.project_id = a.project_id AND o.search_terms @> ARRAY[lower(a.wallet)] AND l.dest_chain_id = $2::int
          AND ${DESTINATION_TOKEN} = 'native' AND ${RECIPIENT} = a.wallet
          AND coalesce(l.dest_block, l.source_block) > a.from_block AND coalesce(l.dest_block, l.source_block) <= $3::bigint), 0)
      + coalesce((SELECT sum(l.refunded_base) FROM operation_leg l
        WHERE l.wallet_address = a.wallet AND l.source_chain_id = $2::int AND l.refund_token->>'address' = 'native'
          AND l.refund_block > a.from_block AND l.refund_block <= $3::bigint), 0)
      + coalesce((SELECT sum(s.received_base) FROM privacy_transfer t
        JOIN privacy_step s ON s.project_id = t.project_id AND s.operation_id = t.operation_id
        WHERE t.project_id = a.project_id AND t.to_address = a.wallet AND t.chain_id = $2::int
          AND t.token_out->>'address' = 'native' AND s.block_number > a.from_block AND s.block_number <= $3::bigint), 0))::text AS moved_in,
    (coalesce((SELECT sum(l.spent_base) FROM operation_leg l JOIN operation o ON o.id = l.operation_id
        WHERE l.wallet_address = a.wallet AND l.source_chain_id = $2::int AND l.source_block > a.from_block
          AND l.source_block <= $3::bigint AND ${SOURCE_TOKEN} = 'native'), 0)
      + coalesce((SELECT sum(b.amount_base) FROM wallet_payout_batch b
        WHERE b.wallet_address = a.wallet AND b.chain_id = $2::int AND b.block_number > a.from_block
          AND b.block_number <= $3::bigint AND b.token = 'native' AND b.state IN ('mined', 'paid')), 0))::text AS moved_out
  FROM asked a`;

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
