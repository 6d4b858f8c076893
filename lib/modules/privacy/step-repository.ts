import type { Database, Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { moveLegless, type LeglessMove } from "@/lib/modules/operations/service";
import type { SpendTransaction } from "@/lib/ports/privacy";
import { toStored } from "@/lib/ports/routing-json";
import { TakenError } from "./errors";
import { EXIT_RUNS, lockWallet, type Spender } from "./note-repository";
import { parsePrivateStep, type PrivateStep, type StepFailure, type StepState } from "./private-step";
import { takeSlot, type Slot } from "./slot-repository";

export interface NewStep {
  readonly noteId: string;
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
  /** The deposit number of the note that the step makes, and whose number it is; null when the money goes to an address. */
  readonly slot: Slot | null;
}

/** New values of a step; those that are not named stay. */
export interface StepChange {
  readonly transaction?: SpendTransaction | null;
  readonly attempt?: number;
  readonly txHash?: string | null;
  readonly blockNumber?: bigint;
  readonly receivedBase?: bigint;
  readonly failure?: StepFailure;
  readonly provingSince?: Date;
}

/** Stores the steps of an operation, which take their notes and deposit numbers. @throws TakenError */
export const insertSteps = async (
  tx: Tx,
  { walletId, ...at }: Spender,
  steps: readonly NewStep[],
  now: Date,
): Promise<void> => {
  await lockWallet(tx, { ...at, walletId });
  const noteIds = steps.map(({ noteId }) => noteId);
  const [leaving] = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM privacy_transfer t JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
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

const changedColumns = ({ transaction, receivedBase, failure, ...rest }: StepChange) => ({
  ...rest,
  ...(transaction === undefined ? {} : { transaction: transaction === null ? Prisma.DbNull : toStored(transaction) }),
  ...(receivedBase === undefined ? {} : { receivedBase: toDecimal(receivedBase) }),
  ...(failure === undefined ? {} : { failure: toStored(failure) }),
});

/** Notes on their way out of pools. A change that came too late changes nothing and answers false. */
export const createStepRepository = (database: Database) => {
  const { prisma } = database;

  return {
    /** The steps of an operation, by position. */
    steps: async (projectId: string, operationId: string): Promise<PrivateStep[]> => {
      const rows = await prisma.privacyStep.findMany({
        where: { projectId, operationId },
        orderBy: { position: "asc" },
      });
      return rows.map(parsePrivateStep);
    },

    /** The steps of several operations: by operation, then by position. */
    stepsOfMany: async (
      projectId: string,
      operationIds: readonly string[],
    ): Promise<ReadonlyMap<string, readonly PrivateStep[]>> => {
      const rows = await prisma.privacyStep.findMany({
        where: { projectId, operationId: { in: [...operationIds] } },
        orderBy: [{ operationId: "asc" }, { position: "asc" }],
      });
      const steps = rows.map(parsePrivateStep);
      return new Map(operationIds.map((id) => [id, steps.filter(({ operationId }) => operationId === id)]));
    },

    /** Records that the proof of a queued step has its turn. The version stays, so that the prover can move the step it has read. */
    recordProofStart: async (
      { projectId, operationId, position, version }: PrivateStep,
      provingSince: Date,
    ): Promise<void> => {
      await prisma.privacyStep.updateMany({
        where: { projectId, operationId, position, version, state: "queued" },
        data: { provingSince },
      });
    },

    /**
     * Moves a step, and its operation with it when `operation` is given: both or none. False when somebody else moved one of them.
     */
    moveStep: (
      step: PrivateStep,
      to: StepState,
      change: StepChange,
      operation: LeglessMove | null,
      now: Date,
    ): Promise<boolean> =>
      database
        .transaction(async (tx) => {
          if (operation !== null && !(await moveLegless(tx, operation, now))) return false;
          const { projectId, operationId, position, version, state } = step;
          const { count } = await tx.privacyStep.updateMany({
            where: { projectId, operationId, position, version, state },
            data: { ...changedColumns(change), state: to, version: { increment: 1 }, updatedAt: now },
          });
          // Throwing rolls the operation's move back too.
          if (count === 0) throw new TakenError("The step was moved.");
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof TakenError) return false;
          throw error;
        }),

    /**
     * proved → submitted, in the transaction that stores the signed transaction. A worker that comes too late therefore sends nothing, and
     * a step that failed or is proved anew has no transaction that could still be mined. False when somebody else moved the step.
     */
    claimSubmission: async (tx: Tx, step: PrivateStep, now: Date): Promise<boolean> => {
      const { projectId, operationId, position, version } = step;
      const { count } = await tx.privacyStep.updateMany({
        where: { projectId, operationId, position, version, state: "proved" },
        data: { state: "submitted", version: { increment: 1 }, updatedAt: now },
      });
      return count === 1;
    },
  };
};
