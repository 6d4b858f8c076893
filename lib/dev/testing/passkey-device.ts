import { createHash, createSign, generateKeyPairSync, randomBytes } from "node:crypto";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";

const FLAGS = { present: 0x01, verified: 0x04, newCredential: 0x40 } as const;

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");

/** Encodes a byte string in CBOR (RFC 8949), the format of attestations. */
const cborBytes = (bytes: Uint8Array): Buffer =>
  Buffer.concat([
    bytes.length < 24
      ? Buffer.from([0x40 + bytes.length])
      : Buffer.from([0x59, bytes.length >> 8, bytes.length & 0xff]),
    bytes,
  ]);
const cborText = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

const counterBytes = (counter: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(counter);
  return bytes;
};

export interface DeviceOptions {
  readonly rpId?: string;
  readonly origin?: string;
  /** Whether the device checks a PIN or a fingerprint. Default true. */
  readonly verifies?: boolean;
  /** Whether the signature counter increases. Default true. */
  readonly counts?: boolean;
}

/**
 * A software authenticator with one ES256 credential (WebAuthn Level 2), for tests without a
 * browser.
 */
export const passkeyDevice = (options: DeviceOptions = {}) => {
  const {
    rpId = "localhost",
    origin = "http://localhost:3000",
    verifies = true,
    counts = true,
  } = options;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const credentialId = randomBytes(16);
  let counter = 0;

  const clientData = (type: "webauthn.create" | "webauthn.get", challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  const authenticatorData = (flags: number, rest: Uint8Array = new Uint8Array()): Buffer => {
    const verified = verifies ? FLAGS.verified : 0;
    const head = Buffer.from([FLAGS.present | verified | flags]);
    return Buffer.concat([sha256(Buffer.from(rpId)), head, counterBytes(counter), rest]);
  };

  const coseKey = (): Buffer => {
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, "base64url"),
    ]);
  };

  return {
    id: base64url(credentialId),
    /** Sets the counter back, as if the device were a copy. */
    rewind: (to: number): void => {
      counter = to;
    },
    create: (challenge: string) => {
      const length = Buffer.from([0, credentialId.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey()]);
      const parts = [
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText("none"),
        cborText("attStmt"),
        Buffer.from([0xa0]),
      ];
      const data = cborBytes(authenticatorData(FLAGS.newCredential, attested));
      const attestationObject = base64url(
        Buffer.concat([...parts, cborText("authData"), data]),
      );
      const response = {
        clientDataJSON: base64url(clientData("webauthn.create", challenge)),
        attestationObject,
      };
      return {
        id: base64url(credentialId),
        rawId: base64url(credentialId),
        type: "public-key" as const,
        response,
      };
    },
    get: (challenge: string): PasskeyAssertion => {
      if (counts) counter += 1;
      const client = clientData("webauthn.get", challenge);
      const data = authenticatorData(0);
      const signature = createSign("sha256")
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return {
        id: base64url(credentialId),
        rawId: base64url(credentialId),
        type: "public-key",
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(signature),
        },
      };
    },
  };
};

export type PasskeyDevice = ReturnType<typeof passkeyDevice>;
