import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { EndpointRow, SentEvent } from "./rows";

/**
 * The body of a delivery (JSON, Standard Webhooks). Every attempt sends the same bytes while the
 * endpoint is unchanged. Details of a private event are omitted, unless the endpoint includes
 * private details.
 */
export const deliveryBody = (
  event: SentEvent,
  endpoint: { readonly payload: "full" | "thin"; readonly includePrivate: boolean },
): string => {
  const { eventId: id, type, sequence, objectId, objectSequence } = event;
  const previous =
    event.previousSequence === null ? {} : { previousSequence: event.previousSequence };
  if (event.private && !endpoint.includePrivate)
    return JSON.stringify({ id, type, sequence, ...previous });
  const createdAt = event.createdAt.toISOString();
  const head = JSON.stringify({
    id,
    type,
    createdAt,
    sequence,
    ...previous,
    objectId,
    objectSequence,
  });
  // The payload is JSON text already, so parsing it again is avoided.
  return endpoint.payload === "thin" ? head : `${head.slice(0, -1)},"data":${event.payload}}`;
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const JITTER = 0.2;
const RETRY_AFTER_MAX_MS = 24 * HOUR;

/** Milliseconds for which a failing delivery may delay later events of the same object. */
export const HOLD_BACK_MS = 5 * MINUTE;
/** Milliseconds without a successful delivery after which an endpoint is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR;

/**
 * Milliseconds of a `Retry-After` header (RFC 9110: seconds or a date); null when it cannot be
 * parsed.
 */
export const retryAfterMs = (header: string | undefined, now: Date): number | null => {
  if (header === undefined) return null;
  const ms = /^\d{1,9}$/.test(header)
    ? Number(header) * SECOND
    : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : null;
};

/**
 * The time of the next attempt; null when there is none. A random delay of up to a fifth is added,
 * so that deliveries that failed together are not repeated together.
 */
export const nextAttempt = (
  attempts: number,
  {
    now,
    random,
    retryAfter,
  }: { readonly now: Date; readonly random: () => number; readonly retryAfter: number | null },
): Date | null => {
  const delay = RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return null;
  return new Date(
    now.getTime() + Math.max(Math.round(delay * (1 + JITTER * random())), retryAfter ?? 0),
  );
};

export const isServed = ({
  status: endpointStatus,
  suspendedAt,
}: Pick<EndpointRow, "status" | "suspendedAt">): boolean =>
  endpointStatus === "active" && suspendedAt === null;

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A new random secret in the format of Standard Webhooks: `whsec_` and base64. */
export const newSigningSecret = (): string =>
  `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), "base64");

const sign = (
  secret: string,
  { id, timestamp, body }: { id: string; timestamp: string; body: string },
): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/**
 * The headers of Standard Webhooks, with one signature per secret. During a rotation both the old
 * and the new secret are valid.
 */
export const signedHeaders = (
  secrets: readonly string[],
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => sign(secret, { id, timestamp, body }));
  return {
    "content-type": "application/json",
    "user-agent": "Causeway-Webhooks/1.0",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
};

export type SignatureState = "valid" | "invalid" | "too_old" | "missing";

const WINDOW_MS = 5 * 60_000;

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Verifies the headers as a receiver with these secrets does, and returns the result. */
export const signatureOf = (
  secrets: readonly string[],
  sent: { header(name: string): string | null; readonly body: string; readonly now: Date },
): SignatureState => {
  const [id, timestamp, given] = ["id", "timestamp", "signature"].map(
    (name) => sent.header(`webhook-${name}`) ?? "",
  );
  if (!id || !timestamp || !given) return "missing";
  const expected = secrets.map((secret) => sign(secret, { id, timestamp, body: sent.body }));
  if (!given.split(" ").some((signature) => expected.some((one) => isSame(signature, one))))
    return "invalid";
  return Math.abs(sent.now.getTime() - Number(timestamp) * 1000) <= WINDOW_MS
    ? "valid"
    : "too_old";
};
