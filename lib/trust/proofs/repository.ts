import type { Proof } from "@/lib/contracts/approvable-changes";
import type { Database, Queryable } from "@/lib/platform/db/client";
import { parsePasskey, type Passkey } from "./webauthn";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import { parseTotpFactor, type TotpFactor } from "./totp";

export const PASSKEYS_MAX = 20;

/** The person's passkeys, oldest first. */
export const listPasskeys = async (db: Queryable, userId: string): Promise<Passkey[]> => {
  const rows = await db.passkey.findMany({
    where: { userId },
    orderBy: { createdAt: "asc" },
    take: PASSKEYS_MAX,
  });
  return rows.map(parsePasskey);
};

export const findPasskey = async (
  db: Queryable,
  userId: string,
  id: string,
): Promise<Passkey | null> => {
  const row = await db.passkey.findFirst({ where: { id, userId } });
  return row === null ? null : parsePasskey(row);
};

export const findByCredential = async (
  db: Queryable,
  credentialId: string,
): Promise<Passkey | null> => {
  const row = await db.passkey.findUnique({ where: { credentialId } });
  return row === null ? null : parsePasskey(row);
};

/** @returns false when the credential is stored already */
export const insertPasskey = async (db: Queryable, passkey: Passkey): Promise<boolean> => {
  const { publicKey, transports, ...fields } = passkey;
  const data = {
    ...fields,
    publicKey: Uint8Array.from(publicKey),
    transports: [...transports],
  };
  const { count } = await db.passkey.createMany({ data: [data], skipDuplicates: true });
  return count === 1;
};

export const renamePasskey = async (
  db: Queryable,
  userId: string,
  id: string,
  name: string,
): Promise<boolean> =>
  (await db.passkey.updateMany({ where: { id, userId }, data: { name } })).count === 1;

export const deletePasskey = async (db: Queryable, { userId, id }: Passkey): Promise<boolean> =>
  (await db.passkey.deleteMany({ where: { id, userId } })).count === 1;

/**
 * Stores the counter of a use. Returns false when the counter is not above the stored one, which
 * means that a copy of the passkey exists (WebAuthn Level 2, 6.1.1). The counter of a passkey that
 * does not count stays at 0.
 */
export const advanceCounter = async (
  db: Queryable,
  { id }: Passkey,
  { counter, at }: { readonly counter: bigint; readonly at: Date },
): Promise<boolean> => {
  const { count } = await db.passkey.updateMany({
    where: { id, counter: counter === 0n ? 0n : { lt: counter } },
    data: { counter, lastUsedAt: at },
  });
  return count === 1;
};

export interface ChallengeFor {
  readonly purpose: "register" | "approve" | "sign_in";
  readonly userId: string | null;
  /** The id of the object to approve, or the name of a new passkey; null for a sign-in. */
  readonly subject: string | null;
  readonly digest: Uint8Array | null;
  /** The proof that allowed a new passkey. */
  readonly approvedBy?: Proof;
}

const digestColumn = (digest: Uint8Array | null): Uint8Array<ArrayBuffer> | null =>
  digest === null ? null : Uint8Array.from(digest);

export const insertChallenge = async (
  db: Queryable,
  given: ChallengeFor & {
    readonly challenge: Uint8Array;
    readonly createdAt: Date;
    readonly expiresAt: Date;
  },
): Promise<void> => {
  const { challenge, digest, ...fields } = given;
  const data = {
    ...fields,
    challenge: Uint8Array.from(challenge),
    digest: digestColumn(digest),
  };
  await db.passkeyChallenge.create({ data });
};

/**
 * Uses a challenge, for exactly this purpose, person, object and digest. Of several concurrent
 * callers only one gets true.
 */
