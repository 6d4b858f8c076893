import { createCipheriv, createECDH, createHmac, type ECDH, randomBytes } from "node:crypto";

const CURVE = "prime256v1";
const SALT_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const SECRET_BYTES = 32;
/** Size of a record. It is larger than every message here, so each message is one record. */
const RECORD_SIZE = 4096;
/** Marks the last record (RFC 8188, section 2). */
const LAST_RECORD = Buffer.from([2]);

const hmac = (key: Uint8Array, data: Uint8Array): Buffer =>
  createHmac("sha256", key).update(data).digest();

/** HKDF (RFC 5869) with an output of one block at most. */
const hkdf = (
  { salt, secret }: { readonly salt: Uint8Array; readonly secret: Uint8Array },
  info: Uint8Array,
  length: number,
): Buffer =>
  hmac(hmac(salt, secret), Buffer.concat([info, Buffer.from([1])])).subarray(0, length);

/** Keys of a browser's subscription, base64url. */
export interface BrowserKeys {
  /** The public key on P-256, uncompressed. */
  readonly p256dh: string;
  /** The authentication secret of 16 bytes. */
  readonly auth: string;
}

export interface MessageOptions {
  /** The sender's key pair. By default each message gets a new pair; tests pass a fixed one. */
  readonly sender?: ECDH;
  readonly salt?: Uint8Array;
}

const newSender = (): ECDH => {
  const sender = createECDH(CURVE);
  sender.generateKeys();
  return sender;
};

/**
 * Encrypts a message for a browser (RFC 8291, content coding `aes128gcm` of RFC 8188). The push
 * service cannot read it.
 * @throws Error when `p256dh` is not a point of P-256
 */
export const encryptMessage = (
  plaintext: Uint8Array,
  { p256dh, auth }: BrowserKeys,
  { sender = newSender(), salt = randomBytes(SALT_BYTES) }: MessageOptions = {},
): Buffer => {
  const receiverKey = Buffer.from(p256dh, "base64url");
  const senderKey = sender.getPublicKey();
  const shared = sender.computeSecret(receiverKey);
  const keyInfo = Buffer.concat([Buffer.from("WebPush: info\0"), receiverKey, senderKey]);
  const secret = hkdf(
    { salt: Buffer.from(auth, "base64url"), secret: shared },
    keyInfo,
    SECRET_BYTES,
  );
  const source = { salt, secret };
  const key = hkdf(source, Buffer.from("Content-Encoding: aes128gcm\0"), KEY_BYTES);
  const nonce = hkdf(source, Buffer.from("Content-Encoding: nonce\0"), NONCE_BYTES);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const sealed = Buffer.concat([
    cipher.update(Buffer.concat([plaintext, LAST_RECORD])),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_SIZE);
  return Buffer.concat([salt, size, Buffer.from([senderKey.length]), senderKey, sealed]);
};
