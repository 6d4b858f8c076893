/** The wallets that deposits are looked for. */
import type { SqlReader } from "@/lib/db/sql";
import type { EvmAddress } from "@/lib/ports/routing";
import { DEFAULT_MODE, stricterMode, type ScreeningMode } from "@/lib/modules/screening/service";

/** A wallet that deposits are looked for: the service signs for it, with a key of its project. */
export interface DepositWallet {
  readonly projectId: string;
  readonly id: string;
  readonly address: EvmAddress;
  readonly createdAt: Date;
  /** How strictly senders are screened: by the wallet's policy and the project's. */
  readonly mode: ScreeningMode;
}

/**
 * Wallets that the service signs for. Linked wallets and smart accounts of their owners are left out: the owner spends from them without
 * the service, so nothing could be kept back, and one address may be in several projects. A key belongs to one project, which alone may
 * see what its wallets receive and keep it back.
 */
export const IS_OURS = "w.kind IN ('treasury', 'smart_account') AND w.key_id IS NOT NULL AND w.unlinked_at IS NULL";

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
const modeOf = (text: string | null): ScreeningMode | undefined => MODES.find((mode) => mode === text);

const parseWallet = ({ project_mode, wallet_mode, ...row }: WalletRow): DepositWallet => {
  const project = modeOf(project_mode) ?? DEFAULT_MODE;
  return { ...row, address: row.address as EvmAddress, mode: stricterMode(project, modeOf(wallet_mode) ?? project) };
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
