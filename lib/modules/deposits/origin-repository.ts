/** Reads the amounts by which the project's own operations explain transfers into its wallets. */
import type { SqlReader } from "@/lib/db/sql";
import { inChunks } from "./chunks";
import { IS_OURS } from "./match-repository";

/** A transfer into a wallet of a project. */
export interface Incoming {
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
  /** A wallet that the service signs for in this project sent it. */
  readonly isOwnSender: boolean;
  /** Something that was under way when it was seen may explain it, and has not ended. */
  readonly mayBeOwn: boolean;
  /** The amounts of this token that operations paid into this wallet in this transaction, one for each leg or step. */
  readonly explained: readonly bigint[];
  /** Explained amounts that are used up already: by transfers that are stored as the project's own. */
  readonly used: readonly bigint[];
}

const SOURCE_TOKEN = "lower(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')";
const DESTINATION_TOKEN = "lower(o.request->'destination'->'token'->>'address')";
const RECIPIENT = "o.request->'destination'->>'recipient'";

const ASKED = `asked AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS i (n int, project_id text, chain_id int, tx_hash text, wallet text, token text,
      sender text, detected_at timestamptz)
  ), asking AS MATERIALIZED (SELECT DISTINCT project_id FROM asked)`;

/**
 * An operation's transaction is stored with its leg before the leg ends. So once no operation that was accepted before the transfer was
 * seen is under way any more, every transfer of the project's own is explained by an amount in these tables. A leg that waits for a
 * person may still bring money to its own two wallets, and to no other.
 */
const OPEN = `
  WITH ${ASKED}, open_leg AS MATERIALIZED (
    SELECT o.project_id, o.accepted_at, l.source_chain_id, l.wallet_address, e.address AS executor, l.dest_chain_id,
      ${RECIPIENT} AS recipient, ${DESTINATION_TOKEN} AS token
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
 * The amounts that legs and private steps brought in these transactions: to the recipient its received amount, to the source wallet its refund,
 * and to the wallet that runs the source at most what it pays in, and what it swaps into before the bridge takes it.
 */
const EXPLAINED = `
  WITH ${ASKED}
  SELECT i.n, l.received_base::text AS amount, false AS used
  FROM asked i JOIN operation_leg l ON l.dest_tx_hash = i.tx_hash AND l.dest_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  WHERE ${RECIPIENT} = i.wallet AND ${DESTINATION_TOKEN} = i.token AND l.received_base > 0
  UNION ALL
  SELECT i.n, l.received_base::text, false
  FROM asked i JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  WHERE l.dest_tx_hash IS NULL AND l.dest_chain_id = i.chain_id AND ${RECIPIENT} = i.wallet AND ${DESTINATION_TOKEN} = i.token
    AND l.received_base > 0
  UNION ALL
  SELECT i.n, l.amount_base::text, false
  FROM asked i JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  LEFT JOIN wallet e ON e.id = l.executor_wallet_id
  WHERE i.wallet IN (l.wallet_address, e.address) AND ${SOURCE_TOKEN} = i.token
  UNION ALL
  SELECT i.n, s.step->>'amountInBase', false
  FROM asked i JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
  JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
  LEFT JOIN wallet e ON e.id = l.executor_wallet_id
  CROSS JOIN LATERAL jsonb_array_elements(l.route_leg->'steps') AS s (step)
  WHERE i.wallet IN (l.wallet_address, e.address) AND s.step->>'kind' = 'bridge' AND lower(s.step->'from'->>'address') = i.token
    AND ${SOURCE_TOKEN} <> i.token
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

const asJson = (incoming: readonly Incoming[]): string =>
  JSON.stringify(
    incoming.map((each, n) => ({
      ...{ n, project_id: each.projectId, chain_id: each.chainId, tx_hash: each.txHash },
      ...{ wallet: each.walletAddress, token: each.token, sender: each.sender, detected_at: each.detectedAt },
    })),
  );

/** In the order of `incoming`. */
export const readHints = async (sql: SqlReader, incoming: readonly Incoming[]): Promise<readonly Hints[]> => {
  const hints: Hints[] = [];
  for (const chunk of inChunks(incoming)) {
    const json = asJson(chunk);
    const open = await sql.query<{ n: number } & Pick<Hints, "isOwnSender" | "mayBeOwn">>(OPEN, [json]);
    const amounts = await sql.query<{ n: number; amount: string; used: boolean }>(EXPLAINED, [json]);
    const rows = chunk.map(() => ({
      isOwnSender: false,
      mayBeOwn: true,
      explained: [] as bigint[],
      used: [] as bigint[],
    }));
    for (const { n, ...found } of open) Object.assign(rows[n] ?? {}, found);
    for (const { n, amount, used } of amounts) rows[n]?.[used ? "used" : "explained"].push(BigInt(amount));
    hints.push(...rows);
  }
  return hints;
};
