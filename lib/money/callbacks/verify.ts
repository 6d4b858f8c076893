import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import type { CallbackProvider, CallbackSignature } from "@/lib/money/ports/callback-provider";
import { z } from "zod";
import { isId } from "@/lib/core/ids";

/**
 * How the sender of a callback was verified: `equality`, `hmac`, `standard`, `unverified`, or the
 * name of a provider.
 */
export type VerifiedBy = string;

interface SigningProvider extends CallbackProvider {
  readonly secret: string | null;
}

export interface CallbackSenders {
  /** `WEBHOOK_SECRET`, for providers without a separate secret; null only in development. */
  readonly shared: string | null;
  readonly providers: readonly SigningProvider[];
}

export interface SentCallback {
  /** The body as received, because these bytes are signed. */
  readonly raw: Uint8Array;
  /**
   * The value of a header; null when the callback does not have it.
   * @param name in lower case
   */
  header(name: string): string | null;
}

const WINDOW_MS = 5 * 60_000;
const HMAC_PREFIX = "sha256=";
const STANDARD_PREFIX = "whsec_";
const SIGNATURES_MAX = 10;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Compares digests, so that neither the duration nor an error depends on where the values differ or
 * on their lengths.
 */
const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/** One message for all reasons, so that an attacker cannot learn which part was right. */
const refused = (): DomainError =>
  new DomainError(
    "invalid_signature",
    "The callback's signature is missing, wrong or too old.",
  );

const isRecent = (timeMs: number, now: Date): boolean =>
  Math.abs(now.getTime() - timeMs) <= WINDOW_MS;

/**
 * Reads a Unix time in seconds, or in milliseconds as some providers send it. Returns
 * milliseconds; null for any other text.
 */
const readTime = (text: string | null): number | null => {
  if (text === null || !/^\d{10}(\d{3})?$/.test(text)) return null;
  return text.length === 10 ? Number(text) * 1000 : Number(text);
};

const STANDARD_TIME = "webhook-timestamp";

/** The time of a verified signature; null for a scheme without a time. */
export const signedAt = (
  { providers }: CallbackSenders,
  by: VerifiedBy,
  sent: SentCallback,
): Date | null => {
  const signature = providers.find(({ name }) => name === by)?.signature;
  const header =
    signature?.scheme === "timestamped_hmac" ? signature.timeHeader : STANDARD_TIME;
  const time =
    signature !== undefined || by === "standard" ? readTime(sent.header(header)) : null;
  return time === null ? null : new Date(time);
};

type TimestampedHmac = Extract<CallbackSignature, { scheme: "timestamped_hmac" }>;

const checkTimestampedHmac = (
  secret: string,
  { timeHeader, signatureHeader }: TimestampedHmac,
  { sent, now }: { readonly sent: SentCallback; readonly now: Date },
): void => {
  const timestamp = sent.header(timeHeader);
  const time = readTime(timestamp);
  const expected = createHmac("sha256", secret)
    .update(`${timestamp ?? ""}.`)
    .update(sent.raw)
    .digest("hex");
  const isRight = isSame(expected, (sent.header(signatureHeader) ?? "").toLowerCase());
  if (!isRight || time === null || !isRecent(time, now)) throw refused();
};

/**
 * The possible keys of a signing secret: base64 after `whsec_`; otherwise the text itself, and the
 * text decoded from base64.
 */
const signingKeys = (secret: string): readonly Buffer[] =>
  secret.startsWith(STANDARD_PREFIX)
    ? [Buffer.from(secret.slice(STANDARD_PREFIX.length), "base64")]
    : [Buffer.from(secret, "utf8"), Buffer.from(secret, "base64")];

interface Signer {
  readonly by: VerifiedBy;
  readonly secret: string;
}

/**
 * Standard Webhooks 1.0.
 * @returns the signer whose secret made the signature
 */
const byStandard = (signers: readonly Signer[], sent: SentCallback, now: Date): VerifiedBy => {
  const [id, timestamp] = [sent.header("webhook-id") ?? "", sent.header(STANDARD_TIME)];
  const time = readTime(timestamp);
  const given = (sent.header("webhook-signature") ?? "").split(" ").slice(0, SIGNATURES_MAX);
  const signs = (key: Buffer): boolean => {
    const expected = createHmac("sha256", key)
      .update(`${id}.${timestamp ?? ""}.`)
      .update(sent.raw)
      .digest("base64");
    return given.some((signature) => isSame(signature, `v1,${expected}`));
  };
  const signer = signers.find(({ secret }) => signingKeys(secret).some(signs));
  if (signer === undefined || id === "" || time === null || !isRecent(time, now))
    throw refused();
  return signer.by;
};

/** Signers of Standard Webhooks: providers with a separate secret, then the shared secret. */
const standardSigners = ({ shared, providers }: CallbackSenders): Signer[] => [
  ...providers.flatMap(({ name, secret, signature }) =>
    signature.scheme === "standard_webhooks" && secret !== null ? [{ by: name, secret }] : [],
  ),
  ...(shared === null ? [] : [{ by: "standard", secret: shared }]),
];

const byShared = (secret: string, sent: SentCallback): VerifiedBy => {
  const given = sent.header("x-signature") ?? "";
  if (isSame(given, secret)) return "equality";
  const hmac = createHmac("sha256", secret).update(sent.raw).digest("hex");
  if (isSame(given.toLowerCase(), `${HMAC_PREFIX}${hmac}`)) return "hmac";
  throw refused();
};

