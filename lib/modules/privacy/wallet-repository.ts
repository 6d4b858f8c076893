import type { Database, Tx } from "@/lib/db/client";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { mnemonicContext, type PrivateWallet } from "./private-wallet";

/** Stores private wallets. */
export const createPrivacyWalletRepository = (database: Database) => {
  const { prisma } = database;

  const insert = async (tx: Tx, wallet: PrivateWallet, audit: AuditEntry): Promise<void> => {
    const { count } = await tx.privacyWallet.createMany({
      data: [
        {
          ...wallet,
          ciphertext: Uint8Array.from(wallet.ciphertext),
          wrappedDataKey: Uint8Array.from(wallet.wrappedDataKey),
        },
      ],
      // Another request may make the project's default wallet at the same time.
      skipDuplicates: true,
    });
    if (count === 1) await recordAudit(tx, audit);
  };

  return {
    /** Stores the wallet, except a second default wallet of the project. */
    insert: (wallet: PrivateWallet, audit: AuditEntry): Promise<void> =>
      database.transaction((tx) => insert(tx, wallet, audit)),
    /** Writes the audit row of an export, and consumes its approval in the same transaction. */
    recordExport: (audit: AuditEntry, consume: (tx: Tx) => Promise<void>): Promise<void> =>
      database.transaction(async (tx) => {
        await consume(tx);
        await recordAudit(tx, audit);
      }),
    find: (projectId: string, id: string): Promise<PrivateWallet | null> =>
      prisma.privacyWallet.findUnique({ where: { projectId_id: { projectId, id } } }),
    findDefault: (projectId: string): Promise<PrivateWallet | null> =>
      prisma.privacyWallet.findFirst({ where: { projectId, isDefault: true } }),
    list: (projectId: string, limit: number): Promise<PrivateWallet[]> =>
      prisma.privacyWallet.findMany({ where: { projectId }, orderBy: { id: "asc" }, take: limit }),
  };
};

export type PrivacyWalletRepository = ReturnType<typeof createPrivacyWalletRepository>;

const keyOf = (id: string) => {
  const [projectId = "", walletId = ""] = id.split("/");
  return { projectId, id: walletId };
};

/** The data keys that have to be wrapped again when the key-encryption key is rotated. */
export const encryptedPrivacyWallets = ({ prisma }: Pick<Database, "prisma">): EncryptedRows => ({
  name: "private wallets",
  count: async () => {
    const groups = await prisma.privacyWallet.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const rows = await prisma.privacyWallet.findMany({ distinct: ["kekId"], select: { kekId: true } });
    return rows.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const after = keyOf(afterId);
    const rows = await prisma.privacyWallet.findMany({
      where: {
        kekId,
        ...(afterId === ""
          ? {}
          : { OR: [{ projectId: { gt: after.projectId } }, { projectId: after.projectId, id: { gt: after.id } }] }),
      },
      orderBy: [{ projectId: "asc" }, { id: "asc" }],
      take: limit,
      select: { projectId: true, id: true, wrappedDataKey: true },
    });
    return rows.map(({ wrappedDataKey: bytes, ...row }) => ({
      id: `${row.projectId}/${row.id}`,
      context: mnemonicContext(row),
      sealed: { kekId, bytes },
    }));
  },
  replace: async ({ id, sealed }, next) => {
    const { count } = await prisma.privacyWallet.updateMany({
      where: { ...keyOf(id), kekId: sealed.kekId, wrappedDataKey: Uint8Array.from(sealed.bytes) },
      data: { kekId: next.kekId, wrappedDataKey: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});
