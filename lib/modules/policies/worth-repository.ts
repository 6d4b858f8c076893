/** The worth of movements as the policies priced them when they were accepted. */
import { z } from "zod";
import type { SqlReader } from "@/lib/db/sql";
import { fromAtto, usdOf } from "./sums";

const READ_MOVEMENTS = `
  SELECT id, facts->'movements' AS movements FROM policy_evaluation WHERE project_id = $1 AND id = ANY ($2::text[])`;

const storedMovements = z.array(
  z.object({ countsIn: z.string().default("all"), usd: z.string().nullable().default(null) }),
);

/** The worth of the payment itself: money that was only brought to its chain first is not counted again. */
const worthOfAll = (movements: z.output<typeof storedMovements>): string | null => {
  const paid = movements.filter(({ countsIn }) => countsIn === "all");
  const counted = paid.length === 0 ? movements : paid;
  const worth = counted.length === 0 ? null : usdOf(counted);
  return worth === null ? null : fromAtto(worth);
};

/** @returns US dollars, decimal strings, by evaluation; those without a price are left out */
export const readWorths = async (
  sql: SqlReader,
  projectId: string,
  evaluationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (evaluationIds.length === 0) return new Map();
  const rows = await sql.query<{ id: string; movements: unknown }>(READ_MOVEMENTS, [projectId, evaluationIds]);
  return new Map(
    rows.flatMap(({ id, movements }) => {
      const { data } = storedMovements.safeParse(movements);
      const usd = data === undefined ? null : worthOfAll(data);
      return usd === null ? [] : [[id, usd] as const];
    }),
  );
};
