import { createECDH, createPrivateKey, type KeyObject, sign } from "node:crypto";

const CURVE = "prime256v1";
const COORDINATE_BYTES = 32;
/** Validity of a token. RFC 8292 allows 24 hours at most. */
const VALID_SECONDS = 12 * 3600;

export interface VapidKeys {
  /** The public key that browsers subscribe with: an uncompressed point, base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

/**
 * The key pair that identifies this service to push services (RFC 8292).
 * @param privateKey the private key on P-256: 32 bytes, base64url
 * @throws Error when it is no private key of P-256
 */
export const vapidKeysOf = (privateKey: string): VapidKeys => {
  const pair = createECDH(CURVE);
  pair.setPrivateKey(Buffer.from(privateKey, "base64url"));
  const point = pair.getPublicKey();
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 1 + COORDINATE_BYTES).toString("base64url"),
    y: point.subarray(1 + COORDINATE_BYTES).toString("base64url"),
    d: Buffer.from(privateKey, "base64url").toString("base64url"),
  };
  return {
    publicKey: point.toString("base64url"),
    privateKey: createPrivateKey({ key: jwk, format: "jwk" }),
  };
};

const encoded = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

interface Claims {
  /** URL of the subscription. The token is valid for its origin only. */
  readonly endpoint: string;
  /** An https or mailto URL at which the push service reaches the operator of this service. */
  readonly subject: string;
  readonly now: Date;
}

/** The header `Authorization` of a request to a push service. */
export const vapidAuthorization = (
  { publicKey, privateKey }: VapidKeys,
  { endpoint, subject, now }: Claims,
): string => {
  const header = encoded({ typ: "JWT", alg: "ES256" });
  const claims = encoded({
    aud: new URL(endpoint).origin,
    exp: Math.floor(now.getTime() / 1000) + VALID_SECONDS,
    sub: subject,
  });
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
  }).toString("base64url");
  return `vapid t=${header}.${claims}.${signature}, k=${publicKey}`;
};
