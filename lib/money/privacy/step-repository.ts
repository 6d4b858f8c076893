import type { Database, Tx } from "@/lib/platform/db/client";
import { Prisma } from "@/lib/platform/db/generated/client";
import { TakenError } from "./errors";
import { toBigInt, toDecimal } from "@/lib/platform/db/decimal";
import { sqlOf } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { base, int, table, text } from "@/lib/platform/db/table";
import { parsePrivateStep, type PrivateStep, type StepFailure, type StepState } from "./rows";
import { type LeglessMove, moveLegless } from "@/lib/money/operations/service";
import type { SpendTransaction } from "@/lib/money/ports/privacy";
import { toStored } from "@/lib/platform/db/codecs";

interface Slot {
  readonly walletId: string;
  readonly pool: string;
  readonly number: number;
}

/**
 * SQL condition: the deposit number of the slot can be used again. The operation or step that
 * reserved it ended without a deposit, and no transaction can make that deposit any more. The SQL
 * builds the purpose text of a transaction as `purposeOf` of drive-step.ts does. Only the last
 * attempt's transaction is checked, because those of earlier attempts are final before the next
 * attempt begins.
 */
const isFree = (slot: Statement): Statement => sql`
  EXISTS (
    SELECT 1 FROM operation o
    LEFT JOIN privacy_step p
      ON p.project_id = ${slot}.project_id
      AND p.operation_id = o.id
      AND p.slot_number = ${slot}.number
    LEFT JOIN chain_transaction t
      ON t.chain_id = p.chain_id
      AND t.purpose = 'privacy:' || p.operation_id || ':' || p.position || ':' || p.attempt
    WHERE o.id = ${slot}.operation_id
      AND (t.id IS NULL OR t.status = 'final')
      AND CASE
        WHEN p.state IS NULL THEN o.status IN ('failed', 'cancelled', 'expired', 'refunded')
        ELSE p.state = 'failed'
      END
  )`;

/**
 * Reserves a deposit number that no other operation uses or has used for a deposit.
 * @throws TakenError
 */
const takeSlot = async (
  tx: Tx,
  at: { readonly projectId: string; readonly chainId: number; readonly operationId: string },
  slot: Slot,
): Promise<void> => {
  const taken = await sqlOf(tx).change(sql`
    INSERT INTO privacy_slot (project_id, wallet_id, chain_id, pool, number, operation_id)
    VALUES (
      ${at.projectId},
      ${slot.walletId},
      ${at.chainId}::int,
      ${slot.pool},
      ${slot.number}::int,
      ${at.operationId}
    )
    ON CONFLICT (project_id, wallet_id, chain_id, pool, number) DO UPDATE SET
      operation_id = EXCLUDED.operation_id
    WHERE ${isFree(raw("privacy_slot"))}`);
  if (taken === 0) throw new TakenError("The deposit number is in use.");
};

const numbers = table({ number: int });

export const createSlotRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  takeSlot,

  /** The wallet's deposit numbers in the pool that operations use, or have used for a deposit. */
  numbersInUse: async (
    projectId: string,
    walletId: string,
    at: { readonly chainId: number; readonly pool: string },
  ): Promise<ReadonlySet<number>> => {
    const used = await numbers.all(
      sqlOf(prisma),
      sql`
        SELECT ${numbers.columns("s")} FROM privacy_slot s
        WHERE s.project_id = ${projectId}
          AND s.wallet_id = ${walletId}
          AND s.chain_id = ${at.chainId}::int
          AND s.pool = ${at.pool}
          AND NOT ${isFree(raw("s"))}`,
    );
    return new Set(used.map(({ number }) => number));
  },
});

interface Spender {
  readonly projectId: string;
  readonly walletId: string;
  readonly chainId: number;
  readonly operationId: string;
}

const OPEN: readonly StepState[] = ["queued", "proved", "submitted"];

/**
 * SQL condition: the operation `o` withdraws its note, or can still do so. An exit that awaits
 * approval has not begun.
 */
const EXIT_RUNS = raw(`(
  o.status = 'processing' OR (o.status = 'pending' AND o.sub_status <> 'awaiting_approval')
)`);

/**
 * Serialises operations that withdraw notes of a wallet, so that a public exit and a spend cannot
 * use the same note.
 */
const lockWallet = async (
  tx: Tx,
  { projectId, walletId }: Pick<Spender, "projectId" | "walletId">,
): Promise<void> => {
  await sqlOf(tx).query(sql`
    SELECT id FROM privacy_wallet
    WHERE project_id = ${projectId} AND id = ${walletId}
    FOR UPDATE`);
};

const exits = table({ noteId: text, amountBase: base });

