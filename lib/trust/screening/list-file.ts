/** The file of a signed sanctions list. */
import { createHash, createPublicKey, verify } from "node:crypto";
import { z } from "zod";
import { ListRefusedError } from "./errors";

export const ENTRIES_MAX = 200_000;
/** How far a list's time of issue may be ahead of this machine's clock. */
const AHEAD_MS_MAX = 10 * 60_000;
/** ASN.1 prefix of an Ed25519 public key (RFC 8410), followed by the 32 bytes of the key. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/, "must be base64");

const envelope = z.strictObject({
  /** The signed bytes: the list as JSON, in base64. */
  payload: base64,
  keyId: z.string().min(1).max(100),
  /** Ed25519 signature over the bytes of the payload. */
  signature: base64,
});

const list = z.strictObject({
  list: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "must have lower-case letters, digits and hyphens alone"),
  version: z.int().positive(),
  issuedAt: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  validUntil: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  source: z.string().min(1).max(500),
  entries: z
    .array(
      z.strictObject({
        address: z
          .string()
          .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address of 20 bytes")
          .transform((text) => text.toLowerCase()),
        /** The holder of the address, or the entry's number in the source. */
        label: z.string().max(200).default(""),
      }),
    )
    .max(ENTRIES_MAX),
});

export interface SignedList {
  readonly name: string;
  readonly version: number;
  readonly issuedAt: Date;
  readonly validUntil: Date;
  readonly source: string;
  readonly keyId: string;
  /** SHA-256 of the signed bytes. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** For each listed address in lower case, its label. */
  readonly entries: ReadonlyMap<string, string>;
}

const parsed = <T>(schema: z.ZodType<T>, text: string, what: string): T => {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const why =
      issue === undefined ? "it is not JSON" : `${issue.path.join(".")}: ${issue.message}`;
    throw new ListRefusedError(`${what} cannot be read (${why}). Nothing was imported.`, {
      cause: error,
    });
  }
};

const isSigned = (bytes: Buffer, signature: Buffer, publicKey: Uint8Array): boolean => {
  const key = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, publicKey]),
    format: "der",
    type: "spki",
  });
  return verify(null, bytes, key, signature);
};

/**
 * Parses a file, and checks its signature before anything of its content.
 * @param keys public keys (32 bytes) by their id
 * @throws ListRefusedError
 */
export const readListFile = (
  text: string,
  keys: ReadonlyMap<string, Uint8Array>,
  now: Date,
): SignedList => {
  const { payload, keyId, signature } = parsed(envelope, text, "The file");
  const key = keys.get(keyId);
  if (key === undefined)
    throw new ListRefusedError(
      `The file is signed by the key ${keyId}, which SCREENING_LIST_KEYS does not name. Nothing was imported.`,
    );
  const bytes = Buffer.from(payload, "base64");
  if (!isSigned(bytes, Buffer.from(signature, "base64"), key))
    throw new ListRefusedError(
      `The signature of the file is not one of the key ${keyId}. Nothing was imported.`,
    );
  const content = parsed(list, bytes.toString("utf8"), "The signed list");
  const { version, issuedAt, validUntil, source } = content;
  if (issuedAt.getTime() > now.getTime() + AHEAD_MS_MAX)
    throw new ListRefusedError(
      "The list was issued in the future. Nothing was imported; check this machine's clock.",
    );
  if (validUntil <= now)
    throw new ListRefusedError(
      `The list was valid until ${validUntil.toISOString()} and is out of date. Nothing was imported.`,
    );
  return {
    ...{ name: content.list, version, issuedAt, validUntil, source, keyId },
    digest: new Uint8Array(createHash("sha256").update(bytes).digest()),
    entries: new Map(content.entries.map(({ address, label }) => [address, label])),
  };
};
