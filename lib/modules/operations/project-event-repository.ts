import type { Tx } from "@/lib/db/client";
import { recordEvents } from "@/lib/modules/events/service";
import { storedFailure } from "./leg";
import { asProjectEventType, projectEventsOf, type ReportedState } from "./project-events";

interface StateRow extends Omit<ReportedState, "failure"> {
  /** JSON. */
  readonly failure: unknown;
}

const readState = async (tx: Tx, projectId: string, operationId: string): Promise<ReportedState | null> => {
  const [row] = await tx.$queryRaw<StateRow[]>`
    SELECT o.id, o.project_id AS "projectId", o.kind, o.status, o.sub_status AS "subStatus", o.failure, o.retry_of AS "retryOf",
      q.transfer_id AS "quotedId", p.id AS "privateId"
    FROM operation o
    LEFT JOIN quote q ON q.project_id = o.project_id AND q.operation_id = o.id
    LEFT JOIN privacy_transfer p ON p.project_id = o.project_id AND p.operation_id = o.id
    WHERE o.project_id = ${projectId} AND o.id = ${operationId}`;
  return row === undefined ? null : { ...row, failure: storedFailure.nullable().parse(row.failure) };
};

/**
 * Writes the project's events about the new state of an operation. Steps of single legs are not events of the project. The caller
 * holds the lock of the operation's row.
 */
export const recordOperationEvents = async (
  tx: Tx,
  event: { readonly projectId: string; readonly operationId: string; readonly type: string; readonly now: Date },
): Promise<void> => {
  const { projectId, operationId, type, now } = event;
  if (asProjectEventType(type) === undefined) return;
  const state = await readState(tx, projectId, operationId);
  if (state !== null) await recordEvents(tx, projectEventsOf(state, { type, now }));
};
