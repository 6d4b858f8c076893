import { z } from "zod";
import { type Status, STATUSES, SUB_STATUSES, type SubStatus } from "@/lib/core/status";
import { type RawRow, toBigInt } from "@/lib/platform/db/decimal";
import type {
  OperationEvent as EventRow,
  Operation as StoredOperation,
} from "@/lib/platform/db/generated/client";
import type { RouteRequest } from "@/lib/core/route-request";
import { storedBase, toStored } from "@/lib/platform/db/codecs";
import { storedRouteRequest } from "@/lib/money/ports/routing-json";
import { type GasWait, storedGasWaits } from "./gas-wait";
import { type Failure, type Leg, type LegRow, parseLeg, storedFailure } from "./leg";

// An operation as the module works with it. Its JSON columns are parsed only in this file.

/** Column `quoted`. */
export const storedQuoted = z.object({
  expectedBase: storedBase,
  /** The spent amount of an operation without legs, once it has ended. */
  spentBase: storedBase.optional(),
  receivedBase: storedBase.optional(),
});

/**
 * The amount that an operation was expected to bring when it was accepted, in base units of the
 * destination's token.
 */
type Quoted = z.output<typeof storedQuoted>;

/** A movement of money that was accepted, or awaits approval. */
export interface Operation {
  readonly id: string;
  readonly projectId: string;
  /** One of `OPERATION_KINDS`. */
  readonly kind: string;
  readonly status: Status;
  readonly subStatus: SubStatus;
  /** The requested route. */
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
  /** The policy evaluation that allowed the operation; null while it awaits approval. */
  readonly evaluationId: string | null;
  /** The chains whose network fee the operation waits for. */
  readonly gasWaits: readonly GasWait[];
  /** When the operation was started; null while it awaits approval. */
  readonly acceptedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The time until which the operation can be approved. */
  readonly expiresAt: Date | null;
  /**
   * In the order of their positions. Empty while the operation awaits approval, and for operations
   * that another module drives.
   */
  readonly legs: readonly Leg[];
  /** True when a part of a leg could not be read. The operation can then only be shown. */
  readonly unread?: boolean;
  /**
   * True when some of the operation's own columns could not be read. Missing values were filled in
   * from its legs, or are empty.
   */
  readonly isIncomplete?: boolean;
}

/** Something that happened to an operation or to one of its legs. */
export interface OperationEvent {
  readonly operationId: string;
  /** Sequence number in the operation, from 1 and without gaps. */
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

const status = z.enum(STATUSES);
const subStatus = z.enum(SUB_STATUSES);
const eventData = z.record(z.string(), z.unknown());

/** The request as it looks after being stored as JSON and parsed again. */
export const asStoredRequest = (request: RouteRequest): RouteRequest =>
  storedRouteRequest.parse(toStored(request));

/** The columns from which an operation is read. */
export type OperationRow = RawRow<Omit<StoredOperation, "version" | "searchTerms">>;

/** @throws ZodError when a stored column does not have the expected shape */
export const parseOperation = (
  row: OperationRow & { readonly legs: readonly LegRow[] },
): Operation => ({
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

/** The kind of operations that represent incoming money from outside. */
export const DEPOSIT_KIND = "deposit";
