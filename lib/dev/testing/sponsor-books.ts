import { expect } from "vitest";
import type { Database } from "@/lib/platform/db/client";

/**
 * Finds the budgets that differ from the sums over their legs and batches. It is one statement, so
 * that it sees a consistent state while legs and batches change.
 */
const DIFFERENCES = `
  WITH parts AS (
    SELECT o.project_id, l.source_chain_id AS chain_id, l.sponsor_day AS day, l.sponsor_reserved_wei AS reserved,
      l.gas_cost_wei AS used, l.state IN ('completed', 'failed', 'refunded') AS ended
    FROM operation_leg l JOIN operation o ON o.project_id = l.project_id AND o.id = l.operation_id
    UNION ALL
    SELECT b.project_id, p.chain_id, b.sponsor_day, b.sponsor_reserved_wei, b.gas_cost_wei,
      b.state IN ('paid', 'failed', 'cancelled')
    FROM wallet_payout_batch b JOIN wallet_payout p USING (project_id, payout_id)),
  books AS (
    SELECT project_id, chain_id, day, coalesce(sum(reserved) FILTER (WHERE NOT ended), 0) AS reserved,
      coalesce(sum(used) FILTER (WHERE ended), 0) AS used
    FROM parts WHERE day IS NOT NULL GROUP BY 1, 2, 3)
  SELECT project_id, chain_id, day::text, reserved::text, reserved_wei::text, used::text, used_wei::text
  FROM books FULL JOIN sponsor_usage USING (project_id, chain_id, day)
  WHERE reserved IS DISTINCT FROM reserved_wei OR used IS DISTINCT FROM used_wei`;

/**
 * Checks every sponsor budget: the reserved amount equals the sum over its open legs and payout
 * batches, and the used amount equals the cost of its ended legs and batches.
 */
export const expectBudgetsToFitLegs = async ({ pool }: Database): Promise<void> => {
  expect((await pool.query(DIFFERENCES)).rows).toEqual([]);
};
