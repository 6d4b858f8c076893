import { EVENT_TYPES, type EventType } from "@/lib/contracts/events";
import type { NewEvent } from "@/lib/modules/events/service";
import type { Failure } from "./leg";
import { isPrivateKind } from "./private-kinds";

/** The state of an operation as its project's events report it. */
export interface ReportedState {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly status: string;
  readonly subStatus: string;
  readonly failure: Failure | null;
  readonly retryOf: string | null;
  /** Set for a quoted transfer, whose creation was reported with the quote. */
  readonly quotedId: string | null;
  /** Set for a private transfer, which is created together with its operation. */
  readonly privateId: string | null;
}

/** Undefined for a step of a single leg, which is no event of the project. */
export const asProjectEventType = (text: string): EventType | undefined => EVENT_TYPES.find((type) => type === text);

/** The project's events about a new state of an operation: one for the operation, and one for the transfer that it carries out. */
export const projectEventsOf = (
  { projectId, quotedId, privateId, kind, status, subStatus, failure, retryOf, ...operation }: ReportedState,
  { type, now }: { readonly type: string; readonly now: Date },
): NewEvent[] => {
  const known = asProjectEventType(type);
  if (known === undefined) return [];
  const transferId = privateId ?? quotedId;
  const common = { projectId, private: isPrivateKind(kind), at: now };
  const data = { operationId: operation.id, transferId, kind, status, subStatus, failure, retryOf };
  const own = { ...common, type: known, objectId: operation.id, data };
  const transferType = asProjectEventType(type.replace("operation.", "transfer."));
  const isReported = privateId === null && transferType === "transfer.created";
  const isNews = transferId !== null && transferType !== undefined && !isReported;
  return [own, ...(isNews ? [{ ...own, type: transferType, objectId: transferId }] : [])];
};
