import { paymentsDigest } from "../../intent";
import type { PayableRow } from "./payout-batch";
import type { Step } from "./step";

/**
 * Whether the policies allowed the payout as it is stored, and the rows to sign belong to it. Reads
 * the whole payout, because the policies evaluated all of its rows in one evaluation.
 */
export const isSigningAllowed = async (
  {
    repository,
    isAllowed,
    payout,
    batch,
  }: Pick<Step, "repository" | "isAllowed" | "payout" | "batch">,
  rows: readonly PayableRow[],
): Promise<boolean> => {
  const { projectId, payoutId } = payout;
  const stored = await repository.evaluated(payout);
  const byIndex = new Map(stored.rows.map((row) => [row.index, row]));
  const areRows = rows.every(({ index, recipient, amountBase }) => {
    const row = byIndex.get(index);
    return (
      row?.recipient === recipient && row.amountBase === amountBase && row.token === batch.token
    );
  });
  const digest = paymentsDigest(payout, stored.rows);
  return areRows && isAllowed(projectId, stored.evaluationId, { id: payoutId, digest });
};
