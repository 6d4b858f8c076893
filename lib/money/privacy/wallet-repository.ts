import type { Database, Tx } from "@/lib/platform/db/client";
import { type AuditEntry, recordAudit } from "@/lib/news/audit/service";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import { mnemonicContext, type PrivateWallet } from "./rows";
import { z } from "zod";
import type {
  BlockMark,
  PoolLogSegment,
  PoolLogStore,
} from "@/lib/money/ports/privacy-history";
import { storedHex } from "@/lib/platform/db/codecs";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";

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
      // A concurrent request may have created the project's default wallet. Then this wallet is not
      // stored.
      skipDuplicates: true,
    });
    if (count === 1) await recordAudit(tx, audit);
  };

  return {
    /** Stores the wallet, unless it is a second default wallet of the project. */
    insert: (wallet: PrivateWallet, audit: AuditEntry): Promise<void> =>
      database.transaction((tx) => insert(tx, wallet, audit)),
    transaction: <T>(work: (tx: Tx) => Promise<T>): Promise<T> => database.transaction(work),
    /**
     * Marks the wallet as exported, permanently.
     * @param how `decisionId`: the request whose votes allowed showing the mnemonic; null when no
     * votes were needed
     * @returns false when that request has already shown the mnemonic
     */
    markExported: async (
      tx: Tx,
      { projectId, id }: PrivateWallet,
      { decisionId, at }: { readonly decisionId: string | null; readonly at: Date },
    ): Promise<boolean> => {
      await tx.privacyWallet.updateMany({
        where: { projectId, id, exportedAt: null },
        data: { exportedAt: at },
      });
      if (decisionId === null) return true;
      const notBefore = {
        OR: [{ exportDecisionId: null }, { exportDecisionId: { not: decisionId } }],
      };
      const where = { projectId, id, ...notBefore };
      return (
        (await tx.privacyWallet.updateMany({ where, data: { exportDecisionId: decisionId } }))
          .count === 1
      );
    },
    find: (projectId: string, id: string): Promise<PrivateWallet | null> =>
      prisma.privacyWallet.findUnique({ where: { projectId_id: { projectId, id } } }),
    findDefault: (projectId: string): Promise<PrivateWallet | null> =>
      prisma.privacyWallet.findFirst({ where: { projectId, isDefault: true } }),
    list: (projectId: string, limit: number): Promise<PrivateWallet[]> =>
      prisma.privacyWallet.findMany({
        where: { projectId },
        orderBy: { id: "asc" },
        take: limit,
      }),
  };
};

export type PrivacyWalletRepository = ReturnType<typeof createPrivacyWalletRepository>;

const keyOf = (id: string) => {
  const [projectId = "", walletId = ""] = id.split("/");
  return { projectId, id: walletId };
};

/**
 * The encrypted data keys of private wallets. `npm run keys:rotate` encrypts each of them again
 * under the newest key.
 */
export const encryptedPrivacyWallets = ({
  prisma,
}: Pick<Database, "prisma">): EncryptedRows => ({
  name: "private wallets",
  count: async () => {
    const groups = await prisma.privacyWallet.groupBy({ by: ["kekId"], _count: true });
    return new Map(groups.map(({ kekId, _count }) => [kekId, _count]));
  },
  keyIds: async () => {
    const rows = await prisma.privacyWallet.findMany({
      distinct: ["kekId"],
      select: { kekId: true },
    });
    return rows.map(({ kekId }) => kekId);
  },
  batch: async ({ kekId, afterId, limit }) => {
    const after = keyOf(afterId);
    const rows = await prisma.privacyWallet.findMany({
      where: {
        kekId,
        ...(afterId === ""
          ? {}
          : {
              OR: [
                { projectId: { gt: after.projectId } },
                { projectId: after.projectId, id: { gt: after.id } },
              ],
            }),
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
      where: {
        ...keyOf(id),
        kekId: sealed.kekId,
        wrappedDataKey: Uint8Array.from(sealed.bytes),
      },
      data: { kekId: next.kekId, wrappedDataKey: Uint8Array.from(next.bytes) },
    });
    return count === 1;
  },
});

/** JSON column of logs in the order of the chain. The order of each log's fields is fixed. */
const storedLogs = z.array(
  z.tuple([storedHex, storedHex, storedHex, storedHex, storedHex, z.string()]),
);

const toStoredLogs = ({ logs }: PoolLogSegment): z.output<typeof storedLogs> =>
  logs.map(({ pool, topic, account, data, txHash, blockNumber }) => [
    ...([pool, topic, account, data, txHash] as const),
    blockNumber.toString(),
  ]);

const fromStoredLogs = (json: unknown): PoolLogSegment["logs"] =>
  storedLogs.parse(json).map(([pool, topic, account, data, txHash, block]) => ({
    ...{ pool, topic, account, data, txHash },
    blockNumber: BigInt(block),
  }));

const markOf = (row: { toBlock: bigint; toHash: string }): BlockMark => ({
  number: row.toBlock,
  hash: storedHex.parse(row.toHash),
});

/** Final logs of privacy pools. They are public, and belong to no project. */
export const createPoolLogRepository = ({
  prisma,
}: Pick<Database, "prisma">): PoolLogStore => ({
  load: async ({ chainId, digest }) => {
    const rows = await prisma.privacyPoolSegment.findMany({
      where: { chainId, digest },
      orderBy: { fromBlock: "asc" },
    });
    return rows.map((row) => ({
      fromBlock: row.fromBlock,
      to: markOf(row),
      logs: fromStoredLogs(row.logs),
    }));
  },
  end: async ({ chainId, digest }) => {
    const row = await prisma.privacyPoolSegment.findFirst({
      where: { chainId, digest },
      orderBy: { fromBlock: "desc" },
      select: { toBlock: true, toHash: true },
    });
    return row === null ? null : markOf(row);
  },
  append: async ({ chainId, digest }, startBlock, segment) => {
    const { fromBlock, to } = segment;
    const logs = JSON.stringify(toStoredLogs(segment));
    // Two instances may append at the same time; the primary key lets only one of them succeed.
    const added = await sqlOf(prisma).change(sql`
      INSERT INTO privacy_pool_segment (chain_id, digest, from_block, to_block, to_hash, logs)
      SELECT ${chainId}::int, ${digest}::text, ${fromBlock}::bigint, ${to.number}::bigint,
        ${to.hash}::text, ${logs}::jsonb
      WHERE ${fromBlock}::bigint = (
        SELECT coalesce(max(to_block) + 1, ${startBlock}::bigint) FROM privacy_pool_segment
        WHERE chain_id = ${chainId}::int AND digest = ${digest}
      )
      ON CONFLICT (chain_id, digest, from_block) DO NOTHING`);
    return added === 1;
  },
  clear: async ({ chainId, digest }) => {
    await prisma.privacyPoolSegment.deleteMany({ where: { chainId, digest } });
  },
});
