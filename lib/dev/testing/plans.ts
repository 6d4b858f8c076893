/** How PostgreSQL would find the rows of statements if the tables were very large. */
import pg from "pg";
import { ownerUrlOf } from "./owner-urls";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(nodesOf),
];

const SCANS: ReadonlySet<string> = new Set(["Seq Scan", "Index Scan", "Index Only Scan"]);

/** Whether the plan node reads the whole table, or a whole index. */
const isWhole = (node: PlanNode): boolean =>
  SCANS.has(node["Node Type"]) && node["Index Cond"] === undefined;

/**
 * Returns PostgreSQL's plan of a statement.
 * @param text a statement with parameters
 */
const planOf = async (client: pg.ClientBase, text: string): Promise<PlanNode> => {
  const count = Math.max(
    0,
    ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
  );
  const values =
    count === 0 ? "" : `(${Array.from({ length: count }, () => "NULL").join(", ")})`;
  await client.query(`PREPARE planned AS ${text}`);
  const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (FORMAT JSON) EXECUTE planned${values}`,
  );
  await client.query("DEALLOCATE planned");
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL gave no plan.");
  return row["QUERY PLAN"][0].Plan;
};

/**
 * Sets statistics as if each page of the tables had a million rows, because PostgreSQL reads the
 * small tables of a test completely.
 */
const AS_IF_LARGE =
  "UPDATE pg_class SET relpages = 1, reltuples = 1000000 WHERE oid = ANY($1::regclass[])";

/**
 * The statements that read one of the tables completely.
 * @param databaseUrl URL of a database of this test file
 * @param texts statements without values
 */
export const scansOf = async (
  databaseUrl: string,
  texts: readonly string[],
  tables: readonly string[],
): Promise<{ readonly text: string; readonly scans: readonly string[] }[]> => {
  // Only the owner of the tables may change their statistics.
  const client = new pg.Client({ connectionString: ownerUrlOf(databaseUrl) });
  await client.connect();
  try {
    await client.query(
      "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off",
    );
    await client.query(AS_IF_LARGE, [[...tables]]);
    const found = [];
    for (const text of texts) {
      const nodes = nodesOf(await planOf(client, text));
      const scans = nodes.filter(
        (node) => tables.includes(node["Relation Name"] ?? "") && isWhole(node),
      );
      if (scans.length > 0)
        found.push({
          text,
          scans: scans.map(
            (node) =>
              `${node["Node Type"]} ${node["Relation Name"] ?? ""} ${node["Index Name"] ?? ""}`,
          ),
        });
    }
    return found;
  } finally {
    await client.query("ROLLBACK");
    await client.end();
  }
};
