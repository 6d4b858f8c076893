import type { Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import type { OperationKey } from "./state-repository";

interface Retry {
  readonly projectId: string;
  readonly of: string;
  readonly by: string;
  readonly now: Date;
}

/** Of any number of attempts to try an operation again, the first is accepted. */
export const claimRetry = async (tx: Tx, retry: Retry): Promise<boolean> => {
  const { text, values } = retryPart(retry);
  return (await sqlOf(tx).query(text, values)).length === 1;
};

const CLAIM = `
  UPDATE operation SET retried_by = $3, version = version + 1, updated_at = $4::timestamptz
  WHERE project_id = $1 AND id = $2 AND retried_by IS NULL RETURNING id`;

/** As `claimRetry`, as a part of a statement; it returns a row for the first attempt alone. */
export const retryPart = ({ projectId, of, by, now }: Retry): StatementPart => ({
  text: CLAIM,
  values: [projectId, of, by, now.toISOString()],
});

/** Lets another operation try again what this one was to try: nothing was sent. */
export const freeRetry = async (tx: Tx, { projectId, id }: OperationKey, now: Date): Promise<void> => {
  await tx.operation.updateMany({
    where: { projectId, retriedBy: id },
    data: { retriedBy: null, version: { increment: 1 }, updatedAt: now },
  });
};
