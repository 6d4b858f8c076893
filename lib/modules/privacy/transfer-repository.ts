import type { Database, Tx } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import {
  approveLegless,
  cancelledLegless,
  insertLegless,
  moveLegless,
  type LeglessMove,
  type LeglessOperation,
} from "@/lib/modules/operations/service";
import { TakenError } from "./errors";
import { parsePrivateTransfer, privateTransferColumns, type PrivateTransfer } from "./private-transfer";
import { insertSteps, type NewStep } from "./step-repository";

/** The queue of the jobs that carry out operations which spend notes. */
export const QUEUE = "privacy";

export interface NewSpend {
  /** @param runs whether the operation runs at once; otherwise it awaits approval */
  readonly operation: (runs: boolean) => LeglessOperation;
  readonly transfer: PrivateTransfer;
  readonly steps: readonly NewStep[];
  /** The swap's quote as it was read: the private wallet that pays, and the code that approved it. Null for other kinds. */
  readonly quote: { readonly id: string; readonly walletId: string; readonly codeId: string | null } | null;
}

export interface HistoryQuery {
  readonly projectId: string;
  /** Only transfers that this private wallet pays or receives. */
  readonly walletId?: string | undefined;
  /** The page cursor: only transfers with a smaller id, which are older ones. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";

/** Reports a note that another operation took meanwhile. @throws TakenError */
const orTaken = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (isUniqueViolation(error)) throw new TakenError("A note is in use.", { cause: error });
    throw error;
  }
};

const parseOrNull = (row: Parameters<typeof parsePrivateTransfer>[0] | null): PrivateTransfer | null =>
  row === null ? null : parsePrivateTransfer(row);

const insertTransfer = async (tx: Tx, transfer: PrivateTransfer): Promise<void> => {
  await tx.privacyTransfer.create({ data: privateTransferColumns(transfer) });
};

/** Private transfers together with their operations. */
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
        select: { id: true, projectId: true, status: true, subStatus: true },
      }),

    /**
     * Stores an operation that spends notes, with its request, and with its steps when it runs at once.
     * @param admit decides in the same transaction whether it runs; when it answers false the operation awaits approval
     * @returns false when the quote is not prepared any more, or was prepared anew since it was read
     * @throws TakenError
     */
    insertSpend: (
      { operation, transfer, steps, quote }: NewSpend,
      admit: (tx: Tx) => Promise<boolean>,
      now: Date,
    ): Promise<boolean> =>
      orTaken(
        database.transaction(async (tx) => {
          const { projectId, operationId } = transfer;
          if (quote !== null) {
            const { count } = await tx.privacyQuote.updateMany({
              where: { projectId, ...quote, status: "prepared" },
              data: { status: "used", operationId },
            });
            if (count === 0) return false;
          }
          const runs = await admit(tx);
          // The transfer is stored before the operation, because the operation's first event names it.
          await insertTransfer(tx, transfer);
          await insertLegless(tx, operation(runs), now);
          if (runs) await insertSteps(tx, spenderOf(transfer), steps, now);
          return true;
        }),
      ),

    /** awaiting approval → prepared. False when the operation does not await approval any more. @throws TakenError */
    approveSpend: (
      transfer: PrivateTransfer,
      steps: readonly NewStep[],
      audit: Omit<AuditEntry, "subject" | "at">,
      now: Date,
    ): Promise<boolean> =>
      orTaken(
        database.transaction(async (tx) => {
          const { operationId } = transfer;
          if (!(await approveLegless(tx, { operationId, queue: QUEUE, audit }, now))) return false;
          await insertSteps(tx, spenderOf(transfer), steps, now);
          return true;
        }),
      ),

    /** Cancels an operation of which no proof is stored yet, and frees its notes. False when it has begun or has ended. */
    cancelSpend: ({ projectId, operationId }: PrivateTransfer, audit: AuditEntry, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        if (!(await cancelledLegless(tx, operationId, now))) return false;
        await tx.privacyStep.updateMany({
          where: { projectId, operationId, state: "queued" },
          data: { state: "failed", version: { increment: 1 }, updatedAt: now },
        });
        await recordAudit(tx, audit);
        return true;
      }),

    /** False when the operation is in none of the states that `move` starts from. */
    moveOperation: (move: LeglessMove, now: Date): Promise<boolean> =>
      database.transaction((tx) => moveLegless(tx, move, now)),
  };
};

const spenderOf = ({ projectId, operationId, chainId, walletId }: PrivateTransfer) => ({
  projectId,
  operationId,
  chainId,
  walletId,
});
