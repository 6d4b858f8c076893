import type { SqlReader } from "@/lib/db/sql";

/** Money that operations under way will bring to an address, at least. */
export interface Arrival {
  readonly owner: string;
  readonly chainId: number;
  /** Lower-case token address, `native`, or `wrapped`: the bridge refunds a coin as the chain's wrapped one. */
  readonly token: string;
  readonly amountBase: bigint;
}

// A leg brings its minimum to the recipient until its arrival is in a block that the balances include; one that is refunded brings what
// went into the bridge back to its source. A refund that needs a person's attention may be in the balance already, and is not counted.
// A leg whose route cannot be read has no amount; its operation says so, and the balances are shown without it.
const ARRIVALS = `
  WITH read AS (SELECT * FROM unnest($2::int[], $3::numeric[]) AS chain (chain_id, block)),
  moving AS (
    SELECT o.request->'destination' AS destination, l.*
    FROM operation o JOIN operation_leg l ON l.project_id = o.project_id AND l.operation_id = o.id
    WHERE o.project_id = $1 AND o.status = 'processing'
      AND l.state IN ('submitted', 'source_seen', 'bridging', 'filled_seen', 'refunding', 'refund_seen')),
  coming AS (
    SELECT m.destination->>'recipient' AS owner, m.dest_chain_id AS chain_id, m.destination->'token'->>'address' AS token,
      coalesce(m.received_base, (m.route_leg->>'minOutBase')::numeric) AS amount
    FROM moving m JOIN read ON read.chain_id = m.dest_chain_id
    WHERE m.state IN ('submitted', 'bridging')
      OR (m.state = 'source_seen' AND m.source_block > read.block)
      OR (m.state = 'filled_seen' AND m.dest_block > read.block)
    UNION ALL
    SELECT m.wallet_address, m.source_chain_id,
      coalesce(m.refund_token->>'address', nullif(step->'from'->>'address', 'native'), 'wrapped'),
      coalesce(m.refunded_base, (step->>'amountInBase')::numeric)
    FROM moving m JOIN read ON read.chain_id = m.source_chain_id
    CROSS JOIN LATERAL jsonb_path_query_first(m.route_leg, '$.steps[*] ? (@.kind == "bridge")') AS step
    WHERE m.state = 'refunding' OR (m.state = 'refund_seen' AND m.refund_block > read.block))
  SELECT owner, chain_id, lower(token) AS token, sum(amount)::text AS amount
  FROM coming GROUP BY owner, chain_id, lower(token) HAVING sum(amount) IS NOT NULL`;

/** The amounts that the project's operations bring to addresses, which may be those of others, and that balances of these blocks do not include. */
export const arrivalsOf = async (
  sql: SqlReader,
  projectId: string,
  at: readonly { readonly chainId: number; readonly blockNumber: bigint }[],
): Promise<Arrival[]> => {
  const rows = await sql.query<{ owner: string; chain_id: number; token: string; amount: string }>(ARRIVALS, [
    projectId,
    at.map(({ chainId }) => chainId),
    at.map(({ blockNumber }) => blockNumber.toString()),
  ]);
  return rows.map(({ owner, chain_id, token, amount }) => ({
    owner,
    chainId: chain_id,
    token,
    amountBase: BigInt(amount),
  }));
};
