import type { Database, Tx } from "@/lib/db/client";
import { toBigInt, toDecimal } from "@/lib/db/decimal";
import { Prisma, type PrivacyTransfer } from "@/lib/db/generated/client";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { recordAudit } from "@/lib/modules/audit/service";
import {
  approveLegless,
  cancelledLegless,
  insertLegless,
  moveLegless,
  type LeglessMove,
  type LeglessOperation,
} from "@/lib/modules/operations/service";
import { toStored } from "@/lib/ports/routing-json";
import type { SpendTransaction } from "@/lib/ports/privacy";
import { createHistoryRepository } from "./history-repository";
import { createQuoteRepository } from "./quote-repository";
import type { StepRow, StepState } from "./rows";
import { insertSlot, numbersInUse, type Slot } from "./slot-repository";

export type { QuoteRow } from "./quote-repository";
export type { StepRow, TransferRow } from "./rows";

export type NewTransfer = Prisma.PrivacyTransferUncheckedCreateInput;

export interface NewStep {
  readonly noteId: string;
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
  /** The deposit number that the step uses, and whose. */
  readonly slot: Slot | null;
}

/** Somebody took a note or a deposit number since it was read. */
export class TakenError extends Error {}

export const QUEUE = "privacy";
const OPEN: readonly StepState[] = ["queued", "proved", "submitted"];

/** Of an operation `o`: it takes its note out, or may. One that awaits approval has not begun. */
const EXIT_RUNS = Prisma.sql`(o.status = 'processing' OR (o.status = 'pending' AND o.sub_status <> 'awaiting_approval'))`;

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";

/** Takes a deposit number that no other operation uses or has used. @throws TakenError */
const takeSlot = async (
  tx: Tx,
  at: { projectId: string; chainId: number; operationId: string },
  slot: Slot,
): Promise<void> => {
  if (!(await insertSlot(tx, at, slot))) throw new TakenError("The deposit number is in use.");
};

/** What takes notes out of a wallet is let run one after the other, so that a public exit and a spend do not share a note. */
const lockWallet = async (tx: Tx, { projectId, walletId }: { projectId: string; walletId: string }): Promise<void> => {
  await tx.$queryRaw`SELECT id FROM privacy_wallet WHERE project_id = ${projectId} AND id = ${walletId} FOR UPDATE`;
};

