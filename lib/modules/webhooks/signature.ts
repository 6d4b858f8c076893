import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A signing secret as Standard Webhooks writes it: `whsec_` and base64. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), "base64");

/** The headers of Standard Webhooks. Several secrets sign side by side while one takes the place of another. */
export const signedHeaders = (
  secrets: readonly string[],
  { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string },
): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  );
  return {
    "content-type": "application/json",
    "user-agent": "Causeway-Webhooks/1.0",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
};
