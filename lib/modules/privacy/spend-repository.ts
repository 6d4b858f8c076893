import type { Database, Tx } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";
import { bindDeps } from "@/lib/core/bind-deps";
import { sqlOf } from "@/lib/db/sql";
import { recordAudit, type AuditEntry } from "@/lib/modules/audit/service";
import { cancelDecision } from "@/lib/modules/decisions/service";
import {
  approveLegless,
  cancelledLegless,
  insertLegless,
  type LeglessOperation,
} from "@/lib/modules/operations/service";
import { TakenError } from "./errors";
import type { PrivateTransfer } from "./private-transfer";
import { insertSteps, type NewStep } from "./step-repository";
import { insertTransfer } from "./transfer-repository";

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

const spenderOf = ({ projectId, operationId, chainId, walletId }: PrivateTransfer) => ({
  projectId,
  operationId,
  chainId,
  walletId,
});

/**
 * Stores an operation that spends notes, with its request, and with its steps when it runs at once.
 * @param admit decides in the same transaction whether it runs, and returns the id of the policies' evaluation; null: it awaits approval
 * @returns false when the quote is not prepared any more, or was prepared anew since it was read
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
      // The transfer is stored before the operation, because the operation's first event names it.
      await insertTransfer(tx, transfer);
      await insertLegless(tx, operation(runs), evaluationId, now);
      if (runs) await insertSteps(tx, spenderOf(transfer), steps, now);
      return true;
    }),
  );

/** awaiting approval → prepared. False when the operation does not await approval any more. @throws TakenError */
const approveSpend = (
  database: Database,
  transfer: PrivateTransfer,
  steps: readonly NewStep[],
  { audit, enforce }: { audit: Omit<AuditEntry, "subject" | "at">; enforce: (tx: Tx) => Promise<string> },
  now: Date,
): Promise<boolean> =>
  orTaken(
    database.transaction(async (tx) => {
      const { projectId, operationId } = transfer;
      if (!(await approveLegless(tx, { projectId, operationId, queue: QUEUE, audit }, () => enforce(tx), now)))
        return false;
      await insertSteps(tx, spenderOf(transfer), steps, now);
      return true;
    }),
  );

/** Cancels an operation of which no proof is stored yet, and frees its notes. False when it has begun or has ended. */
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
    await cancelDecision(sqlOf(tx), { projectId, subject: { type: "operation", id: operationId }, at: now });
    return true;
  });

/** Operations that spend notes: stored, approved and cancelled together with their transfers and steps. */
export const createSpendRepository = (database: Database) => ({
  insertSpend: bindDeps(database, insertSpend),
  approveSpend: bindDeps(database, approveSpend),
  cancelSpend: bindDeps(database, cancelSpend),
});
