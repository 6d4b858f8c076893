import { z } from "zod";
import { raw } from "@/lib/platform/db/statement";
import {
  bool,
  count,
  int,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
  arrayOf,
  bytes,
} from "@/lib/platform/db/table";

const DELIVERY = {
  projectId: text,
  id: text,
  endpointId: text,
  kind: oneOf(z.enum(["event", "test", "replay", "resend"])),
  eventId: text,
  eventType: text,
  /** Sequence number of the event; 0 for a test. */
  sequence: count,
  /**
   * Sequence number of the endpoint's previous event; null when the endpoint gets every event, or
   * had none before.
   */
  previousSequence: nullable(count),
  objectId: text,
  status: oneOf(z.enum(["pending", "delivered", "failed"])),
  attempts: int,
  dueAt: time,
  createdAt: time,
  completedAt: nullable(time),
  lastStatus: nullable(int),
  lastError: nullable(text),
};

/** Table `webhook_delivery`: one event for one endpoint. */
export const deliveries = table(DELIVERY);

/** `private`: the event is about a private movement. */
export const foundDeliveries = table({ ...DELIVERY, private: bool });

type StoredDelivery = RowOf<typeof deliveries>;

export interface Delivery extends Omit<
  StoredDelivery,
  "eventType" | "lastStatus" | "lastError"
> {
  readonly type: string;
  readonly statusCode: number | null;
  readonly error: string | null;
}

export const deliveryOf = ({
  eventType,
  lastStatus,
  lastError,
  ...row
}: StoredDelivery): Delivery => ({
  ...row,
  type: eventType,
  statusCode: lastStatus,
  error: lastError,
});

export const dueDeliveryRows = table({
  id: text,
  attempts: int,
  eventId: text,
  type: text,
  createdAt: time,
  sequence: count,
  previousSequence: DELIVERY.previousSequence,
  objectId: text,
  objectSequence: count,
  /** JSON text. */
  payload: text,
  private: bool,
});

export type DueDelivery = RowOf<typeof dueDeliveryRows>;
export type SentEvent = Omit<DueDelivery, "id" | "attempts">;

const headers = json(z.record(z.string(), z.string()));

/** Table `webhook_attempt`: one request of a delivery. */
export const attempts = table({
  number: int,
  at: time,
  durationMs: int,
  url: text,
  requestHeaders: headers,
  requestBody: text,
  statusCode: nullable(int),
  responseHeaders: nullable(headers),
  responseBody: nullable(text),
  error: nullable(text),
});

export type Attempt = RowOf<typeof attempts>;

const ENDPOINT = {
  projectId: text,
  id: text,
  url: text,
  events: arrayOf(text),
  payload: oneOf(z.enum(["full", "thin"])),
  includePrivate: bool,
  description: nullable(text),
  status: oneOf(z.enum(["active", "paused", "disabled"])),
  disabledReason: nullable(oneOf(z.enum(["gone", "failing", "maker_left"]))),
  concurrency: int,
  version: int,
  createdBy: text,
  /**
   * The session that made the endpoint without a further proof; null when no such session exists.
   */
  madeBySession: nullable(text),
  /**
   * Since when the endpoint gets nothing because the session that made it was ended; null when the
   * endpoint is not suspended.
   */
  suspendedAt: nullable(time),
  createdAt: time,
  updatedAt: time,
};

const FAILING = {
  /** The time since which every attempt has failed; null when the last one succeeded. */
  failingSince: nullable(time),
};

/** Table `webhook_endpoint`: a URL to which a project's events are sent. */
export const endpoints = table(ENDPOINT);

export type EndpointRow = RowOf<typeof endpoints>;

export const endpointsWithLanes = table({ ...ENDPOINT, ...FAILING });

export interface EndpointView extends RowOf<typeof endpointsWithLanes> {
  /** Number of pending deliveries; counted up to 1000. */
  readonly pending: number;
}

/** Table `webhook_lane`: the queue of one endpoint. */
export const lanes = table({
  projectId: text,
  endpointId: text,
  ...FAILING,
  /** Sequence number of the last event to which the endpoint was subscribed. */
  lastSequence: count,
});

export const endpointKeys = lanes.pick("projectId", "endpointId");

export type EndpointKey = RowOf<typeof endpointKeys>;

export const subscribers = table({
  id: text,
  status: ENDPOINT.status,
  events: arrayOf(text),
  lastSequence: count,
});

/** Table `webhook_secret`: a signing secret of an endpoint. */
export const secrets = table({
  projectId: text,
  endpointId: text,
  id: text,
  encrypted: bytes,
  kekId: text,
  createdAt: time,
  /** Null for the current secret. */
  expiresAt: nullable(time),
});

/**
 * SQL: whether the endpoint `w` gets deliveries now. Deliveries to a paused or suspended endpoint
 * wait.
 */
export const IS_SERVED = raw("w.status = 'active' AND w.suspended_at IS NULL");
