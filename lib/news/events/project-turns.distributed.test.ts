/**
 * Numbering the events of one project on a cluster, whose coordinator and nodes commit one after
 * another.
 */
import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { releaseEndpoint } from "@/lib/money/webhooks/lane-repository";
import { testDatabase } from "@/lib/dev/testing/database";
import { peekDue } from "@/lib/money/notifications/due-repository";
import { sequenceProject } from "./repository";
import { recordEventsOn } from "./service";

const { database } = await testDatabase();
const { pool } = database;
const projectId = newId("project");

const record = (objectId: string): Promise<void> =>
  database.rawTransaction((sql) =>
    recordEventsOn(sql, [
      { projectId, type: "member.joined", objectId, data: {}, at: new Date() },
    ]),
  );

test("the first event of a project gets number 1", async () => {
  await record("usr_1");
  const range = await database.rawTransaction((sql) =>
    sequenceProject(sql, { projectId, limit: 10 }),
  );
  expect(range).toEqual({ projectId, from: 1, to: 1 });
});

test("a project is numbered by one instance at a time, and others do not wait", async () => {
  await record("usr_2");
  await database.rawTransaction(async (sql) => {
    expect(await sequenceProject(sql, { projectId, limit: 10 })).toEqual({
      projectId,
      from: 2,
      to: 2,
    });
    const at = await database.rawTransaction((other) =>
      sequenceProject(other, { projectId, limit: 10 }),
    );
    expect(at).toBeNull();
  });
});

test("an endpoint whose last event its node has not committed yet is due again; one that has all of them is not", async () => {
  const release = async (lastSequence: number): Promise<boolean> => {
    const endpoint = newId("webhookEndpoint");
    await pool.query(
      `INSERT INTO webhook_endpoint (project_id, id, url, events, payload, include_private, status, concurrency, created_by, created_at, updated_at)
       VALUES ($1, $2, 'https://x.test', '{*}', 'full', false, 'active', 1, 'test', now(), now())`,
      [projectId, endpoint],
    );
    await pool.query(
      "INSERT INTO webhook_lane (project_id, endpoint_id, last_sequence, due_at, locked_by) VALUES ($1, $2, $3, now(), 'me')",
      [projectId, endpoint, lastSequence],
    );
    const end = { workerId: "me", now: new Date() };
    await database.rawTransaction((sql) =>
      releaseEndpoint(sql, { projectId, endpointId: endpoint }, end),
    );
    const { rows } = await pool.query<{ due: boolean; locked: boolean }>(
      "SELECT due_at IS NOT NULL AS due, locked_by IS NOT NULL AS locked FROM webhook_lane WHERE endpoint_id = $1",
      [endpoint],
    );
    expect(rows[0]?.locked).toBe(false);
    return rows[0]?.due === true;
  };
  expect(await release(2)).toBe(false);
  expect(await release(3)).toBe(true);
});

test("an event that its node has not committed yet stays in the queue of notifications", async () => {
  await pool.query(
    "INSERT INTO notification_due (project_id, sequence) VALUES ($1, 2), ($1, 3)",
    [projectId],
  );
  const peeked = await peekDue(sqlOn(pool), 10);
  expect(peeked.map(({ sequence }) => sequence)).toEqual([2]);
});
