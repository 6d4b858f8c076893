import type { Sql, SqlReader } from "@/lib/db/sql";

export interface GasAlert {
  readonly chainId: number;
  readonly account: "executor" | "paymaster";
  /** Coins of the chain at the last reading. */
  readonly balance: string;
  readonly since: Date;
  /** The last project whose people were notified. */
  readonly toldProjectId: string;
}

const RAISE = `
  INSERT INTO gas_alert (chain_id, account, balance, since) VALUES ($1::int, $2, $3, $4::timestamptz)
  ON CONFLICT (chain_id, account) DO UPDATE SET balance = EXCLUDED.balance`;

/** Opens the alert, unless it is open. */
export const raiseAlert = async (
  sql: Sql,
  { chainId, account, balance, since }: Omit<GasAlert, "toldProjectId">,
): Promise<void> => {
  await sql.change(RAISE, [chainId, account, balance, since.toISOString()]);
};

export const endAlert = async (
  sql: Sql,
  { chainId, account }: Pick<GasAlert, "chainId" | "account">,
): Promise<void> => {
  await sql.change("DELETE FROM gas_alert WHERE chain_id = $1::int AND account = $2", [chainId, account]);
};

const OPEN = `
  SELECT chain_id AS "chainId", account, balance, since, told_project_id AS "toldProjectId" FROM gas_alert
  ORDER BY chain_id, account`;

/** The alerts that have not ended. */
export const listAlerts = (sql: SqlReader): Promise<readonly GasAlert[]> => sql.query<GasAlert>(OPEN, []);

const CLAIM = `
  SELECT chain_id AS "chainId", account, balance, since, told_project_id AS "toldProjectId" FROM gas_alert
  WHERE told_at IS NULL ORDER BY chain_id, account LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Locks an alert that not all projects were notified of. */
export const claimAlert = async (sql: Sql): Promise<GasAlert | null> =>
  (await sql.query<GasAlert>(CLAIM, []))[0] ?? null;

const NEXT_PROJECTS = "SELECT id FROM project WHERE id > $1 ORDER BY id LIMIT $2::int";

export const nextProjects = async (sql: SqlReader, after: string, limit: number): Promise<readonly string[]> =>
  (await sql.query<{ id: string }>(NEXT_PROJECTS, [after, limit])).map(({ id }) => id);

const ADVANCE = `
  UPDATE gas_alert SET told_project_id = $3, told_at = $4::timestamptz WHERE chain_id = $1::int AND account = $2`;

/** Notes the last project whose people were notified. @param toldAt null: more projects are left */
export const advanceAlert = async (
  sql: Sql,
  { chainId, account }: GasAlert,
  told: { readonly projectId: string; readonly toldAt: Date | null },
): Promise<void> => {
  await sql.change(ADVANCE, [chainId, account, told.projectId, told.toldAt?.toISOString() ?? null]);
};
