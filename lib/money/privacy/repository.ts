import type { Database, Tx } from "@/lib/platform/db/client";
import {
  parsePrivateQuote,
  parsePrivateTransfer,
  type PrivateQuote,
  privateQuoteColumns,
  type PrivateTransfer,
  privateTransferColumns,
} from "./rows";
import { createdBetween, type CreatedBetween, oneOf } from "@/lib/platform/db/list-filters";
import { Prisma } from "@/lib/platform/db/generated/client";
import {
  approveLegless,
  cancelledLegless,
  insertLegless,
  type LeglessMove,
  type LeglessOperation,
  moveLegless,
} from "@/lib/money/operations/service";
import { bindDeps } from "@/lib/core/bind-deps";
import { sqlOf } from "@/lib/platform/db/sql";
import { type AuditEntry, recordAudit } from "@/lib/news/audit/service";
import { cancelDecision } from "@/lib/trust/decisions/service";
import { TakenError } from "./errors";
import {
  createNoteRepository,
  createSlotRepository,
  createStepRepository,
  insertSteps,
  type NewStep,
} from "./step-repository";

const createQuoteRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  insertQuote: async (quote: PrivateQuote): Promise<void> => {
    await prisma.privacyQuote.create({ data: privateQuoteColumns(quote) });
  },

  findQuote: async (projectId: string, id: string): Promise<PrivateQuote | null> => {
    const row = await prisma.privacyQuote.findUnique({
      where: { projectId_id: { projectId, id } },
    });
    return row === null ? null : parsePrivateQuote(row);
  },

  /**
   * Moves the quote from open or prepared to prepared. Returns false when it was used, or prepared
   * by another request, since it was read.
   */
  prepareQuote: async (
    { projectId, id, walletId, codeId }: PrivateQuote,
    change: {
      walletId: string;
      approvedAt: Date | null;
      codeId: string | null;
      codeMeans: string | null;
    },
    now: Date,
  ): Promise<boolean> => {
    const { count } = await prisma.privacyQuote.updateMany({
      where: {
        projectId,
        id,
        walletId,
        codeId,
        status: { in: ["open", "prepared"] },
        expiresAt: { gt: now },
      },
      data: { status: "prepared", ...change },
    });
    return count === 1;
  },
});

export interface PrivateFilter extends CreatedBetween {
  readonly kind?: readonly PrivateTransfer["kind"][] | undefined;
  readonly chainId?: readonly number[] | undefined;
}

interface HistoryQuery {
  readonly projectId: string;
  /** Only transfers that this private wallet pays or receives. */
  readonly walletId?: string | undefined;
  readonly filter: PrivateFilter;
  readonly before?: string | undefined;
  readonly limit: number;
}

const parseOrNull = (
  row: Parameters<typeof parsePrivateTransfer>[0] | null,
): PrivateTransfer | null => (row === null ? null : parsePrivateTransfer(row));

const insertTransfer = async (tx: Tx, transfer: PrivateTransfer): Promise<void> => {
  await tx.privacyTransfer.create({ data: privateTransferColumns(transfer) });
};

const createTransferRepository = (database: Database) => {
  const { prisma } = database;

  return {
    insertTransfer,

    findTransfer: async (projectId: string, id: string): Promise<PrivateTransfer | null> =>
      parseOrNull(
        await prisma.privacyTransfer.findUnique({ where: { projectId_id: { projectId, id } } }),
      ),

    findByOperation: async (
      projectId: string,
      operationId: string,
    ): Promise<PrivateTransfer | null> =>
      parseOrNull(
        await prisma.privacyTransfer.findUnique({
          where: { projectId_operationId: { projectId, operationId } },
        }),
      ),

    findByOperations: async (
      projectId: string,
      operationIds: readonly string[],
    ): Promise<PrivateTransfer[]> => {
      const where = { projectId, operationId: { in: [...operationIds] } };
      return (await prisma.privacyTransfer.findMany({ where })).map(parsePrivateTransfer);
    },

    findByKey: async (key: {
      projectId: string;
      createdBy: string;
      idempotencyKey: string;
    }): Promise<PrivateTransfer | null> =>
      parseOrNull(
        await prisma.privacyTransfer.findUnique({
          where: { projectId_createdBy_idempotencyKey: key },
        }),
      ),

    listTransfers: async ({
      projectId,
      walletId,
      filter,
      before,
      limit,
    }: HistoryQuery): Promise<PrivateTransfer[]> => {
      const ofWallet: Prisma.PrivacyTransferWhereInput =
        walletId === undefined ? {} : { OR: [{ walletId }, { toWalletId: walletId }] };
      const rows = await prisma.privacyTransfer.findMany({
        where: {
          projectId,
          ...ofWallet,
          ...oneOf("kind", filter.kind),
          ...oneOf("chainId", filter.chainId),
          ...createdBetween(filter),
          ...(before === undefined ? {} : { id: { lt: before } }),
        },
        orderBy: { id: "desc" },
        take: limit,
      });
      return rows.map(parsePrivateTransfer);
    },

    /**
     * Finds the operation by its id only, without the project's id, because a job has only the
     * operation's id.
     */
    operationOf: async (operationId: string) =>
      prisma.operation.findUnique({
        where: { id: operationId },
        select: {
          id: true,
          projectId: true,
          status: true,
          subStatus: true,
          evaluationId: true,
        },
      }),

    /**
     * Moves an operation from one of the states in `move.from`. Returns false when the operation is
     * in none of them.
     */
    moveOperation: (move: LeglessMove, now: Date): Promise<boolean> =>
      database.transaction((tx) => moveLegless(tx, move, now)),
  };
};

