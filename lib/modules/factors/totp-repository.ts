import type { Database, Queryable } from "@/lib/db/client";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { parseTotpFactor, type TotpFactor } from "./totp-factor";

/** Additional authenticated data of the encrypted secret. */
export const totpContext = (id: string): string => `totp ${id}`;

export const findTotp = async (db: Queryable, userId: string): Promise<TotpFactor | null> => {
  const row = await db.totpFactor.findUnique({ where: { userId } });
  return row === null ? null : parseTotpFactor(row);
};

/** Stores a secret that is not confirmed yet, in place of another such one. @returns false when a confirmed one is stored */
export const replacePendingTotp = async (
  db: Queryable,
  { userId, id, sealed, createdAt }: Pick<TotpFactor, "userId" | "id" | "sealed" | "createdAt">,
): Promise<boolean> => {
  const data = { id, secretEncrypted: Uint8Array.from(sealed.bytes), kekId: sealed.kekId, createdAt };
  const inserted = await db.totpFactor.createMany({ data: [{ userId, ...data }], skipDuplicates: true });
  if (inserted.count === 1) return true;
  const { count } = await db.totpFactor.updateMany({ where: { userId, confirmedAt: null }, data });
  return count === 1;
};

/** Confirms the pending secret by the code of a step, which is used up. @returns false when it is no longer pending */
export const confirmTotp = async (
  db: Queryable,
  { userId, id }: TotpFactor,
  { step, at }: { readonly step: number; readonly at: Date },
): Promise<boolean> => {
  const where = { userId, id, confirmedAt: null };
  const { count } = await db.totpFactor.updateMany({ where, data: { confirmedAt: at, lastStep: step } });
  return count === 1;
};

/** Uses the code of a step up. Of any number of callers at once with the codes of one step, one gets true. */
export const takeTotpStep = async (db: Queryable, { userId, id }: TotpFactor, step: number): Promise<boolean> => {
  const where = { userId, id, confirmedAt: { not: null }, lastStep: { lt: step } };
  const { count } = await db.totpFactor.updateMany({ where, data: { lastStep: step } });
  return count === 1;
};

/** @returns false when there is none that is confirmed */
export const deleteTotp = async (db: Queryable, userId: string): Promise<boolean> => {
  await db.recoveryCode.deleteMany({ where: { userId } });
  const { count } = await db.totpFactor.deleteMany({ where: { userId, confirmedAt: { not: null } } });
  return count === 1;
};

/** Replaces the person's recovery codes, used ones included. */
export const replaceRecoveryCodes = async (
  db: Queryable,
  userId: string,
  { hashes, at }: { readonly hashes: readonly Uint8Array<ArrayBuffer>[]; readonly at: Date },
): Promise<void> => {
  await db.recoveryCode.deleteMany({ where: { userId } });
  await db.recoveryCode.createMany({ data: hashes.map((codeHash) => ({ userId, codeHash, createdAt: at })) });
};

/** Uses a recovery code up. Of any number of callers at once one gets true. */
export const takeRecoveryCode = async (
  db: Queryable,
  use: { readonly userId: string; readonly codeHash: Uint8Array<ArrayBuffer>; readonly at: Date },
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

/** For the rotation of key-encryption keys. */
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
    const rows = await prisma.totpFactor.findMany({ where, orderBy: { id: "asc" }, take: limit });
    return rows.map(parseTotpFactor).map(({ id, sealed }) => ({ id, context: totpContext(id), sealed }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.totpFactor.updateMany({
      where: { id, kekId: sealed.kekId, secretEncrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, secretEncrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
