/**
 * The archive state of each month. Each change is one commit, so a command that was killed can be
 * repeated.
 */
import type pg from "pg";
import { inTransaction, type Month } from "./tables";
import type { ArchiveManifest } from "./manifest";

/**
 * `written`: the files are complete. `removing` and `removed`: the month's rows are being removed,
 * or were removed. `restoring` and `restored`: the rows are being restored, or were restored.
 */
export type ArchiveState = "written" | "removing" | "removed" | "restoring" | "restored";

export interface StoredArchive {
  readonly state: ArchiveState;
  readonly manifestSha256: string;
}

export const readArchive = async (
  client: pg.Client,
  { name }: Month,
): Promise<StoredArchive | null> => {
  const { rows } = await client.query<StoredArchive>(
    `SELECT state, manifest_sha256 AS "manifestSha256" FROM archive_month WHERE month = $1`,
    [name],
  );
  return rows[0] ?? null;
};

/**
 * Whether the month ended at least `graceDays` ago by the database's clock. After that time nothing
 * writes events of the month.
 */
export const isClosed = async (
  client: pg.Client,
  { endsAt }: Month,
  graceDays: number,
): Promise<boolean> => {
  const { rows } = await client.query<{ closed: boolean }>(
    "SELECT now() > $1::timestamptz + $2::int * interval '1 day' AS closed",
    [endsAt, graceDays],
  );
  return rows[0]?.closed === true;
};

/**
 * Stores that the files of a month are complete. They replace the files of an earlier archive that
 * was restored.
 */
export const storeWritten = async (
  client: pg.Client,
  month: Month,
  manifestSha256: string,
): Promise<void> => {
  await client.query(
    `INSERT INTO archive_month (month, starts_at, ends_at, state, manifest_sha256, changed_at) VALUES ($1, $2, $3, 'written', $4, now())
     ON CONFLICT (month) DO UPDATE SET state = 'written', manifest_sha256 = $4, changed_at = now()`,
    [month.name, month.startsAt, month.endsAt, manifestSha256],
  );
};

const SET_STATE = "UPDATE archive_month SET state = $2, changed_at = now() WHERE month = $1";

export const setState = async (
  client: pg.Client,
  { name }: Month,
  state: ArchiveState,
): Promise<void> => {
  await client.query(SET_STATE, [name, state]);
};

/**
 * Marks the month, so that readers know that its events may be missing. A transaction that queues
 * deliveries reads the marks after its inserts. The lock waits for transactions that have inserted
 * but not committed, so their deliveries are seen before an event is removed.
 */
export const beginRemoval = (
  client: pg.Client,
  month: Month,
  manifest: ArchiveManifest,
): Promise<void> =>
  inTransaction(client, "BEGIN", async () => {
    await client.query("LOCK TABLE webhook_delivery IN SHARE ROW EXCLUSIVE MODE");
    await client.query(SET_STATE, [month.name, "removing"]);
    await client.query(
      `INSERT INTO archived_events (project_id, month, first_sequence, last_sequence, file)
       SELECT project_id, $1, first, last, $2 FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS p (project_id, first, last)
       ON CONFLICT (project_id, month) DO UPDATE SET first_sequence = EXCLUDED.first_sequence, last_sequence = EXCLUDED.last_sequence`,
      [
        month.name,
        `${month.name}/event.csv.gz`,
        manifest.projects.map(({ projectId }) => projectId),
        manifest.projects.map(({ first }) => first),
        manifest.projects.map(({ last }) => last),
      ],
    );
  });

/**
 * Ends the restore of a month after all of its rows are inserted. `GET /events` then no longer
 * names the month's files.
 */
export const endRestore = (client: pg.Client, month: Month): Promise<void> =>
  inTransaction(client, "BEGIN", async () => {
    await client.query(SET_STATE, [month.name, "restored"]);
    await client.query("DELETE FROM archived_events WHERE month = $1", [month.name]);
  });
