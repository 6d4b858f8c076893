import type { Database, Queryable } from "@/lib/db/client";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { parseTokenKey, type TokenKey } from "./token-key";

/** Key of an advisory lock that is held while the first key is made. No other lock uses this number. */
const LOCK = 0x43_57_54_4b;

/** Additional authenticated data of the encrypted private part. */
export const tokenKeyContext = (kid: string): string => `token-key ${kid}`;

/** Newest first. */
export const listTokenKeys = async (db: Queryable, limit: number): Promise<TokenKey[]> => {
  const rows = await db.tokenKey.findMany({ orderBy: [{ createdAt: "desc" }, { kid: "asc" }], take: limit });
  return rows.map(parseTokenKey);
};

export const insertTokenKey = async (db: Queryable, { kid, publicJwk, sealed, createdAt }: TokenKey): Promise<void> => {
  const { kekId, bytes } = sealed;
  await db.tokenKey.create({
    data: { kid, publicJwk: { ...publicJwk }, privateEncrypted: Uint8Array.from(bytes), kekId, createdAt },
  });
};

/** Stores the key unless one exists: of many instances that start at once, one creates the key. */
export const insertFirstTokenKey = async (database: Database, key: TokenKey): Promise<void> => {
  await database.transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
    if ((await tx.tokenKey.count()) > 0) return;
    await insertTokenKey(tx, key);
  });
};

/** @returns false when there is no such key */
export const deleteTokenKey = async (db: Queryable, kid: string): Promise<boolean> =>
  (await db.tokenKey.deleteMany({ where: { kid } })).count > 0;

/** Deletes the keys that are older. @returns their kids */
export const deleteTokenKeysBefore = async (db: Queryable, createdAt: Date): Promise<readonly string[]> => {
  const rows = await db.tokenKey.findMany({ where: { createdAt: { lt: createdAt } }, select: { kid: true } });
  const kids = rows.map(({ kid }) => kid);
  await db.tokenKey.deleteMany({ where: { kid: { in: kids } } });
  return kids;
};

/** For the rotation of key-encryption keys. */
export const encryptedTokenKeys = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "token signing keys",
  count: async () => {
    const groups = await prisma.tokenKey.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const groups = await prisma.tokenKey.groupBy({ by: ["kekId"] });
    return groups.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.tokenKey.findMany({
      where: { kekId, kid: { gt: afterId } },
      orderBy: { kid: "asc" },
      take: limit,
    });
    return rows.map(({ kid, privateEncrypted: bytes }) => ({
      id: kid,
      context: tokenKeyContext(kid),
      sealed: { kekId, bytes },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.tokenKey.updateMany({
      where: { kid: id, kekId: sealed.kekId, privateEncrypted: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, privateEncrypted: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
