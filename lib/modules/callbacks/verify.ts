import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { DomainError } from "@/lib/core/errors";
import type { CallbackProvider, CallbackSignature } from "@/lib/ports/callback-provider";

/** How the sender of a callback was recognised: `equality`, `hmac`, `standard`, `unverified`, or the name of a provider. */
export type VerifiedBy = string;

/** A provider and the secret that it signs with; null when it has none of its own. */
export interface SigningProvider extends CallbackProvider {
  readonly secret: string | null;
}

export interface CallbackSenders {
  /** `WEBHOOK_SECRET`; null in development alone. Providers without a secret of their own sign with it. */
  readonly shared: string | null;
  readonly providers: readonly SigningProvider[];
}

export interface SentCallback {
  /** The body as it came: signatures are over these bytes. */
  readonly raw: Uint8Array;
  /** @param name in lower case */
  header(name: string): string | null;
}

const WINDOW_MS = 5 * 60_000;
const HMAC_PREFIX = "sha256=";
const STANDARD_PREFIX = "whsec_";
const SIGNATURES_MAX = 10;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares digests, so that neither the time nor a thrown error depends on where or how the values differ. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** One message for all reasons, so that a guess does not show which part of it was right. */
const refused = (): DomainError =>
  new DomainError("invalid_signature", "The callback's signature is missing, wrong or too old.");

const isRecent = (timeMs: number, now: Date): boolean => Math.abs(now.getTime() - timeMs) <= WINDOW_MS;

/** Unix time in seconds, or in milliseconds as some providers send it. */
const readTime = (text: string | null): number | null => {
  if (text === null || !/^\d{10}(\d{3})?$/.test(text)) return null;
  return text.length === 10 ? Number(text) * 1000 : Number(text);
};

const STANDARD_TIME = "webhook-timestamp";

/** The time of a verified signature; null for a scheme without a time. */
export const signedAt = ({ providers }: CallbackSenders, by: VerifiedBy, sent: SentCallback): Date | null => {
  const signature = providers.find(({ name }) => name === by)?.signature;
  const header = signature?.scheme === "timestamped_hmac" ? signature.timeHeader : STANDARD_TIME;
  const time = signature !== undefined || by === "standard" ? readTime(sent.header(header)) : null;
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

/** The keys that a signing secret may stand for: base64 after `whsec_`; otherwise the text itself, and the text as base64. */
const signingKeys = (secret: string): readonly Buffer[] =>
  secret.startsWith(STANDARD_PREFIX)
    ? [Buffer.from(secret.slice(STANDARD_PREFIX.length), "base64")]
    : [Buffer.from(secret, "utf8"), Buffer.from(secret, "base64")];

interface Signer {
  readonly by: VerifiedBy;
  readonly secret: string;
}

/** @returns the signer whose secret made the signature (Standard Webhooks 1.0) */
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
  if (signer === undefined || id === "" || time === null || !isRecent(time, now)) throw refused();
  return signer.by;
};

/** The signers of Standard Webhooks: providers with a secret of their own, then the shared secret. */
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
 * Recognises the sender of a callback. The headers choose the scheme, and each scheme has its own secret. A signature with a time is good
 * for five minutes; the table of callbacks prevents the replay of the others.
 * @throws DomainError `invalid_signature`
 */
export const verifyCallback = (senders: CallbackSenders, sent: SentCallback, now: Date): VerifiedBy => {
  const { shared, providers } = senders;
  for (const { name, signature, secret } of providers) {
    if (signature.scheme !== "timestamped_hmac" || sent.header(signature.signatureHeader) === null) continue;
    const key = secret ?? shared;
    if (key === null) continue;
    checkTimestampedHmac(key, signature, { sent, now });
    return name;
  }
  const signers = standardSigners(senders);
  if (sent.header("webhook-signature") !== null && signers.length > 0) return byStandard(signers, sent, now);
  // Without a secret nothing can be checked. The configuration allows that in development alone.
  return shared === null ? "unverified" : byShared(shared, sent);
};