/**
 * Verifies the sender of a callback. The headers determine the scheme, and each scheme has a
 * separate secret. A signature with a time is valid for five minutes. The table of callbacks
 * prevents the replay of callbacks whose signatures have no time.
 * @throws DomainError `invalid_signature`
 */
export const verifyCallback = (
  senders: CallbackSenders,
  sent: SentCallback,
  now: Date,
): VerifiedBy => {
  const { shared, providers } = senders;
  for (const { name, signature, secret } of providers) {
    if (
      signature.scheme !== "timestamped_hmac" ||
      sent.header(signature.signatureHeader) === null
    )
      continue;
    const key = secret ?? shared;
    if (key === null) continue;
    checkTimestampedHmac(key, signature, { sent, now });
    return name;
  }
  const signers = standardSigners(senders);
  if (sent.header("webhook-signature") !== null && signers.length > 0)
    return byStandard(signers, sent, now);
  // Without a secret nothing can be verified. The configuration allows that only in development.
  return shared === null ? "unverified" : byShared(shared, sent);
};

export type CallbackSource = "routing" | "bundler";

/**
 * The parsed parts of a callback. They are not trusted and only identify the operations to check.
 */
export interface CallbackEvent {
  /** Name of a `CallbackProvider`; `generic` for every other sender. */
  readonly provider: string;
  /** Identifies the provider's event, so that a second delivery is recognised. */
  readonly key: string;
  readonly type: string | null;
  readonly statusWord: string | null;
  /** False for an unknown type or status: the callback is stored and triggers no job. */
  readonly isKnown: boolean;
  readonly operationIds: readonly string[];
  /** Hashes of transactions and user operations, in lower case. */
  readonly hashes: readonly string[];
}

const TEXT_MAX = 200;
const KEY_MAX = 200;
const REFERENCES_MAX = 50;
const HASH = /^0x[0-9a-fA-F]{64}$/;

const BUNDLER_STATUSES = new Set([
  "submitted",
  "pending",
  "included",
  "success",
  "reverted",
  "failed",
  "rejected",
  "dropped",
  "not_found",
]);
const BUNDLER_TYPES = new Set([
  "user_operation.status",
  "user_operation.updated",
  "user_operation.included",
  "user_operation.failed",
]);
const ROUTING_TYPE = /^(request|transfer|deposit|fill|order)\.[a-z_.]+$/;

const anything = z.unknown().optional();
const envelope = z.looseObject({
  id: anything,
  type: anything,
  event: anything,
  data: anything,
});
const loose = z.looseObject({ status: anything, state: anything });

const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value.slice(0, TEXT_MAX) : null;

/**
 * The status of a callback's object, in lower case; null when there is none. Providers send
 * `status` as a text, or as an object with the text in `state`.
 */
const statusOf = (value: unknown): string | null => {
  const parsed = loose.safeParse(value);
  if (!parsed.success) return null;
  const { status } = parsed.data;
  const inner = loose.safeParse(status);
  const word = inner.success ? textOf(inner.data.state) : textOf(status);
  return word?.toLowerCase() ?? null;
};

/**
 * Adds to `found` every text in the value that may be an operation id or a hash, up to
 * `REFERENCES_MAX` texts. The recursion is bounded, because the caller has limited the depth of the
 * body.
 */
const referencesIn = (value: unknown, found: Set<string>): Set<string> => {
  if (found.size >= REFERENCES_MAX) return found;
  if (typeof value === "string" && (HASH.test(value) || isId("operation", value)))
    found.add(value.toLowerCase());
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) referencesIn(part, found);
  return found;
};

const GENERIC = "generic";

const isKnownEvent = (
  source: CallbackSource,
  provider: CallbackProvider | undefined,
  { type, statusWord }: Pick<CallbackEvent, "type" | "statusWord">,
): boolean => {
  if (source === "bundler")
    return (
      type !== null &&
      BUNDLER_TYPES.has(type) &&
      (statusWord === null || BUNDLER_STATUSES.has(statusWord))
    );
  if (provider !== undefined) return statusWord !== null && provider.statuses.has(statusWord);
  return type !== null && ROUTING_TYPE.test(type);
};

const digestOf = (raw: Uint8Array): string => createHash("sha256").update(raw).digest("hex");

/**
 * Reads the event of a callback from its body.
 * @throws DomainError `invalid_request` unless the body is a JSON object
 */
export const readCallback = (
  {
    source,
    raw,
    body,
  }: { readonly source: CallbackSource; readonly raw: Uint8Array; readonly body: unknown },
  providers: readonly CallbackProvider[],
): CallbackEvent => {
  const parsed = envelope.safeParse(body);
  if (!parsed.success) throw invalidRequest([{ path: "", message: "must be a JSON object" }]);
  const { data = body } = parsed.data;
  const type = textOf(parsed.data.type) ?? textOf(parsed.data.event);
  const statusWord = statusOf(data) ?? statusOf(body);
  const known =
    source === "routing" && type !== null
      ? providers.find(({ eventTypes }) => eventTypes.has(type))
      : undefined;
  const provider = known?.name ?? GENERIC;
  const id = textOf(parsed.data.id);
  const references = [...referencesIn(body, new Set())];
  return {
    provider,
    key: `${provider}:${id === null || id.length > KEY_MAX || id.includes("\0") ? digestOf(raw) : id}`,
    type: type?.replaceAll("\0", "") ?? null,
    statusWord: statusWord?.replaceAll("\0", "") ?? null,
    isKnown: isKnownEvent(source, known, { type, statusWord }),
    operationIds: references.filter((text) => isId("operation", text)),
    hashes: references.filter((text) => HASH.test(text)),
  };
};
