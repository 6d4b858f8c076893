import pg from "pg";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { recordAudit } from "@/lib/news/audit/service";
import { ownerUrlOf } from "./owner-urls";

/** Changes rows like somebody who controls the whole server, without triggers. */
export const changeUnguarded = async (
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<void> => {
  const client = new pg.Client({ connectionString: ownerUrlOf(url) });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica");
    await client.query(text, [...values]);
  } finally {
    await client.end();
  }
};

/** Records rows of the audit log one after the other. @returns their ids */
export const recordAuditRows = async (
  database: Database,
  projectId: string | null,
  count: number,
): Promise<string[]> => {
  const subjects = Array.from({ length: count }, () => newId("payout"));
  for (const subject of subjects)
    await database.transaction((tx) =>
      recordAudit(tx, {
        projectId,
        actor: "usr_1",
        action: "payout.created",
        subject,
        data: { total: "1.5", items: 2, note: null, codes: ["b", "a"] },
        request: null,
        at: new Date(),
      }),
    );
  const { rows } = await database.pool.query<{ id: string }>(
    "SELECT id FROM audit_event WHERE subject = ANY($1) ORDER BY id",
    [subjects],
  );
  return rows.map(({ id }) => id);
};
