import type { Database } from "@/lib/db/client";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { managedKeyContext } from "@/lib/ports/encryption";

interface ManagedKey {
  readonly id: string;
  readonly projectId: string | null;
  readonly address: string;
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
}

export interface ManagedKeyRepository {
  /** Stores the key unless its id is taken; answers with the key that has the id now. A key is never replaced. */
  insert(key: ManagedKey, createdAt: Date): Promise<ManagedKey>;
  find(id: string): Promise<ManagedKey | null>;
}

/** The id of the key with this address, if it is one of the project's. */
export const findProjectKeyId = async (
  { prisma }: Pick<Database, "prisma">,
  { projectId, address }: { projectId: string; address: string },
): Promise<string | null> => {
  const key = await prisma.managedKey.findUnique({ where: { address, projectId }, select: { id: true } });
  return key?.id ?? null;
};

/** The store of the local signer (table `managed_key`): ciphertexts alone, the key-encryption key never comes here. */
export const createManagedKeyRepository = ({ prisma }: Database): ManagedKeyRepository => ({
  insert: async (key, createdAt) => {
    const data = {
      ...key,
      ciphertext: Uint8Array.from(key.ciphertext),
      wrappedDataKey: Uint8Array.from(key.wrappedDataKey),
      createdAt,
    };
    await prisma.managedKey.createMany({ data: [data], skipDuplicates: true });
    return prisma.managedKey.findUniqueOrThrow({ where: { id: key.id } });
  },
  find: (id) => prisma.managedKey.findUnique({ where: { id } }),
});

/** The rows that a rotation of key-encryption keys encrypts again. Only a wallet's data key is encrypted under a key-encryption key. */
export const encryptedManagedKeys = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "wallet keys",
  count: async () => {
    const groups = await prisma.managedKey.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    // From one id to the next by the index: a few look-ups, however many rows there are.
    const rows = await prisma.$queryRaw<{ kek_id: string }[]>`
      WITH RECURSIVE used AS (
        SELECT min(kek_id) AS kek_id FROM managed_key
        UNION ALL
        SELECT (SELECT min(kek_id) FROM managed_key WHERE kek_id > used.kek_id) FROM used WHERE used.kek_id IS NOT NULL
      )
      SELECT kek_id FROM used WHERE kek_id IS NOT NULL`;
    return rows.map((row) => row.kek_id);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const rows = await prisma.managedKey.findMany({
      where: { kekId, id: { gt: afterId } },
      orderBy: { id: "asc" },
      take: limit,
      select: { id: true, projectId: true, wrappedDataKey: true },
    });
    return rows.map(({ id, projectId, wrappedDataKey: bytes }) => ({
      id,
      context: managedKeyContext({ projectId, keyId: id }),
      sealed: { kekId, bytes },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.managedKey.updateMany({
      where: { id, kekId: sealed.kekId, wrappedDataKey: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, wrappedDataKey: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
