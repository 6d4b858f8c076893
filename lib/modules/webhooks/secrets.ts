import { addSeconds, type Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { Sealed } from "@/lib/ports/encryption";
import { replaceSecret, secretContext, signingSecrets, type SecretKey, type SecretRow } from "./secret-repository";
import { newSigningSecret } from "./signature";

/** Encrypts small secrets under the key-encryption key. */
export interface Keys {
  seal(plaintext: Uint8Array, context: string): Sealed;
  open(sealed: Sealed, context: string): Buffer;
}

interface SecretsDeps {
  readonly keys: Keys;
  readonly reader: SqlReader;
  readonly clock: Clock;
}

type EndpointKey = Omit<SecretKey, "id">;

const HOUR_SECONDS = 3600;

/** The secrets that sign deliveries. They are stored encrypted; the answer that creates one is the only one that shows it. */
export const createSigningSecrets = ({ keys, reader, clock }: SecretsDeps) => ({
  current: (key: EndpointKey): Promise<SecretRow[]> => signingSecrets(reader, key, clock.now()),

  /** @returns the new secret in clear; those before it sign for the overlap */
  replace: async (sql: Sql, key: EndpointKey, overlapHours: number): Promise<string> => {
    const secret = newSigningSecret();
    const now = clock.now();
    const row = { ...key, id: newId("webhookSecret") };
    const sealed = keys.seal(Buffer.from(secret), secretContext(row));
    await replaceSecret(sql, { ...row, sealed, createdAt: now }, addSeconds(now, overlapHours * HOUR_SECONDS));
    return secret;
  },

  open: async (key: EndpointKey): Promise<string[]> => {
    const rows = await signingSecrets(reader, key, clock.now());
    return rows.map((row) => keys.open(row.sealed, secretContext(row)).toString("utf8"));
  },
});

export type SigningSecrets = ReturnType<typeof createSigningSecrets>;
