import { expect } from "vitest";
import type { Database } from "@/lib/db/client";

/** One statement, so that it sees one moment however many work on the legs. */
const DIFFERENCES = `
  WITH legs AS (
    SELECT o.project_id, l.source_chain_id AS chain_id, l.sponsor_day AS day,
      coalesce(sum(l.sponsor_reserved_wei) FILTER (WHERE l.state NOT IN ('completed', 'failed', 'refunded')), 0) AS reserved,
      coalesce(sum(l.gas_cost_wei) FILTER (WHERE l.state IN ('completed', 'failed', 'refunded')), 0) AS used
    FROM operation_leg l JOIN operation o ON o.id = l.operation_id
    WHERE l.sponsor_day IS NOT NULL GROUP BY 1, 2, 3)
  SELECT project_id, chain_id, day::text, reserved::text, reserved_wei::text, used::text, used_wei::text
  FROM legs FULL JOIN sponsor_usage USING (project_id, chain_id, day)
  WHERE reserved IS DISTINCT FROM reserved_wei OR used IS DISTINCT FROM used_wei`;

/** What is reserved of every sponsor budget is the sum over its open legs, and what was used is what its ended legs cost. */
export const expectBudgetsToFitLegs = async ({ pool }: Database): Promise<void> => {
  expect((await pool.query(DIFFERENCES)).rows).toEqual([]);
};
