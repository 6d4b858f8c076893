import type { Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";

/** Of any number of attempts to try an operation again, the first is accepted. */
export const claimRetry = async (tx: Tx, retry: { of: string; by: string; now: Date }): Promise<boolean> => {
  const { text, values } = retryPart(retry);
  return (await sqlOf(tx).query(text, values)).length === 1;
};

const CLAIM = `
  UPDATE operation SET retried_by = $2, version = version + 1, updated_at = $3::timestamptz
  WHERE id = $1 AND retried_by IS NULL RETURNING id`;

/** As `claimRetry`, as a part of a statement; it returns a row for the first attempt alone. */
export const retryPart = ({ of, by, now }: { of: string; by: string; now: Date }): StatementPart => ({
  text: CLAIM,
  values: [of, by, now.toISOString()],
});

/** Lets another operation try again what this one was to try: nothing was sent. */
export const freeRetry = async (tx: Tx, operationId: string, now: Date): Promise<void> => {
  await tx.operation.updateMany({
    where: { retriedBy: operationId },
    data: { retriedBy: null, version: { increment: 1 }, updatedAt: now },
  });
};
