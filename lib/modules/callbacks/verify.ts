import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { DomainError } from "@/lib/core/errors";

/** How the sender of a callback was recognised. */
export type VerifiedBy = "equality" | "hmac" | "standard" | "relay" | "across" | "unverified";

export interface CallbackSecrets {
  /** `WEBHOOK_SECRET`; null in development alone. */
  readonly shared: string | null;
  /** The API key that Relay signs with. */
  readonly relay: string | null;
  /** The `whsec_` secret of the webhook at Across. */
  readonly across: string | null;
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

/** One message for everything: a guess must not learn which part of it was right. */
const refused = (): DomainError =>
  new DomainError("invalid_signature", "The callback's signature is missing, wrong or too old.");

const isRecent = (timeMs: number, now: Date): boolean => Math.abs(now.getTime() - timeMs) <= WINDOW_MS;

/** Unix time in seconds, or in milliseconds as some providers send it. */
const readTime = (text: string | null): number | null => {
  if (text === null || !/^\d{10}(\d{3})?$/.test(text)) return null;
  return text.length === 10 ? Number(text) * 1000 : Number(text);
};

/** When a signature with a time was made; null for one without. Only what was verified says something. */
export const signedAt = (by: VerifiedBy, sent: SentCallback): Date | null => {
  const name = by === "relay" ? "x-signature-timestamp" : "webhook-timestamp";
  const time = by === "relay" || by === "across" || by === "standard" ? readTime(sent.header(name)) : null;
  return time === null ? null : new Date(time);
};

const byRelay = (secret: string, sent: SentCallback, now: Date): VerifiedBy => {
  const timestamp = sent.header("x-signature-timestamp");
  const time = readTime(timestamp);
  const expected = createHmac("sha256", secret)
    .update(`${timestamp ?? ""}.`)
    .update(sent.raw)
    .digest("hex");
  const isRight = isSame(expected, (sent.header("x-signature-sha256") ?? "").toLowerCase());
  if (!isRight || time === null || !isRecent(time, now)) throw refused();
  return "relay";
};

/** The bytes of a signing secret: base64 behind `whsec_`, else what the text says and, where it is base64, what that stands for. */
const signingKeys = (secret: string): readonly Buffer[] =>
  secret.startsWith(STANDARD_PREFIX)
    ? [Buffer.from(secret.slice(STANDARD_PREFIX.length), "base64")]
    : [Buffer.from(secret, "utf8"), Buffer.from(secret, "base64")];

const byStandard = (secrets: CallbackSecrets, sent: SentCallback, now: Date): VerifiedBy => {
  const [id, timestamp] = [sent.header("webhook-id") ?? "", sent.header("webhook-timestamp")];
  const time = readTime(timestamp);
  const given = (sent.header("webhook-signature") ?? "").split(" ").slice(0, SIGNATURES_MAX);
  const signs = (key: Buffer): boolean => {
    const expected = createHmac("sha256", key)
      .update(`${id}.${timestamp ?? ""}.`)
      .update(sent.raw)
      .digest("base64");
    return given.some((signature) => isSame(signature, `v1,${expected}`));
  };
  const signer = (["across", "shared"] as const).find((name) => {
    const secret = secrets[name];
    return secret !== null && signingKeys(secret).some(signs);
  });
  if (signer === undefined || id === "" || time === null || !isRecent(time, now)) throw refused();
  return signer === "across" ? "across" : "standard";
};

const byShared = (secret: string, sent: SentCallback): VerifiedBy => {
  const given = sent.header("x-signature") ?? "";
  if (isSame(given, secret)) return "equality";
  const hmac = createHmac("sha256", secret).update(sent.raw).digest("hex");
  if (isSame(given.toLowerCase(), `${HMAC_PREFIX}${hmac}`)) return "hmac";
  throw refused();
};

/**
 * Recognises the sender by whatever it signed with: the headers choose the scheme, and each scheme has its own secret. Signatures with
 * a time are good for five minutes; the others are kept from being replayed by the table of callbacks alone.
 * @throws DomainError `invalid_signature`
 */
export const verifyCallback = (secrets: CallbackSecrets, sent: SentCallback, now: Date): VerifiedBy => {
  const { shared } = secrets;
  const relay = secrets.relay ?? shared;
  if (sent.header("x-signature-sha256") !== null && relay !== null) return byRelay(relay, sent, now);
  if (sent.header("webhook-signature") !== null && (secrets.across !== null || shared !== null))
    return byStandard(secrets, sent, now);
  // Without a secret nothing can be checked. The configuration allows that in development alone.
  return shared === null ? "unverified" : byShared(shared, sent);
};
