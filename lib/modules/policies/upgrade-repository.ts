/** Rows of what was accepted before policies existed. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import { evaluationParts, type StoredEvaluation } from "./repository";

export const BY_UPGRADE = "upgrade";

export interface UpgradeSubject {
  readonly projectId: string;
  readonly type: "operation" | "payout";
  readonly id: string;
}

const PENDING = `
  SELECT listed.project_id AS "projectId", listed.subject_type AS type, listed.subject_id AS id FROM policy_upgrade AS listed
  LEFT JOIN policy_evaluation AS made
    ON made.project_id = listed.project_id AND made.subject_id = listed.subject_id AND made.created_by = '${BY_UPGRADE}'
  WHERE (listed.project_id, listed.subject_id) > ($1, $2) AND made.id IS NULL
  ORDER BY listed.project_id, listed.subject_id LIMIT $3::int`;

/** Listed operations and payouts without an evaluation, in the order of project and id, after `after`. */
export const readPending = (
  sql: SqlReader,
  after: Pick<UpgradeSubject, "projectId" | "id">,
  limit: number,
): Promise<readonly UpgradeSubject[]> => sql.query<UpgradeSubject>(PENDING, [after.projectId, after.id, limit]);

const LINK = {
  operation: `UPDATE operation SET evaluation_id = $3 WHERE project_id = $1 AND id = $2 AND evaluation_id IS NULL`,
  payout: `UPDATE payout SET evaluation_id = $3 WHERE project_id = $1 AND id = $2 AND evaluation_id IS NULL`,
} as const;

/**
 * Stores the evaluation of a listed subject and links it. Its id follows from the subject's, so of several instances one stores it, and
 * none ever does again.
 * @param sql must be inside a transaction
 */
export const storeOnce = async (sql: Sql, { type, id, projectId }: UpgradeSubject, row: StoredEvaluation) => {
  const [evaluation] = evaluationParts(row, []);
  if (evaluation === undefined || (await sql.change(evaluation.text, evaluation.values)) === 0) return;
  await sql.change(LINK[type], [projectId, id, row.id]);
};
