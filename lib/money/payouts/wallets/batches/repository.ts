import { bindDeps } from "@/lib/core/bind-deps";
import type { Database } from "@/lib/platform/db/client";
import { toBigInt } from "@/lib/platform/db/decimal";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { storedUserOperation } from "@/lib/chain/erc4337/stored";
import { bearerOf } from "../account-side-repository";
import { createAttemptRepository } from "./attempt-repository";
import { createEndRepository } from "./end-repository";
import {
  OPEN_STATES,
  parseBatch,
  type DrivenPayout,
  type PayableRow,
  type PayoutBatch,
} from "./payout-batch";
import { keyOf, type BatchRepositoryDeps } from "./transition-repository";

/**
 * Reads and changes the open batches of payouts. Each change states the expected state and version,
 * and returns false without an effect when another worker was faster. State, holds, budgets and
 * counters change in one transaction.
 */
export const createBatchRepository = (
  database: Database,
  sponsorship: BatchRepositoryDeps["sponsorship"],
) => {
  const deps: BatchRepositoryDeps = { database, sponsorship };
  return {
    find: bindDeps(deps, find),
    open: bindDeps(deps, open),
    createdAt: bindDeps(deps, createdAt),
    rowsOf: bindDeps(deps, rowsOf),
    evaluated: bindDeps(deps, evaluated),
    operationOf: bindDeps(deps, operationOf),
    ...createAttemptRepository(deps),
    ...createEndRepository(deps),
  };
};

const find = async (
  { database }: BatchRepositoryDeps,
  projectId: string,
  payoutId: string,
): Promise<DrivenPayout> => {
  const [{ chainId, fromWalletId, askedBy }, bearer] = await Promise.all([
    database.prisma.walletPayout.findUniqueOrThrow({
      where: { projectId_payoutId: { projectId, payoutId } },
    }),
    bearerOf(database.prisma, projectId, payoutId),
  ]);
  return { projectId, payoutId, chainId, fromWalletId, askedBy, bearer };
};

/**
 * Reads when the payout was created. Searches for its operations on the chain begin at this time,
 * because nothing of the payout was signed before.
 */
const createdAt = async (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId }: DrivenPayout,
): Promise<Date> => {
  const where = { projectId, id: payoutId };
  return (await database.prisma.payout.findFirstOrThrow({ where, select: { createdAt: true } }))
    .createdAt;
};

const open = async (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId }: DrivenPayout,
): Promise<readonly PayoutBatch[]> => {
  const rows = await database.prisma.walletPayoutBatch.findMany({
    where: { projectId, payoutId, state: { in: [...OPEN_STATES] } },
    omit: { userOperation: true },
    orderBy: { number: "asc" },
  });
  return rows.map(parseBatch);
};

/** Reads the rows that a batch still has to pay, by index. */
const rowsOf = async (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId, number }: PayoutBatch,
): Promise<readonly PayableRow[]> => {
  const rows = await database.prisma.walletPayoutItem.findMany({
    where: { projectId, payoutId, batch: number, status: null },
    select: { index: true, recipient: true, amountBase: true },
    orderBy: { index: "asc" },
  });
  return rows.map(({ index, recipient, amountBase }) => ({
    index,
    recipient: recipient as `0x${string}`,
    amountBase: toBigInt(amountBase),
  }));
};

/** A payout as it is stored, for the comparison with the payout that the policies evaluated. */
export interface EvaluatedPayout {
  readonly evaluationId: string | null;
  readonly rows: readonly (PayableRow & { readonly token: string })[];
}

const evaluated = async (
  { database }: BatchRepositoryDeps,
  { projectId, payoutId }: DrivenPayout,
): Promise<EvaluatedPayout> => {
  const [payout, rows] = await Promise.all([
    database.prisma.payout.findFirstOrThrow({
      where: { projectId, id: payoutId },
      select: { evaluationId: true },
    }),
    database.prisma.walletPayoutItem.findMany({
      where: { projectId, payoutId },
      select: { index: true, recipient: true, token: true, amountBase: true },
      orderBy: { index: "asc" },
    }),
  ]);
  const read = rows.map(({ index, recipient, token, amountBase }) => ({
    ...{ index, recipient: recipient as `0x${string}`, token },
    amountBase: toBigInt(amountBase),
  }));
  return { evaluationId: payout.evaluationId, rows: read };
};

/**
 * Reads the signed operation of a batch; null when the batch has changed since it was read, or has
 * no operation.
 */
const operationOf = async (
  { database }: BatchRepositoryDeps,
  batch: PayoutBatch,
): Promise<UserOperation | null> => {
  const row = await database.prisma.walletPayoutBatch.findFirst({
    where: { ...keyOf(batch), version: batch.version },
    select: { userOperation: true },
  });
  return row === null || row.userOperation === null
    ? null
    : storedUserOperation.parse(row.userOperation);
};

export type BatchRepository = ReturnType<typeof createBatchRepository>;
