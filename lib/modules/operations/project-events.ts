import { EVENT_TYPES, type EventType } from "@/lib/contracts/events";
import type { Tx } from "@/lib/db/client";
import { recordEvents, type NewEvent } from "@/lib/modules/events/service";
import { isPrivateKind } from "./private-kinds";

interface State {
  readonly projectId: string;
  readonly kind: string;
  readonly status: string;
  readonly subStatus: string;
  readonly failure: object | null;
  readonly retryOf: string | null;
  /** Set for a quoted transfer, whose creation was reported with the quote. */
  readonly quotedId: string | null;
  /** Set for a private transfer, which is created together with its operation. */
  readonly privateId: string | null;
}

const asType = (text: string): EventType | undefined => EVENT_TYPES.find((type) => type === text);

/** The project's events about a new state of an operation: one for the operation, and one for the transfer that it carries out. */
export const projectEventsOf = (
  {
    projectId,
    quotedId,
    privateId,
    kind,
    status,
    subStatus,
    failure,
    retryOf,
    ...operation
  }: State & { readonly id: string },
  { type, now }: { readonly type: string; readonly now: Date },
): NewEvent[] => {
  const known = asType(type);
  if (known === undefined) return [];
  const transferId = privateId ?? quotedId;
  const common = { projectId, private: isPrivateKind(kind), at: now };
  const data = { operationId: operation.id, transferId, kind, status, subStatus, failure, retryOf };
  const own = { ...common, type: known, objectId: operation.id, data };
  const transferType = asType(type.replace("operation.", "transfer."));
  const isReported = privateId === null && transferType === "transfer.created";
  const isNews = transferId !== null && transferType !== undefined && !isReported;
  return [own, ...(isNews ? [{ ...own, type: transferType, objectId: transferId }] : [])];
};

/**
 * Writes the project's events about the new state of an operation. Steps of single legs are not events of the project. The caller
 * holds the lock of the operation's row.
 */
export const recordOperationEvents = async (
  tx: Tx,
  { operationId, type, now }: { readonly operationId: string; readonly type: string; readonly now: Date },
): Promise<void> => {
  if (asType(type) === undefined) return;
  const [state] = await tx.$queryRaw<State[]>`
    SELECT o.project_id AS "projectId", o.kind, o.status, o.sub_status AS "subStatus", o.failure, o.retry_of AS "retryOf",
      q.transfer_id AS "quotedId", p.id AS "privateId"
    FROM operation o
    LEFT JOIN quote q ON q.operation_id = o.id
    LEFT JOIN privacy_transfer p ON p.project_id = o.project_id AND p.operation_id = o.id
    WHERE o.id = ${operationId}`;
  if (state === undefined) return;
  await recordEvents(tx, projectEventsOf({ ...state, id: operationId }, { type, now }));
};
