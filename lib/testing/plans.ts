/** How PostgreSQL would find the rows of statements in tables that have very many. */
import type pg from "pg";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const SCANS: ReadonlySet<string> = new Set(["Seq Scan", "Index Scan", "Index Only Scan"]);

/** A scan that reads the whole table, or the whole of an index of it. */
const isWhole = (node: PlanNode): boolean => SCANS.has(node["Node Type"]) && node["Index Cond"] === undefined;

/** @param text a statement with parameters */
const planOf = async (client: pg.PoolClient, text: string): Promise<PlanNode> => {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
  await client.query(`PREPARE planned AS ${text}`);
  const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (FORMAT JSON) EXECUTE planned${values}`,
  );
  await client.query("DEALLOCATE planned");
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL gave no plan.");
  return row["QUERY PLAN"][0].Plan;
};

/** As if each page of the tables had a million rows, because those of a test are so small that PostgreSQL reads them as a whole. */
const AS_IF_LARGE = "UPDATE pg_class SET relpages = 1, reltuples = 1000000 WHERE oid = ANY($1::regclass[])";

/** The statements that read one of the tables as a whole. @param texts without values */
export const scansOf = async (
  pool: pg.Pool,
  texts: readonly string[],
  tables: readonly string[],
): Promise<{ readonly text: string; readonly scans: readonly string[] }[]> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off");
    await client.query(AS_IF_LARGE, [[...tables]]);
    const found = [];
    for (const text of texts) {
      const nodes = nodesOf(await planOf(client, text));
      const scans = nodes.filter((node) => tables.includes(node["Relation Name"] ?? "") && isWhole(node));
      if (scans.length > 0)
        found.push({
          text,
          scans: scans.map((node) => `${node["Node Type"]} ${node["Relation Name"] ?? ""} ${node["Index Name"] ?? ""}`),
        });
    }
    return found;
  } finally {
    await client.query("ROLLBACK");
    client.release(true);
  }
};
