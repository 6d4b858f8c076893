import { Client } from "pg";

const MINUTE_MS = 60_000;

/** Makes the last code that was mailed to verify this address a minute older: another may be sent only a minute after it. */
export const ageEmailCodes = async (email: string): Promise<void> => {
  const client = new Client({ connectionString: process.env.E2E_DATABASE_URL });
  await client.connect();
  try {
    await client.query(
      "UPDATE email_code SET created_at = created_at - $1 * interval '1 millisecond' WHERE email = $2",
      [MINUTE_MS, email],
    );
  } finally {
    await client.end();
  }
};
