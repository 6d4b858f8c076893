import type { Queryable } from "@/lib/db/client";
import { parsePasskey, type Passkey } from "./passkey";

export const PASSKEYS_MAX = 20;

/** Oldest first. */
export const listPasskeys = async (db: Queryable, userId: string): Promise<Passkey[]> => {
  const rows = await db.passkey.findMany({ where: { userId }, orderBy: { createdAt: "asc" }, take: PASSKEYS_MAX });
  return rows.map(parsePasskey);
};

export const findPasskey = async (db: Queryable, userId: string, id: string): Promise<Passkey | null> => {
  const row = await db.passkey.findFirst({ where: { id, userId } });
  return row === null ? null : parsePasskey(row);
};

export const findByCredential = async (db: Queryable, credentialId: string): Promise<Passkey | null> => {
  const row = await db.passkey.findUnique({ where: { credentialId } });
  return row === null ? null : parsePasskey(row);
};

/** @returns false when the credential is stored already */
export const insertPasskey = async (db: Queryable, passkey: Passkey): Promise<boolean> => {
  const { publicKey, transports, ...fields } = passkey;
  const data = { ...fields, publicKey: Uint8Array.from(publicKey), transports: [...transports] };
  const { count } = await db.passkey.createMany({ data: [data], skipDuplicates: true });
  return count === 1;
};

export const renamePasskey = async (db: Queryable, userId: string, id: string, name: string): Promise<boolean> =>
  (await db.passkey.updateMany({ where: { id, userId }, data: { name } })).count === 1;

export const deletePasskey = async (db: Queryable, { userId, id }: Passkey): Promise<boolean> =>
  (await db.passkey.deleteMany({ where: { id, userId } })).count === 1;

/**
 * Stores the counter of a use. False when it is not above the stored one: then two devices have the key, and one is a copy
 * (WebAuthn Level 2, 6.1.1). Passkeys that do not count stay at 0.
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

// ---------------------------------------------------------------- challenges

export interface ChallengeFor {
  readonly purpose: "register" | "approve" | "sign_in";
  readonly userId: string | null;
  /** The object to approve; the name of a new passkey; null for a sign-in. */
  readonly subject: string | null;
  readonly digest: Uint8Array | null;
}

const digestColumn = (digest: Uint8Array | null): Uint8Array<ArrayBuffer> | null =>
  digest === null ? null : Uint8Array.from(digest);

export const insertChallenge = async (
  db: Queryable,
  given: ChallengeFor & { readonly challenge: Uint8Array; readonly createdAt: Date; readonly expiresAt: Date },
): Promise<void> => {
  const { challenge, digest, ...fields } = given;
  const data = { ...fields, challenge: Uint8Array.from(challenge), digest: digestColumn(digest) };
  await db.passkeyChallenge.create({ data });
};

/** Uses a challenge up, for exactly this purpose, person, object and digest. Of any number of callers at once one gets true. */
export const takeChallenge = async (
  db: Queryable,
  { purpose, userId, subject, digest }: ChallengeFor,
  { challenge, now }: { readonly challenge: Uint8Array; readonly now: Date },
): Promise<boolean> => {
  const where = { challenge: Uint8Array.from(challenge), purpose, userId, subject, digest: digestColumn(digest) };
  const { count } = await db.passkeyChallenge.updateMany({
    where: { ...where, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return count === 1;
};

/** Uses up the challenge for a new passkey. @returns the name that the person approved; null when it cannot be used */
export const takeRegistration = async (
  db: Queryable,
  userId: string,
  { challenge, now }: { readonly challenge: Uint8Array; readonly now: Date },
): Promise<string | null> => {
  const where = { challenge: Uint8Array.from(challenge), purpose: "register", userId };
  const [row] = await db.passkeyChallenge.updateManyAndReturn({
    where: { ...where, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  });
  return row?.subject ?? null;
};
