import { Client, type QueryResult } from "pg";

/** Runs a statement in the stack's database as the owner of the tables. */
export const query = async (
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult> => {
  const client = new Client({ connectionString: process.env.E2E_DATABASE_OWNER_URL });
  await client.connect();
  try {
    return await client.query(text, [...values]);
  } finally {
    await client.end();
  }
};

/**
 * Changes rows of the stack's database, to create states that would take minutes or that the devnet
 * never reaches.
 */
export const changeRows = async (text: string, values: readonly unknown[]): Promise<void> => {
  if ((await query(text, values)).rowCount === 0) throw new Error("No row was changed.");
};

/**
 * Simulates a busy database: locks the tables, so that all readers wait until the returned function
 * is called.
 */
export const holdTables = async (tables: readonly string[]): Promise<() => Promise<void>> => {
  const client = new Client({ connectionString: process.env.E2E_DATABASE_OWNER_URL });
  await client.connect();
  await client.query("BEGIN");
  for (const table of tables)
    await client.query(`LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
};
