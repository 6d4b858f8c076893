import type { SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { address, nullable, type RowOf, table, text, time } from "@/lib/platform/db/table";
import type { EvmAddress } from "@/lib/core/evm";
import { DEFAULT_MODE, type ScreeningMode, stricterMode } from "@/lib/trust/screening/service";

const WALLET = {
  projectId: text,
  id: text,
  address,
  createdAt: time,
};

const wallets = table(WALLET);
/**
 * A wallet with the screening modes of its project's newest policy and of its own newest policy.
 */
const walletsWithModes = table({
  ...WALLET,
  projectMode: nullable(text),
  walletMode: nullable(text),
});

/** A wallet for which deposits are searched: the service signs for it with a key of its project. */
export interface DepositWallet extends RowOf<typeof wallets> {
  /** How strictly senders are screened, by the wallet's policy and the project's. */
  readonly mode: ScreeningMode;
}

/**
 * SQL: whether the service signs for the wallet `w`. Linked wallets and smart accounts with an
 * external owner are left out: the owner can spend without the service, so nothing could be held
 * back, and several projects may link the same address. A key belongs to only one project, so only
 * that project sees and holds back the money that its wallets receive.
 */
export const IS_OURS = raw(
  "w.kind IN ('treasury', 'smart_account') AND w.key_id IS NOT NULL AND w.unlinked_at IS NULL",
);

/** SQL: the mode in the newest policy of a scope. `holder` is a column of the wallet `w`. */
const newestMode = (scope: "project" | "wallet", holder: string): Statement => sql`
  (
    SELECT p.rules->>'screening' FROM policy p
    WHERE p.project_id = w.project_id AND p.scope = ${raw(`'${scope}'`)}
      AND p.subject_id = ${raw(holder)}
    ORDER BY p.version DESC
    LIMIT 1
  )`;

const COLUMNS = sql`
  ${wallets.columns("w")},
  ${newestMode("project", "w.project_id")} AS "projectMode",
  ${newestMode("wallet", "w.id")} AS "walletMode"`;

const MODES: readonly ScreeningMode[] = ["off", "block_hits", "require_clear"];
const modeOf = (stored: string | null): ScreeningMode | undefined =>
  MODES.find((mode) => mode === stored);

const withMode = ({
  projectMode,
  walletMode,
  ...wallet
}: RowOf<typeof walletsWithModes>): DepositWallet => {
  const project = modeOf(projectMode) ?? DEFAULT_MODE;
  return { ...wallet, mode: stricterMode(project, modeOf(walletMode) ?? project) };
};

const addresses = wallets.pick("address");

/**
 * The addresses of the wallets for which deposits are searched; null when there are more than
 * `most`.
 */
export const addressesUpTo = async (
  db: SqlReader,
  most: number,
): Promise<readonly EvmAddress[] | null> => {
  const rows = await addresses.all(
    db,
    sql`
      SELECT DISTINCT ${addresses.columns("w")} FROM wallet w
      WHERE ${IS_OURS}
      LIMIT ${most + 1}::int`,
  );
  return rows.length > most ? null : rows.map((row) => row.address);
};

export const walletsAt = async (
  db: SqlReader,
  at: readonly string[],
): Promise<DepositWallet[]> => {
  if (at.length === 0) return [];
  const rows = await walletsWithModes.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM wallet w
      WHERE w.address = ANY(${at}::text[]) AND ${IS_OURS}`,
  );
  return rows.map(withMode);
};

export const walletsAfter = async (
  db: SqlReader,
  afterId: string,
  limit: number,
): Promise<DepositWallet[]> => {
  const rows = await walletsWithModes.all(
    db,
    sql`
      SELECT ${COLUMNS} FROM wallet w
      WHERE w.id > ${afterId} AND ${IS_OURS}
      ORDER BY w.id
      LIMIT ${limit}::int`,
  );
  return rows.map(withMode);
};