export const QUEUE = "privacy";

export interface NewSpend {
  /**
   * Returns the operation to store.
   * @param runs true when the operation runs at once; false when it awaits approval
   */
  readonly operation: (runs: boolean) => LeglessOperation;
  readonly transfer: PrivateTransfer;
  readonly steps: readonly NewStep[];
  /**
   * The swap's quote as read: the paying private wallet, and the code that approved the quote. Null
   * for other kinds.
   */
  readonly quote: {
    readonly id: string;
    readonly walletId: string;
    readonly codeId: string | null;
  } | null;
}

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";

/**
 * Replaces the error of a violated unique index by TakenError.
 * @throws TakenError when another operation has used the note since it was read
 */
const orTaken = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (isUniqueViolation(error)) throw new TakenError("A note is in use.", { cause: error });
    throw error;
  }
};

const spenderOf = ({ projectId, operationId, chainId, walletId }: PrivateTransfer) => ({
  projectId,
  operationId,
  chainId,
  walletId,
});

/**
 * Stores an operation that spends notes, with its transfer, and with its steps when it runs at
 * once.
 * @param admit decides in the same transaction whether the operation runs, and returns the id of
 * the policy evaluation; null when the operation awaits approval
 * @returns false when the quote is no longer prepared, or was prepared again since it was read
 * @throws TakenError
 */
const insertSpend = (
  database: Database,
  { operation, transfer, steps, quote }: NewSpend,
  admit: (tx: Tx) => Promise<string | null>,
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
      const evaluationId = await admit(tx);
      const runs = evaluationId !== null;
      // The transfer is stored before the operation, because the operation's first event refers to
      // it.
      await insertTransfer(tx, transfer);
      await insertLegless(tx, operation(runs), evaluationId, now);
      if (runs) await insertSteps(tx, spenderOf(transfer), steps, now);
      return true;
    }),
  );

/**
 * Moves a waiting operation to prepared, and stores its steps. Returns false when the operation no
 * longer awaits approval.
 * @throws TakenError
 */
const approveSpend = (
  database: Database,
  transfer: PrivateTransfer,
  steps: readonly NewStep[],
  {
    audit,
    enforce,
  }: { audit: Omit<AuditEntry, "subject" | "at">; enforce: (tx: Tx) => Promise<string> },
  now: Date,
): Promise<boolean> =>
  orTaken(
    database.transaction(async (tx) => {
      const { projectId, operationId } = transfer;
      if (
        !(await approveLegless(
          tx,
          { projectId, operationId, queue: QUEUE, audit },
          () => enforce(tx),
          now,
        ))
      )
        return false;
      await insertSteps(tx, spenderOf(transfer), steps, now);
      return true;
    }),
  );

/**
 * Cancels an operation without a stored proof, frees its notes, and ends its request for votes.
 * Returns false when the operation has begun or ended.
 */
const cancelSpend = (
  database: Database,
  { projectId, operationId }: PrivateTransfer,
  audit: AuditEntry,
  now: Date,
): Promise<boolean> =>
  database.transaction(async (tx) => {
    if (!(await cancelledLegless(tx, { projectId, id: operationId }, now))) return false;
    await tx.privacyStep.updateMany({
      where: { projectId, operationId, state: "queued" },
      data: { state: "failed", version: { increment: 1 }, updatedAt: now },
    });
    await recordAudit(tx, audit);
    await cancelDecision(sqlOf(tx), {
      projectId,
      subject: { type: "operation", id: operationId },
      at: now,
    });
    return true;
  });

/**
 * Operations that spend notes are stored, approved and cancelled together with their transfers and
 * steps.
 */
const createSpendRepository = (database: Database) => ({
  insertSpend: bindDeps(database, insertSpend),
  approveSpend: bindDeps(database, approveSpend),
  cancelSpend: bindDeps(database, cancelSpend),
});

export const createPrivacyRepository = (database: Database) => ({
  ...createTransferRepository(database),
  ...createSpendRepository(database),
  ...createStepRepository(database),
  ...createNoteRepository(database),
  ...createSlotRepository(database),
  ...createQuoteRepository(database),
});

export type PrivacyRepository = ReturnType<typeof createPrivacyRepository>;
