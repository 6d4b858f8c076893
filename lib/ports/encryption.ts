/** Bytes that are encrypted under a key-encryption key, and the name of that key. */
export interface Sealed {
  /** Name of the key. It reveals nothing about the key. */
  readonly kekId: string;
  /** AES-256-GCM: initialisation vector (12 bytes), ciphertext, tag (16 bytes). */
  readonly bytes: Uint8Array;
}

/** A secret at rest: encrypted under a data key of its own, and that data key under a key-encryption key. */
export interface Envelope {
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
}

/**
 * Encrypts secrets for the database. `context` names the owner of the secret (additional authenticated data); another context does not open it.
 * @example
 * const envelope = envelopes.close(privateKey, managedKeyContext({ projectId, keyId }));
 */
export interface Envelopes {
  /** Encrypts under the current key. */
  close(secret: Uint8Array, context: string): Envelope;
  /** @throws Error when the key is not configured, the context is another one or a bit was changed; it names no content */
  open(envelope: Envelope, context: string): Buffer;
}

/** The context of a wallet's key. The key does not open after its row is moved to another project or id. */
export const managedKeyContext = (key: { readonly projectId: string | null; readonly keyId: string }): string =>
  JSON.stringify([key.projectId, key.keyId]);
