/** Bytes that are encrypted with a key-encryption key (KEK), and the name of that key. */
export interface Sealed {
  /** Name of the key. It reveals nothing about the key. */
  readonly kekId: string;
  /** AES-256-GCM: initialisation vector (12 bytes), ciphertext, tag (16 bytes). */
  readonly bytes: Uint8Array;
}

/**
 * A stored secret (envelope encryption): each secret has a separate data key, which is encrypted
 * with a key-encryption key.
 */
export interface Envelope {
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
}

/**
 * Encrypts secrets for the database with AES-256-GCM. `context` names the owner of the secret and
 * is authenticated with it (additional authenticated data), so an envelope cannot be opened with
 * another context.
 * @example
 * const context = managedKeyContext({ projectId, keyId });
 * const envelope = envelopes.close(privateKey, context);
 * const secret = envelopes.open(envelope, context);
 */
export interface Envelopes {
  /** Encrypts a secret with the current key-encryption key. */
  close(secret: Uint8Array, context: string): Envelope;
  /**
   * Decrypts a secret.
   * @throws Error when the key is not configured, or the context or the bytes differ; its message
   * has no content
   */
  open(envelope: Envelope, context: string): Buffer;
}

/**
 * The context of a managed wallet key. A key whose row is copied to another project or id cannot be
 * decrypted.
 */
export const managedKeyContext = (key: {
  readonly projectId: string | null;
  readonly keyId: string;
}): string => JSON.stringify([key.projectId, key.keyId]);
