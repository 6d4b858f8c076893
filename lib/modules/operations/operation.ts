/** An operation as the module works with it. Its JSON columns are parsed here and nowhere else. */
import { z } from "zod";
import { STATUSES, SUB_STATUSES, type Status, type SubStatus } from "@/lib/core/status";
import { toBigInt, type RawRow } from "@/lib/db/decimal";
import type { Operation as StoredOperation, OperationEvent as EventRow } from "@/lib/db/generated/client";
import type { RouteRequest } from "@/lib/ports/routing";
import { storedBase, storedRouteRequest, toStored } from "@/lib/ports/routing-json";
import { storedGasWaits, type GasWait } from "./gas-wait";
import { storedFailure, parseLeg, type Failure, type Leg, type LegRow } from "./leg";

/** Column `quoted`. */
export const storedQuoted = z.object({
  expectedBase: storedBase,
  /** Set for operations without legs, once they have ended. */
  spentBase: storedBase.optional(),
  receivedBase: storedBase.optional(),
});

/** The amount that an operation was expected to bring when it was accepted, in base units of the destination's token. */
export type Quoted = z.output<typeof storedQuoted>;

/** A movement of money that was accepted, or awaits approval. */
export interface Operation {
  readonly id: string;
  readonly projectId: string;
  /** One of `OPERATION_KINDS`. */
  readonly kind: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  /** The route that was requested. */
  readonly request: RouteRequest;
  readonly quoted: Quoted;
  /** The minimum that must arrive, in base units of the destination's token. */
  readonly minimumBase: bigint;
  readonly failure: Failure | null;
  /** The actor's name, as `actorName` returns it. */
  readonly createdBy: string;
  /** The operation whose failed or refunded legs this one retries. */
  readonly retryOf: string | null;
  /** The operation that retried this one's failed or refunded legs. */
  readonly retriedBy: string | null;
  /** The evaluation of the policies that let it run; null while it awaits approval. */
  readonly evaluationId: string | null;
  /** The chains for whose network fee to fall it waits. */
  readonly gasWaits: readonly GasWait[];
  /** When it was started; null while it awaits approval. */
  readonly acceptedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Until when it can be approved. */
  readonly expiresAt: Date | null;
  /** By position. Empty while the operation awaits approval, and for operations that another module carries on. */
  readonly legs: readonly Leg[];
  /** A part of a leg could not be read, so it can only be shown. */
  readonly unread?: boolean;
  /** The operation's own columns could not all be read either: missing values were filled in from its legs, or are empty. */
  readonly isIncomplete?: boolean;
}

/** Something that happened to an operation or to one of its legs. */
export interface OperationEvent {
  readonly operationId: string;
  /** Starts at 1 and has no gaps. */
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

const status = z.enum(STATUSES);
const subStatus = z.enum(SUB_STATUSES);
const eventData = z.record(z.string(), z.unknown());

/** The request as it is read again once it is stored. */
export const asStoredRequest = (request: RouteRequest): RouteRequest => storedRouteRequest.parse(toStored(request));

/** The columns from which an operation is read. */
export type OperationRow = RawRow<Omit<StoredOperation, "version" | "searchTerms">>;

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseOperation = (row: OperationRow & { readonly legs: readonly LegRow[] }): Operation => ({
  id: row.id,
  projectId: row.projectId,
  kind: row.kind,
  status: status.parse(row.status),
  subStatus: subStatus.parse(row.subStatus),
  request: storedRouteRequest.parse(row.request),
  quoted: storedQuoted.parse(row.quoted),
  minimumBase: toBigInt(row.minimumBase),
  failure: storedFailure.nullable().parse(row.failure),
  createdBy: row.createdBy,
  retryOf: row.retryOf,
  retriedBy: row.retriedBy,
  evaluationId: row.evaluationId,
  gasWaits: storedGasWaits.parse(row.gasWaits),
  acceptedAt: row.acceptedAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  expiresAt: row.expiresAt,
  legs: row.legs.map(parseLeg),
});

/** @throws ZodError when the event's data is not an object */
export const parseEvent = (row: Omit<EventRow, "projectId">): OperationEvent => ({
  operationId: row.operationId,
  seq: row.seq,
  type: row.type,
  data: eventData.parse(row.data),
  createdAt: row.createdAt,
});
