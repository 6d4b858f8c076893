import type { Sealed } from "@/lib/ports/encryption";

/** The authenticator app of a person. */
export interface TotpFactor {
  readonly userId: string;
  readonly id: string;
  readonly sealed: Sealed;
  readonly createdAt: Date;
  /** Null until a first code showed that the app has the secret. */
  readonly confirmedAt: Date | null;
  /** The newest time step whose code was used. */
  readonly lastStep: number | null;
}

interface TotpRow extends Omit<TotpFactor, "sealed"> {
  readonly secretEncrypted: Uint8Array;
  readonly kekId: string;
}

/** Selects the fields of a row of the table `totp_factor`. */
export const parseTotpFactor = (row: TotpRow): TotpFactor => ({
  userId: row.userId,
  id: row.id,
  sealed: { kekId: row.kekId, bytes: row.secretEncrypted },
  createdAt: row.createdAt,
  confirmedAt: row.confirmedAt,
  lastStep: row.lastStep,
});
