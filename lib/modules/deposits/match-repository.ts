/** To which wallets transfers go, and whether they are moves of the project's own. */
import type { SqlReader } from "@/lib/db/sql";
import type { EvmAddress } from "@/lib/ports/routing";
import { DEFAULT_MODE, stricterMode, type ScreeningMode } from "@/lib/modules/screening/service";

/** A wallet that deposits are looked for: the service signs for it, with a key of its project. */
export interface DepositWallet {
  readonly projectId: string;
  readonly id: string;
  readonly address: EvmAddress;
  /** How strictly senders are screened: by the wallet's policy and the project's. */
  readonly mode: ScreeningMode;
}

/**
 * Wallets that the service signs for. Linked wallets and smart accounts of their owners are left out: the owner spends from them without
 * the service, so nothing could be kept back, and one address may be in several projects. A key belongs to one project, which alone may
 * see what its wallets receive and keep it back.
 */
const IS_OURS = "w.kind IN ('treasury', 'smart_account') AND w.key_id IS NOT NULL AND w.unlinked_at IS NULL";

const NEWEST_MODE = (scope: "project" | "wallet", subject: string): string => `
  (SELECT p.rules->>'screening' FROM policy p WHERE p.project_id = w.project_id AND p.scope = '${scope}'
    AND p.subject_id = ${subject} ORDER BY p.version DESC LIMIT 1)`;

const WALLET_COLUMNS = `w.project_id AS "projectId", w.id, w.address,
  ${NEWEST_MODE("project", "w.project_id")} AS project_mode, ${NEWEST_MODE("wallet", "w.id")} AS wallet_mode`;

const SOME_ADDRESSES = `SELECT DISTINCT w.address FROM wallet w WHERE ${IS_OURS} LIMIT $1::int`;

const BY_ADDRESS = `SELECT ${WALLET_COLUMNS} FROM wallet w WHERE w.address = ANY($1::text[]) AND ${IS_OURS}`;

const AFTER = `SELECT ${WALLET_COLUMNS} FROM wallet w WHERE w.id > $1 AND ${IS_OURS} ORDER BY w.id LIMIT $2::int`;

interface WalletRow {
  readonly projectId: string;
  readonly id: string;
  readonly address: string;
  readonly project_mode: string | null;
  readonly wallet_mode: string | null;
}

const MODES: readonly ScreeningMode[] = ["off", "block_hits", "require_clear"];
const modeOf = (text: string | null): ScreeningMode | undefined => MODES.find((mode) => mode === text);

const parseWallet = ({ projectId, id, address, project_mode, wallet_mode }: WalletRow): DepositWallet => {
  const project = modeOf(project_mode) ?? DEFAULT_MODE;
  return { projectId, id, address: address as EvmAddress, mode: stricterMode(project, modeOf(wallet_mode) ?? project) };
};

/** All addresses, or null when there are more than `most`. */
export const addressesUpTo = async (sql: SqlReader, most: number): Promise<readonly EvmAddress[] | null> => {
  const rows = await sql.query<{ address: EvmAddress }>(SOME_ADDRESSES, [most + 1]);
  return rows.length > most ? null : rows.map(({ address }) => address);
};

/** The wallets with these addresses. */
export const walletsAt = async (sql: SqlReader, addresses: readonly string[]): Promise<DepositWallet[]> =>
  addresses.length === 0 ? [] : (await sql.query<WalletRow>(BY_ADDRESS, [addresses])).map(parseWallet);

/** A page of all wallets, by id. */
export const walletsAfter = async (sql: SqlReader, afterId: string, limit: number): Promise<DepositWallet[]> =>
  (await sql.query<WalletRow>(AFTER, [afterId, limit])).map(parseWallet);

/** A transfer into a wallet of a project. */
interface Incoming {
  readonly projectId: string;
  readonly chainId: number;
  readonly txHash: string | null;
  readonly blockNumber: bigint;
  readonly walletAddress: string;
  readonly sender: string | null;
  readonly detectedAt: Date;
}

/** `open`: something that was under way when it was seen may explain it, and has not ended. */
export type Origin = "own" | "open" | "outside";

/**
 * An operation's transaction is stored with its leg before the leg ends. So once no operation that was accepted before the transfer was
 * seen is under way any more, every transfer of the project's own has its transaction in one of these tables.
 */
