/** A passkey of a person: a discoverable WebAuthn credential. */
export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** Base64url. */
  readonly credentialId: string;
  /** COSE key (RFC 9052). */
  readonly publicKey: Uint8Array;
  /** The newest signature counter; 0 when the passkey does not count. */
  readonly counter: bigint;
  readonly transports: readonly string[];
  /** Whether it may be on several devices of the person. */
  readonly synced: boolean;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Selects the fields of a row of the table `passkey`. */
export const parsePasskey = (row: Passkey): Passkey => ({
  id: row.id,
  userId: row.userId,
  credentialId: row.credentialId,
  publicKey: row.publicKey,
  counter: row.counter,
  transports: row.transports,
  synced: row.synced,
  name: row.name,
  createdAt: row.createdAt,
  lastUsedAt: row.lastUsedAt,
});
