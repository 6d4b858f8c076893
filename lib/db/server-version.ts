import type pg from "pg";

const VERSION_MIN = 15;

/** Why this PostgreSQL cannot be used, or null. */
export const serverVersionFault = async (client: Pick<pg.ClientBase, "query">): Promise<string | null> => {
  const { rows } = await client.query<{ number: number; version: string }>(
    "SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version",
  );
  const [row] = rows;
  return row !== undefined && row.number < VERSION_MIN * 10_000
    ? `PostgreSQL ${String(VERSION_MIN)} or newer is needed, and DATABASE_URL names version ${row.version}`
    : null;
};
