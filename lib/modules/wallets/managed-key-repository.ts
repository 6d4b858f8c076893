import type { Database } from "@/lib/db/client";

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
