import type { Database } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";
import type { StepRow, TransferRow } from "./rows";

export interface HistoryQuery {
  readonly projectId: string;
  /** Only what this private wallet pays or receives. */
  readonly walletId?: string | undefined;
  /** The page cursor: only transfers with a smaller id, which are older ones. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Reads pages of private operations. */
export const createHistoryRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  /** Newest first. */
  listTransfers: ({ projectId, walletId, before, limit }: HistoryQuery): Promise<TransferRow[]> => {
    const ofWallet: Prisma.PrivacyTransferWhereInput =
      walletId === undefined ? {} : { OR: [{ walletId }, { toWalletId: walletId }] };
    return prisma.privacyTransfer.findMany({
      where: { projectId, ...ofWallet, ...(before === undefined ? {} : { id: { lt: before } }) },
      orderBy: { id: "desc" },
      take: limit,
    });
  },

  /** By operation, each in order. */
  stepsOfMany: async (
    projectId: string,
    operationIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly StepRow[]>> => {
    const rows = (await prisma.privacyStep.findMany({
      where: { projectId, operationId: { in: [...operationIds] } },
      orderBy: [{ operationId: "asc" }, { position: "asc" }],
    })) as StepRow[];
    return new Map(operationIds.map((id) => [id, rows.filter(({ operationId }) => operationId === id)]));
  },
});