const insertSteps = async (
  tx: Tx,
  { walletId, ...at }: { projectId: string; walletId: string; chainId: number; operationId: string },
  steps: readonly NewStep[],
  now: Date,
): Promise<void> => {
  await lockWallet(tx, { ...at, walletId });
  const noteIds = steps.map(({ noteId }) => noteId);
  const [leaving] = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM privacy_transfer t JOIN operation o ON o.id = t.operation_id
    WHERE t.project_id = ${at.projectId} AND t.chain_id = ${at.chainId} AND t.note_id = ANY(${noteIds}) AND ${EXIT_RUNS}`;
  if (leaving !== undefined) throw new TakenError("A note leaves by its public exit.");
  for (const { slot } of steps) if (slot !== null) await takeSlot(tx, at, slot);
  await tx.privacyStep.createMany({
    data: steps.map((step, position) => ({
      ...at,
      position,
      noteId: step.noteId,
      state: "queued",
      withdrawBase: toDecimal(step.withdrawBase),
      outBase: toDecimal(step.outBase),
      slotNumber: step.slot?.number ?? null,
      updatedAt: now,
    })),
  });
};

export const createPrivacyRepository = (database: Database) => {
  const { prisma } = database;

  const orTaken = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (isUniqueViolation(error)) throw new TakenError("A note is in use.", { cause: error });
      throw error;
    }
  };

  return {
    ...createHistoryRepository(database),
    ...createQuoteRepository(database),
    takeSlot,

    findTransfer: (projectId: string, id: string): Promise<PrivacyTransfer | null> =>
      prisma.privacyTransfer.findUnique({ where: { projectId_id: { projectId, id } } }),
    findByOperation: (projectId: string, operationId: string): Promise<PrivacyTransfer | null> =>
      prisma.privacyTransfer.findUnique({ where: { projectId_operationId: { projectId, operationId } } }),
    findByKey: (key: {
      projectId: string;
      createdBy: string;
      idempotencyKey: string;
    }): Promise<PrivacyTransfer | null> =>
      prisma.privacyTransfer.findUnique({ where: { projectId_createdBy_idempotencyKey: key } }),
    insertTransfer: async (tx: Tx, transfer: NewTransfer): Promise<void> => {
      await tx.privacyTransfer.create({ data: transfer });
    },

    /** The operation that a job names. */
    operationOf: async (operationId: string) =>
      prisma.operation.findUnique({
        where: { id: operationId },
        select: { id: true, projectId: true, status: true, subStatus: true },
      }),

    steps: async (projectId: string, operationId: string): Promise<StepRow[]> =>
      (await prisma.privacyStep.findMany({
        where: { projectId, operationId },
        orderBy: { position: "asc" },
      })) as StepRow[],

    /** Notes that open steps of the project keep for themselves, with what of them goes. */
    notesInUse: async (projectId: string, chainId: number): Promise<ReadonlyMap<string, bigint>> => {
      const rows = await prisma.privacyStep.findMany({
        where: { projectId, chainId, state: { in: [...OPEN] } },
        select: { noteId: true, withdrawBase: true },
      });
      const leaving = await prisma.$queryRaw<{ note_id: string; amount_base: Prisma.Decimal }[]>`
        SELECT t.note_id, t.amount_base FROM privacy_transfer t JOIN operation o ON o.id = t.operation_id
        WHERE t.project_id = ${projectId} AND t.chain_id = ${chainId} AND t.note_id IS NOT NULL AND ${EXIT_RUNS}`;
      return new Map([
        ...rows.map(({ noteId, withdrawBase }) => [noteId, toBigInt(withdrawBase)] as const),
        ...leaving.map(({ note_id: noteId, amount_base: base }) => [noteId, toBigInt(base)] as const),
      ]);
    },

    /**
     * Makes sure, until the transaction ends, that no other operation takes the note out.
     * @throws TakenError
     */
    claimExit: async (
      tx: Tx,
      {
        projectId,
        walletId,
        chainId,
        noteId,
        operationId,
      }: Record<"projectId" | "walletId" | "noteId" | "operationId", string> & { chainId: number },
    ): Promise<void> => {
      await lockWallet(tx, { projectId, walletId });
      const [other] = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM privacy_transfer t JOIN operation o ON o.id = t.operation_id
        WHERE t.project_id = ${projectId} AND t.chain_id = ${chainId} AND t.note_id = ${noteId} AND t.operation_id <> ${operationId} AND ${EXIT_RUNS}
        UNION ALL
        SELECT 1 FROM privacy_step
        WHERE project_id = ${projectId} AND chain_id = ${chainId} AND note_id = ${noteId} AND state IN ('queued', 'proved', 'submitted')`;
      if (other !== undefined) throw new TakenError("The note is in use.");
    },

    numbersInUse: (projectId: string, walletId: string, at: { chainId: number; pool: string }) =>
      numbersInUse(database, { projectId, walletId, ...at }),

    /**
     * Stores an operation with what was asked for, and its steps where it runs at once.
     * @param admit decides in the same transaction whether it runs; false: it awaits approval
     * @throws TakenError
     */
    insert: (
      input: {
        readonly operation: (runs: boolean) => LeglessOperation;
        readonly transfer: NewTransfer;
        readonly steps: readonly NewStep[];
        /** As it was read: the wallet that it spends from, and the code that approved it. */
        readonly quote: { readonly id: string; readonly walletId: string; readonly codeId: string | null } | null;
      },
      admit: (tx: Tx) => Promise<boolean>,
      now: Date,
    ): Promise<boolean> =>
      orTaken(() =>
        database.transaction(async (tx) => {
          const { transfer, quote } = input;
          const { projectId, operationId, chainId, walletId } = transfer;
          if (quote !== null) {
            const { count } = await tx.privacyQuote.updateMany({
              where: { projectId, ...quote, status: "prepared" },
              data: { status: "used", operationId },
            });
            if (count === 0) return false;
          }
          const runs = await admit(tx);
          // Before the operation, whose first event names it.
          await tx.privacyTransfer.create({ data: transfer });
          await insertLegless(tx, input.operation(runs), now);
          if (runs) await insertSteps(tx, { projectId, operationId, chainId, walletId }, input.steps, now);
          return true;
        }),
      ),

    /** Lets an operation run that awaited approval. @throws TakenError */
    approve: (
      transfer: PrivacyTransfer,
      steps: readonly NewStep[],
      audit: Omit<AuditEntry, "subject" | "at">,
      now: Date,
    ): Promise<boolean> =>
      orTaken(() =>
        database.transaction(async (tx) => {
          const { projectId, operationId, chainId, walletId } = transfer;
          if (!(await approveLegless(tx, { operationId, queue: QUEUE, audit }, now))) return false;
          await insertSteps(tx, { projectId, operationId, chainId, walletId }, steps, now);
          return true;
        }),
      ),

    /** Ends an operation of which no proof was kept yet, and frees its notes. */
    cancel: (transfer: PrivacyTransfer, audit: AuditEntry, now: Date): Promise<boolean> =>
      database.transaction(async (tx) => {
        const { projectId, operationId } = transfer;
        if (!(await cancelledLegless(tx, operationId, now))) return false;
        await tx.privacyStep.updateMany({
          where: { projectId, operationId, state: "queued" },
          data: { state: "failed", version: { increment: 1 }, updatedAt: now },
        });
        await recordAudit(tx, audit);
        return true;
      }),

    /** The proof of a queued step has its turn. The step's version stays: whoever proves goes on with what it read. */
    noteProofBegan: async ({ projectId, operationId, position, version }: StepRow, at: Date): Promise<void> => {
      await prisma.privacyStep.updateMany({
        where: { projectId, operationId, position, version, state: "queued" },
        data: { provingSince: at },
      });
    },

    /**
     * Moves a step, and its operation with it where `operation` says so; both or none. False when somebody else moved one of them.
     */
    moveStep: (
      step: StepRow,
      to: StepState,
      change: {
        readonly transaction?: SpendTransaction | null;
        readonly attempt?: number;
        readonly txHash?: string | null;
        readonly blockNumber?: bigint;
        readonly receivedBase?: bigint;
        readonly failure?: { readonly code: string; readonly message: string; readonly retryable: boolean };
        readonly provingSince?: Date;
      },
      operation: LeglessMove | null,
      now: Date,
    ): Promise<boolean> =>
      database
        .transaction(async (tx) => {
          if (operation !== null && !(await moveLegless(tx, operation, now))) return false;
          const { transaction, receivedBase, failure, ...rest } = change;
          const { projectId, operationId, position, version, state } = step;
          const { count } = await tx.privacyStep.updateMany({
            where: { projectId, operationId, position, version, state },
            data: {
              ...rest,
              state: to,
              version: { increment: 1 },
              updatedAt: now,
              ...(transaction === undefined
                ? {}
                : { transaction: transaction === null ? Prisma.DbNull : toStored(transaction) }),
              ...(receivedBase === undefined ? {} : { receivedBase: toDecimal(receivedBase) }),
              ...(failure === undefined ? {} : { failure: toStored(failure) }),
            },
          });
          // Rolls the operation back too.
          if (count === 0) throw new TakenError("The step was moved.");
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof TakenError) return false;
          throw error;
        }),

    /**
     * proved → submitted, in the transaction that stores what is sent: a worker that comes too late sends nothing, and a step that
     * failed or is proved anew has no transaction that could still be mined. False when somebody else moved it.
     */
    claimSubmission: async (tx: Tx, step: StepRow, now: Date): Promise<boolean> => {
      const { projectId, operationId, position, version } = step;
      const { count } = await tx.privacyStep.updateMany({
        where: { projectId, operationId, position, version, state: "proved" },
        data: { state: "submitted", version: { increment: 1 }, updatedAt: now },
      });
      return count === 1;
    },

    moveOperation: (move: LeglessMove, now: Date): Promise<boolean> =>
      database.transaction((tx) => moveLegless(tx, move, now)),
  };
};

export type PrivacyRepository = ReturnType<typeof createPrivacyRepository>;
