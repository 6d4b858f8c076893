import type { Database, Tx } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";
import { moveLegless, type LeglessMove } from "@/lib/modules/operations/service";
import { parsePrivateTransfer, privateTransferColumns, type PrivateTransfer } from "./private-transfer";

export interface HistoryQuery {
  readonly projectId: string;
  /** Only transfers that this private wallet pays or receives. */
  readonly walletId?: string | undefined;
  /** The page cursor: only transfers with a smaller id, which are older ones. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const parseOrNull = (row: Parameters<typeof parsePrivateTransfer>[0] | null): PrivateTransfer | null =>
  row === null ? null : parsePrivateTransfer(row);

export const insertTransfer = async (tx: Tx, transfer: PrivateTransfer): Promise<void> => {
  await tx.privacyTransfer.create({ data: privateTransferColumns(transfer) });
};

/** Private transfers, and the states of their operations. */
export const createTransferRepository = (database: Database) => {
  const { prisma } = database;

  return {
    insertTransfer,

    findTransfer: async (projectId: string, id: string): Promise<PrivateTransfer | null> =>
      parseOrNull(await prisma.privacyTransfer.findUnique({ where: { projectId_id: { projectId, id } } })),

    findByOperation: async (projectId: string, operationId: string): Promise<PrivateTransfer | null> =>
      parseOrNull(
        await prisma.privacyTransfer.findUnique({ where: { projectId_operationId: { projectId, operationId } } }),
      ),

    findByOperations: async (projectId: string, operationIds: readonly string[]): Promise<PrivateTransfer[]> => {
      const where = { projectId, operationId: { in: [...operationIds] } };
      return (await prisma.privacyTransfer.findMany({ where })).map(parsePrivateTransfer);
    },

    findByKey: async (key: {
      projectId: string;
      createdBy: string;
      idempotencyKey: string;
    }): Promise<PrivateTransfer | null> =>
      parseOrNull(await prisma.privacyTransfer.findUnique({ where: { projectId_createdBy_idempotencyKey: key } })),

    /** Newest first. */
    listTransfers: async ({ projectId, walletId, before, limit }: HistoryQuery): Promise<PrivateTransfer[]> => {
      const ofWallet: Prisma.PrivacyTransferWhereInput =
        walletId === undefined ? {} : { OR: [{ walletId }, { toWalletId: walletId }] };
      const rows = await prisma.privacyTransfer.findMany({
        where: { projectId, ...ofWallet, ...(before === undefined ? {} : { id: { lt: before } }) },
        orderBy: { id: "desc" },
        take: limit,
      });
      return rows.map(parsePrivateTransfer);
    },

    /** The operation that a job names. */
    operationOf: async (operationId: string) =>
      prisma.operation.findUnique({
        where: { id: operationId },
        select: { id: true, projectId: true, status: true, subStatus: true, evaluationId: true },
      }),

    /** False when the operation is in none of the states that `move` starts from. */
    moveOperation: (move: LeglessMove, now: Date): Promise<boolean> =>
      database.transaction((tx) => moveLegless(tx, move, now)),
  };
};