export const createNoteRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  /**
   * Notes that the project's operations are spending, with the amount in base units that each
   * withdraws.
   */
  notesInUse: async (
    projectId: string,
    chainId: number,
  ): Promise<ReadonlyMap<string, bigint>> => {
    const rows = await prisma.privacyStep.findMany({
      where: { projectId, chainId, state: { in: [...OPEN] } },
      select: { noteId: true, withdrawBase: true },
    });
    const leaving = await exits.all(
      sqlOf(prisma),
      sql`
        SELECT ${exits.columns("t")} FROM privacy_transfer t
        JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
        WHERE t.project_id = ${projectId}
          AND t.chain_id = ${chainId}::int
          AND t.note_id IS NOT NULL
          AND ${EXIT_RUNS}`,
    );
    return new Map([
      ...rows.map(({ noteId, withdrawBase }) => [noteId, toBigInt(withdrawBase)] as const),
      ...leaving.map(({ noteId, amountBase }) => [noteId, amountBase] as const),
    ]);
  },

  /**
   * Ensures until the transaction ends that no other operation withdraws the note.
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
    }: Spender & { readonly noteId: string },
  ): Promise<void> => {
    await lockWallet(tx, { projectId, walletId });
    const [other] = await sqlOf(tx).query(sql`
      SELECT 1 FROM privacy_transfer t
      JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
      WHERE t.project_id = ${projectId}
        AND t.chain_id = ${chainId}::int
        AND t.note_id = ${noteId}
        AND t.operation_id <> ${operationId}
        AND ${EXIT_RUNS}
      UNION ALL
      SELECT 1 FROM privacy_step
      WHERE project_id = ${projectId}
        AND chain_id = ${chainId}::int
        AND note_id = ${noteId}
        AND state IN ('queued', 'proved', 'submitted')`);
    if (other !== undefined) throw new TakenError("The note is in use.");
  },
});

export interface NewStep {
  readonly noteId: string;
  readonly withdrawBase: bigint;
  readonly outBase: bigint;
  /**
   * The deposit number of the step's new note, and that note's wallet; null when the money goes to
   * an address.
   */
  readonly slot: Slot | null;
}

/** New values of a step; absent fields keep their value. */
interface StepChange {
  readonly transaction?: SpendTransaction | null;
  readonly attempt?: number;
  readonly txHash?: string | null;
  readonly blockNumber?: bigint;
  readonly receivedBase?: bigint;
  readonly failure?: StepFailure;
  readonly provingSince?: Date;
}

/**
 * Stores the steps of an operation. Each step reserves its note and its deposit number.
 * @throws TakenError
 */
export const insertSteps = async (
  tx: Tx,
  { walletId, ...at }: Spender,
  steps: readonly NewStep[],
  now: Date,
): Promise<void> => {
  await lockWallet(tx, { ...at, walletId });
  const noteIds = steps.map(({ noteId }) => noteId);
  const [leaving] = await sqlOf(tx).query(sql`
    SELECT 1 FROM privacy_transfer t
    JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
    WHERE t.project_id = ${at.projectId}
      AND t.chain_id = ${at.chainId}::int
      AND t.note_id = ANY(${noteIds}::text[])
      AND ${EXIT_RUNS}`);
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
  ...(transaction === undefined
    ? {}
    : { transaction: transaction === null ? Prisma.DbNull : toStored(transaction) }),
  ...(receivedBase === undefined ? {} : { receivedBase: toDecimal(receivedBase) }),
  ...(failure === undefined ? {} : { failure: toStored(failure) }),
});

/**
 * Steps of private operations. Each change is a compare-and-set that returns false when the state
 * has changed since it was read.
 */
export const createStepRepository = (database: Database) => {
  const { prisma } = database;

  return {
    steps: async (projectId: string, operationId: string): Promise<PrivateStep[]> => {
      const rows = await prisma.privacyStep.findMany({
        where: { projectId, operationId },
        orderBy: { position: "asc" },
      });
      return rows.map(parsePrivateStep);
    },

    stepsOfMany: async (
      projectId: string,
      operationIds: readonly string[],
    ): Promise<ReadonlyMap<string, readonly PrivateStep[]>> => {
      const rows = await prisma.privacyStep.findMany({
        where: { projectId, operationId: { in: [...operationIds] } },
        orderBy: [{ operationId: "asc" }, { position: "asc" }],
      });
      const steps = rows.map(parsePrivateStep);
      return new Map(
        operationIds.map((id) => [id, steps.filter(({ operationId }) => operationId === id)]),
      );
    },

    /**
     * Records that the proof of a queued step has started. The version does not change, so that the
     * prover can still move the step that it has read.
     */
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
     * Moves a step, and with `operation` also its operation: both or neither. Returns false when
     * one of them was moved since it was read.
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
            data: {
              ...changedColumns(change),
              state: to,
              version: { increment: 1 },
              updatedAt: now,
            },
          });
          // The error also rolls back the operation's move.
          if (count === 0) throw new TakenError("The step was moved.");
          return true;
        })
        .catch((error: unknown) => {
          if (error instanceof TakenError) return false;
          throw error;
        }),

    /**
     * Moves the step from proved to submitted, in the transaction that stores the signed
     * transaction. A worker that is too late therefore sends nothing, and a step that failed or is
     * proved again has no transaction that could still be mined. Returns false when the step was
     * moved since it was read.
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
