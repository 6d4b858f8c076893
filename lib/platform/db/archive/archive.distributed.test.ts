/** The archive of a month whose ledger and operations lie on all nodes of a cluster. */
import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { archivedMonth, MONTH } from "@/lib/dev/testing/archived-month";
import { killNode, nodeOfProject, urlOfNode } from "@/lib/dev/testing/cluster-node";
import { recordStatements } from "@/lib/dev/testing/recorded-statements";
import { notOnOneShard, touches } from "@/lib/dev/testing/shard-tasks";
import { archiveMonth, checkMonth, restoreMonth } from "./archive";
import { ARCHIVED_TABLES } from "./tables";

const ENDED = 3;
const PROJECTS_MAX = 16;
const TIMEOUT_MS = 240_000;
const COPIED = ["operation", "event", "ledger_account", "ledger_transaction", "ledger_entry"];

const { pool, projectId, directory, request, rows, state } = await archivedMonth({
  ended: ENDED,
});

/**
 * Copies the month's rows to another project. The copied events get other ids, because the ids of
 * events are unique over all projects.
 */
const copyMonth = async (to: string): Promise<void> => {
  await pool.query("INSERT INTO project (id, name, created_at) VALUES ($1, 'copy', now())", [
    to,
  ]);
  for (const table of COPIED) {
    const { rows: columns } = await pool.query<{ name: string }>(
      "SELECT quote_ident(attname) AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'project_id'",
      [table],
    );
    const names = columns.map(({ name }) => name).join(", ");
    const values = columns
      .map(({ name }) => (table === "event" && name === "id" ? "id || $1" : name))
      .join(", ");
    await pool.query(
      `INSERT INTO ${table} (project_id, ${names}) SELECT $1, ${values} FROM ${table} WHERE project_id = $2`,
      [to, projectId],
    );
  }
};

const statements = recordStatements();
let projects = 1;
let nodes: readonly string[] = [];
beforeAll(async () => {
  const found = new Set([await nodeOfProject(pool, projectId)]);
  while (found.size < 2 && projects < PROJECTS_MAX) {
    const id = newId("project");
    await copyMonth(id);
    found.add(await nodeOfProject(pool, id));
    projects += 1;
  }
  nodes = [...found];
  if (nodes.length < 2) throw new Error("All projects lie on one node.");
});

interface Files {
  readonly files: readonly {
    readonly table: string;
    readonly rows: number;
    readonly sha256: string;
  }[];
}
const filesIn = (folder: string): Record<string, readonly [number, string]> => {
  const { files } = JSON.parse(
    readFileSync(`${folder}/${MONTH}/manifest.json`, "utf8"),
  ) as Files;
  return Object.fromEntries(
    files.map(({ table, rows: count, sha256 }) => [table, [count, sha256] as const]),
  );
};

let restart = (): Promise<void> => Promise.resolve();
afterEach(() => restart());

test(
  "a month of projects on all nodes is archived, comes back with the same rows, and has the same hashes when it is written again",
  async () => {
    const before = await rows();
    const moved = await archiveMonth(request);
    const counts = Object.fromEntries(
      moved.map(({ table, rows: count, moved: gone }) => [table, [count, gone]]),
    );
    expect(counts).toMatchObject({
      // The deliveries belong to the first project, and one of them keeps one of its events.
      event: [projects * (ENDED * 3 + 6), projects * (ENDED * 2 + 2) - 1],
      ledger_entry: [projects * 8, 0],
      ledger_transaction: [projects * 4, 0],
    });
    expect((await rows()).event).toHaveLength(
      (before.event?.length ?? 0) - projects * (ENDED * 2 + 2) + 1,
    );
    expect(await checkMonth(request)).toEqual([]);
    const found = [...statements.values()].filter(
      touches(ARCHIVED_TABLES.map(({ table }) => table)),
    );
    const archiving = found.filter(({ text }) =>
      /^(?:DECLARE|DELETE|SELECT (?:ARRAY|count))/.test(text),
    );
    expect(archiving.length).toBeGreaterThan(10);
    expect(await notOnOneShard(pool, archiving)).toEqual([]);

    await restoreMonth(request);
    expect([await rows(), await state()]).toEqual([before, "restored"]);
    const again = `${directory}-again`;
    await archiveMonth({ ...request, directory: again });
    expect(filesIn(again)).toEqual(filesIn(directory));
    await restoreMonth({ ...request, directory: again });
    expect(await rows()).toEqual(before);
  },
  TIMEOUT_MS,
);

test(
  "while a node is lost nothing is written and nothing leaves; the command is repeated once the node is back",
  async () => {
    const before = await rows();
    const killed = await killNode(await urlOfNode(nodes[0] ?? ""));
    restart = killed.restart;
    const other = { ...request, directory: `${directory}-lost` };
    await expect(archiveMonth(other)).rejects.toThrow();
    expect(await state()).toBe("restored");
    await killed.restart();
    expect(await rows()).toEqual(before);
    await archiveMonth(other);
    expect(filesIn(other.directory)).toEqual(filesIn(directory));

    await restoreMonth(other);
    const archive = () => archiveMonth(other);
    const second = await killNode(await urlOfNode(nodes[1] ?? ""));
    restart = second.restart;
    // This time the files exist, but the operations that the events name cannot be read.
    await expect(archive()).rejects.toThrow();
    await second.restart();
    // Events whose operations were checked before the failure may have been removed already.
    expect((await rows()).ledger_entry).toEqual(before.ledger_entry);
    await archive();
    await restoreMonth(other);
    expect(await rows()).toEqual(before);
  },
  TIMEOUT_MS,
);