const ORIGINS = `
  WITH incoming AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS i (n int, project_id text, chain_id int, tx_hash text, block_number bigint,
      wallet text, sender text, detected_at timestamptz)
  ), open_leg AS (
    SELECT o.project_id, o.accepted_at, l.source_chain_id, l.wallet_address, l.dest_chain_id,
      o.request->'destination'->>'recipient' AS recipient
    FROM (SELECT DISTINCT project_id FROM incoming) p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN operation_leg l ON l.operation_id = o.id AND l.state NOT IN ('completed', 'failed', 'refunded')
  ), open_private AS (
    SELECT s.project_id, s.chain_id, t.created_at
    FROM (SELECT DISTINCT project_id FROM incoming) p
    JOIN operation o ON o.project_id = p.project_id AND o.status IN ('pending', 'processing')
    JOIN privacy_transfer t ON t.project_id = o.project_id AND t.operation_id = o.id
    JOIN privacy_step s ON s.project_id = o.project_id AND s.operation_id = o.id AND s.state NOT IN ('completed', 'failed')
  ), open_batch AS (
    SELECT b.project_id, b.chain_id, b.from_block
    FROM (SELECT DISTINCT project_id FROM incoming) p
    JOIN payout y ON y.project_id = p.project_id AND y.status = 'processing'
    JOIN wallet_payout_batch b ON b.project_id = y.project_id AND b.payout_id = y.id AND b.state IN ('signed', 'sent', 'mined')
  )
  SELECT i.n, CASE
    WHEN EXISTS (SELECT 1 FROM wallet w WHERE w.project_id = i.project_id AND w.address = i.sender AND ${IS_OURS})
      OR EXISTS (SELECT 1 FROM operation_leg l JOIN operation o ON o.id = l.operation_id
        WHERE l.source_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id AND o.project_id = i.project_id)
      OR EXISTS (SELECT 1 FROM operation_leg l JOIN operation o ON o.id = l.operation_id
        WHERE l.dest_tx_hash = i.tx_hash AND l.dest_chain_id = i.chain_id AND o.project_id = i.project_id)
      OR EXISTS (SELECT 1 FROM operation_leg l JOIN operation o ON o.id = l.operation_id
        WHERE l.refund_tx_hash = i.tx_hash AND l.source_chain_id = i.chain_id AND o.project_id = i.project_id)
      OR EXISTS (SELECT 1 FROM wallet_payout_batch b
        WHERE b.tx_hash = i.tx_hash AND b.chain_id = i.chain_id AND b.project_id = i.project_id)
      OR EXISTS (SELECT 1 FROM privacy_step s
        WHERE s.project_id = i.project_id AND s.chain_id = i.chain_id AND s.tx_hash = i.tx_hash) THEN 'own'
    WHEN EXISTS (SELECT 1 FROM open_leg l WHERE l.project_id = i.project_id AND l.accepted_at <= i.detected_at
        AND ((l.dest_chain_id = i.chain_id AND l.recipient = i.wallet)
          OR (l.source_chain_id = i.chain_id AND l.wallet_address = i.wallet)))
      OR EXISTS (SELECT 1 FROM open_private s
        WHERE s.project_id = i.project_id AND s.chain_id = i.chain_id AND s.created_at <= i.detected_at)
      OR EXISTS (SELECT 1 FROM open_batch b
        WHERE b.project_id = i.project_id AND b.chain_id = i.chain_id AND b.from_block <= i.block_number) THEN 'open'
    ELSE 'outside' END AS origin
  FROM incoming i`;

/** In the order of `incoming`. */
export const originsOf = async (sql: SqlReader, incoming: readonly Incoming[]): Promise<readonly Origin[]> => {
  if (incoming.length === 0) return [];
  const rows = incoming.map((each, n) => ({
    ...{ n, project_id: each.projectId, chain_id: each.chainId, tx_hash: each.txHash },
    ...{ block_number: each.blockNumber.toString(), wallet: each.walletAddress, sender: each.sender },
    detected_at: each.detectedAt,
  }));
  const found = await sql.query<{ n: number; origin: Origin }>(ORIGINS, [JSON.stringify(rows)]);
  const byPlace = new Map(found.map(({ n, origin }) => [n, origin]));
  return incoming.map((_, n) => byPlace.get(n) ?? "open");
};