export const takeChallenge = async (
  db: Queryable,
  { purpose, userId, subject, digest }: ChallengeFor,
  { challenge, now }: { readonly challenge: Uint8Array; readonly now: Date },
): Promise<boolean> => {
  const where = {
    challenge: Uint8Array.from(challenge),
    purpose,
    userId,
    subject,
    digest: digestColumn(digest),
  };
  const { count } = await db.passkeyChallenge.updateMany({
    where: { ...where, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return count === 1;
};

interface Registration {
  readonly name: string;
  readonly approvedBy: string | null;
}

/**
 * Uses the challenge for a new passkey.
 * @returns the name that the person approved, and by which proof; null when it cannot be used
 */
export const takeRegistration = async (
  db: Queryable,
  userId: string,
  { challenge, now }: { readonly challenge: Uint8Array; readonly now: Date },
): Promise<Registration | null> => {
  const where = { challenge: Uint8Array.from(challenge), purpose: "register", userId };
  const [row] = await db.passkeyChallenge.updateManyAndReturn({
    where: { ...where, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return row?.subject == null ? null : { name: row.subject, approvedBy: row.approvedBy };
};

/** Additional authenticated data of the encrypted secret. */
export const totpContext = (id: string): string => `totp ${id}`;

export const findTotp = async (db: Queryable, userId: string): Promise<TotpFactor | null> => {
  const row = await db.totpFactor.findUnique({ where: { userId } });
  return row === null ? null : parseTotpFactor(row);
};

/**
 * Stores an unconfirmed secret, replacing an earlier unconfirmed one.
 * @returns false when a confirmed one is stored
 */
export const replacePendingTotp = async (
  db: Queryable,
  { userId, id, sealed, createdAt }: Pick<TotpFactor, "userId" | "id" | "sealed" | "createdAt">,
): Promise<boolean> => {
  const data = {
    id,
    secretEncrypted: Uint8Array.from(sealed.bytes),
    kekId: sealed.kekId,
    createdAt,
  };
  const inserted = await db.totpFactor.createMany({
    data: [{ userId, ...data }],
    skipDuplicates: true,
  });
  if (inserted.count === 1) return true;
  const { count } = await db.totpFactor.updateMany({
    where: { userId, confirmedAt: null },
    data,
  });
  return count === 1;
};

/**
 * Confirms the pending secret with the code of a time step, which cannot be used again.
 * @returns false when the secret is no longer pending
 */
export const confirmTotp = async (
  db: Queryable,
  { userId, id }: TotpFactor,
  { step, at }: { readonly step: number; readonly at: Date },
): Promise<boolean> => {
  const where = { userId, id, confirmedAt: null };
  const { count } = await db.totpFactor.updateMany({
    where,
    data: { confirmedAt: at, lastStep: step },
  });
  return count === 1;
};

/**
 * Uses the code of a time step. Of several concurrent callers with codes of the same step only one
 * gets true.
 */
export const takeTotpStep = async (
  db: Queryable,
  { userId, id }: TotpFactor,
  step: number,
): Promise<boolean> => {
  const where = { userId, id, confirmedAt: { not: null }, lastStep: { lt: step } };
  const { count } = await db.totpFactor.updateMany({ where, data: { lastStep: step } });
  return count === 1;
};

/**
 * Deletes the person's confirmed authenticator app, and the recovery codes.
 * @returns false when there is no confirmed app
 */
export const deleteTotp = async (db: Queryable, userId: string): Promise<boolean> => {
  await db.recoveryCode.deleteMany({ where: { userId } });
  const { count } = await db.totpFactor.deleteMany({
    where: { userId, confirmedAt: { not: null } },
  });
  return count === 1;
};

export const replaceRecoveryCodes = async (
  db: Queryable,
  userId: string,
  { hashes, at }: { readonly hashes: readonly Uint8Array<ArrayBuffer>[]; readonly at: Date },
): Promise<void> => {
  await db.recoveryCode.deleteMany({ where: { userId } });
  await db.recoveryCode.createMany({
    data: hashes.map((codeHash) => ({ userId, codeHash, createdAt: at })),
  });
};

/** Uses a recovery code. Of several concurrent callers only one gets true. */
export const takeRecoveryCode = async (
  db: Queryable,
  use: {
    readonly userId: string;
    readonly codeHash: Uint8Array<ArrayBuffer>;
    readonly at: Date;
  },
): Promise<boolean> => {
  const { userId, codeHash, at } = use;
  const { count } = await db.recoveryCode.updateMany({
    where: { userId, codeHash, usedAt: null },
    data: { usedAt: at },
  });
  return count === 1;
};

export const countRecoveryCodes = (db: Queryable, userId: string): Promise<number> =>
  db.recoveryCode.count({ where: { userId, usedAt: null } });

/** The encrypted secrets, for the rotation of key-encryption keys. */
export const encryptedTotpSecrets = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "authenticator secrets",
  count: async () => {
    const groups = await prisma.totpFactor.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.totpFactor.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const where = { kekId, id: { gt: afterId } };
    const rows = await prisma.totpFactor.findMany({
      where,
      orderBy: { id: "asc" },
      take: limit,
    });
    return rows
      .map(parseTotpFactor)
      .map(({ id, sealed }) => ({ id, context: totpContext(id), sealed }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.totpFactor.updateMany({
      where: { id, kekId: sealed.kekId, secretEncrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, secretEncrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
