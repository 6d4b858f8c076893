import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A signing secret as Standard Webhooks writes it: `whsec_` and base64. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), "base64");

const sign = (secret: string, { id, timestamp, body }: { id: string; timestamp: string; body: string }): string =>
  `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`;

/** The headers of Standard Webhooks. Several secrets sign side by side while one takes the place of another. */
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

/** The result of a receiver that checks the headers with these secrets. */
export const signatureOf = (
  secrets: readonly string[],
  sent: { header(name: string): string | null; readonly body: string; readonly now: Date },
): SignatureState => {
  const [id, timestamp, given] = ["id", "timestamp", "signature"].map((name) => sent.header(`webhook-${name}`) ?? "");
  if (!id || !timestamp || !given) return "missing";
  const expected = secrets.map((secret) => sign(secret, { id, timestamp, body: sent.body }));
  if (!given.split(" ").some((signature) => expected.some((one) => isSame(signature, one)))) return "invalid";
  return Math.abs(sent.now.getTime() - Number(timestamp) * 1000) <= WINDOW_MS ? "valid" : "too_old";
};
