/** The connection of `npm run archive`. One command at a time works on archives. */
import pg from "pg";
import { createLayout } from "@/lib/db/layout";
import { connectionOf } from "@/lib/db/limits";

/** Statements read whole tables, and files are written between two of them. */
const LIMITS = { idleInTransactionMs: 600_000, lockMs: 10_000, statementMs: 0 };
/** The key of an advisory lock: any number that no other lock uses. */
const LOCK = 0x43_57_41_52;
const LOCK_NOT_AVAILABLE = "55P03";

export interface Column {
  readonly name: string;
  /** As the catalogue writes it, such as `timestamp(3) with time zone`. */
  readonly type: string;
}

/** Waits a little, because a server takes a moment to notice that the connection of a killed command has ended. */
const takeLock = async (client: pg.Client): Promise<void> => {
  await client.query("SELECT pg_advisory_lock($1::bigint)", [LOCK]).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
    throw new Error("Another `npm run archive` is at work on this database.", { cause: error });
  });
};

/** @throws Error when another command works on archives */
export const withSession = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ ...connectionOf(url, LIMITS), application_name: "causeway archive" });
  client.on("error", () => undefined); // The statement that waits reports it.
  await client.connect();
  try {
    // Values are compared by their text.
    await client.query(
      "SET TIME ZONE 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1",
    );
    await takeLock(client);
    await createLayout(client)();
    return await work(client);
  } finally {
    await client.end();
  }
};

export const inTransaction = async <T>(client: pg.Client, begin: string, work: () => Promise<T>): Promise<T> => {
  await client.query(begin);
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
};

export const columnsOf = async (client: pg.Client, table: string): Promise<readonly Column[]> => {
  const { rows } = await client.query<Column>(
    `SELECT quote_ident(attname) AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  return rows;
};

export const schemaOf = async (client: pg.Client): Promise<string> => {
  const { rows } = await client.query<{ name: string | null }>(
    "SELECT max(migration_name) AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL",
  );
  return rows[0]?.name ?? "";
};
