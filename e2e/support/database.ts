import { Client } from "pg";

/** Changes rows of the stack's database, for states that would take minutes, or that the devnet does not bring about. */
export const changeRows = async (text: string, values: readonly unknown[]): Promise<void> => {
  const client = new Client({ connectionString: process.env.E2E_DATABASE_URL });
  await client.connect();
  try {
    const { rowCount } = await client.query(text, [...values]);
    if (rowCount === 0) throw new Error("No row was changed.");
  } finally {
    await client.end();
  }
};
