import type { SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import {
  base,
  bool,
  int,
  nullable,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";
import { inChunks } from "./repository";
import { IS_OURS } from "./wallet-repository";

// Reads the payments of the project's operations that may explain transfers into its wallets.

const SEEN = {
  projectId: text,
  chainId: int,
  txHash: nullable(text),
  walletAddress: text,
  /** Lower-case address, or `native`. */
  token: text,
  sender: nullable(text),
  detectedAt: time,
};

/** Transfers as rows in a statement; `n` is the position of the transfer in the list. */
const seenTransfers = table({ n: int, ...SEEN });
const transferRows = table({ ...SEEN, amountBase: base });

export type SeenTransfer = RowOf<typeof transferRows>;

const openHints = table({
  n: int,
  /** True when the sender is a wallet for which the service signs in this project. */
  isOwnSender: bool,
  /**
   * True when an operation that was accepted before the transfer was seen, and is still in
   * progress, may explain the transfer.
   */
  mayBeOwn: bool,
});

const amounts = table({ n: int, amountBase: base, isUsed: bool });

export interface Hints extends Omit<RowOf<typeof openHints>, "n"> {
  /**
   * The amounts of the transfer's token that operations paid into its wallet in its transaction,
   * one for each leg or step.
   */
  readonly explained: readonly bigint[];
  /**
   * Amounts that are already attributed to stored transfers of the project, and cannot explain
   * another transfer.
   */
  readonly used: readonly bigint[];
}

const SOURCE_TOKEN = raw(
  "lower(o.request->'sources'->((l.route_leg->>'sourceIndex')::int)->'token'->>'address')",
);
const DESTINATION_TOKEN = raw("lower(o.request->'destination'->'token'->>'address')");
const RECIPIENT = raw("o.request->'destination'->>'recipient'");

type NumberedTransfer = RowOf<typeof seenTransfers>;

/**
 * Selects whether an operation in progress may explain a transfer. The transaction of an operation
 * is stored with its leg before the leg ends. So once every operation that was accepted before the
 * transfer was seen has ended, `explainingAmounts` explains every transfer that the project made.
 * A leg that waits for a person may still bring money, but only to the leg's source wallet and to
 * the wallet that executes the leg.
 */
const openOperations = (transfers: readonly NumberedTransfer[]): Statement => sql`
  WITH seen AS MATERIALIZED (
    SELECT * FROM ${seenTransfers.list(transfers)} AS numbered
  ), projects AS MATERIALIZED (
    SELECT DISTINCT project_id FROM seen
  ), open_leg AS MATERIALIZED (
    SELECT o.project_id, o.accepted_at, l.source_chain_id, l.wallet_address,
      e.address AS executor, l.dest_chain_id, ${RECIPIENT} AS recipient,
      ${DESTINATION_TOKEN} AS token
    FROM projects p
    JOIN operation o
      ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l
      ON l.operation_id = o.id AND l.state NOT IN ('completed', 'failed', 'refunded')
    LEFT JOIN wallet e ON e.id = l.executor_wallet_id
  ), open_private AS MATERIALIZED (
    SELECT s.project_id, s.chain_id, t.created_at, t.to_address,
      lower(t.token_out->>'address') AS token
    FROM projects p
    JOIN operation o
      ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t
      ON t.project_id = o.project_id AND t.operation_id = o.id AND t.to_address IS NOT NULL
    JOIN privacy_step s
      ON s.project_id = o.project_id
      AND s.operation_id = o.id
      AND s.state NOT IN ('completed', 'failed')
  )
  SELECT i.n,
    EXISTS (
      SELECT 1 FROM wallet w
      WHERE w.project_id = i.project_id AND w.address = i.sender AND ${IS_OURS}
    ) AS "isOwnSender",
    EXISTS (
      SELECT 1 FROM open_leg l
      WHERE l.project_id = i.project_id
        AND l.accepted_at <= i.detected_at
        AND (
          (
            l.dest_chain_id = i.chain_id
            AND l.recipient = i.wallet_address
            AND l.token = i.token
          )
          OR (
            l.source_chain_id = i.chain_id
            AND i.wallet_address IN (l.wallet_address, l.executor)
          )
        )
    ) OR EXISTS (
      SELECT 1 FROM open_private s
      WHERE s.project_id = i.project_id
        AND s.chain_id = i.chain_id
        AND s.to_address = i.wallet_address
        AND s.token = i.token
        AND s.created_at <= i.detected_at
    ) AS "mayBeOwn"
  FROM seen i`;

/**
 * The amounts that legs and private steps brought in the transactions of the transfers. The
 * recipient gets the received amount, the source wallet gets the refund, and the wallet that
 * executes the leg gets at most the amount that the leg pays in.
 */
const explainingAmounts = (transfers: readonly NumberedTransfer[]): Statement => sql`
  WITH seen AS MATERIALIZED (
    SELECT * FROM ${seenTransfers.list(transfers)} AS numbered
  )
  SELECT ${amounts.columns("found")}
  FROM (
    SELECT i.n, l.received_base AS amount_base, false AS is_used
    FROM seen i
    JOIN operation_leg l ON l.dest_tx_hash = i.tx_hash AND l.dest_chain_id = i.chain_id
    JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
    WHERE ${RECIPIENT} = i.wallet_address
      AND ${DESTINATION_TOKEN} = i.token
      AND l.received_base > 0
    UNION ALL
    SELECT i.n, l.received_base, false
    FROM seen i
    JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
    JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
    WHERE l.dest_tx_hash IS NULL
      AND l.dest_chain_id = i.chain_id
      AND ${RECIPIENT} = i.wallet_address
      AND ${DESTINATION_TOKEN} = i.token
      AND l.received_base > 0
    UNION ALL
    SELECT i.n, l.amount_base, false
    FROM seen i
    JOIN operation_leg l ON l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
    JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
    LEFT JOIN wallet e ON e.id = l.executor_wallet_id
    WHERE i.wallet_address IN (l.wallet_address, e.address) AND ${SOURCE_TOKEN} = i.token
    UNION ALL
    SELECT i.n, l.refunded_base, false
    FROM seen i
    JOIN operation_leg l ON l.refund_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id
    JOIN operation o ON o.id = l.operation_id AND o.project_id = i.project_id
    WHERE l.wallet_address = i.wallet_address
      AND lower(l.refund_token->>'address') = i.token
      AND l.refunded_base > 0
    UNION ALL
    SELECT i.n, s.received_base, false
    FROM seen i
    JOIN privacy_step s
      ON s.project_id = i.project_id AND s.chain_id = i.chain_id AND s.tx_hash = i.tx_hash
    JOIN privacy_transfer t
      ON t.project_id = s.project_id AND t.operation_id = s.operation_id
    WHERE t.to_address = i.wallet_address
      AND lower(t.token_out->>'address') = i.token
      AND s.received_base > 0
    UNION ALL
    SELECT i.n, d.amount_base, true
    FROM seen i
    JOIN deposit d
      ON d.project_id = i.project_id AND d.chain_id = i.chain_id AND d.tx_hash = i.tx_hash
    WHERE d.state = 'own' AND d.wallet_address = i.wallet_address AND d.token = i.token
  ) AS found`;

/** Returns the hints in the order of `incoming`. */
export const readHints = async (
  db: SqlReader,
  incoming: readonly SeenTransfer[],
): Promise<readonly Hints[]> => {
  const hints: Hints[] = [];
  for (const chunk of inChunks(incoming)) {
    const transfers = chunk.map((transfer, n) => ({ ...transfer, n }));
    const open = await openHints.all(db, openOperations(transfers));
    const found = await amounts.all(db, explainingAmounts(transfers));
    const rows = chunk.map(() => ({
      isOwnSender: false,
      mayBeOwn: true,
      explained: [] as bigint[],
      used: [] as bigint[],
    }));
    for (const { n, ...hint } of open) Object.assign(rows[n] ?? {}, hint);
    for (const { n, amountBase, isUsed } of found)
      rows[n]?.[isUsed ? "used" : "explained"].push(amountBase);
    hints.push(...rows);
  }
  return hints;
};
