/** Private operations as people see them: the transfer, its operation and steps, and the size of the set in which it hides. */
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Operation } from "@/lib/modules/operations/service";
import type { PrivacyContext } from "./context";
import type { PrivateStep } from "./private-step";
import type { PrivateTransfer } from "./private-transfer";

export interface TransferView {
  readonly transfer: PrivateTransfer;
  readonly operation: Operation;
  readonly steps: readonly PrivateStep[];
  readonly expectedProofMs: number;
  readonly engine: string;
  readonly swapVenue: string;
  /** Null when the chain or the provider does not answer. */
  readonly anonymitySet: number | null;
}

export interface TransferQuery {
  readonly privacyWalletId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

const anonymitySetOf = async (
  context: PrivacyContext,
  { projectId, walletId, chainId, token }: PrivateTransfer,
): Promise<number | null> => {
  try {
    const wallet = await context.privateWallets.find(projectId, walletId, "privacyWalletId");
    const pool = await context.poolOf(chainId, token.address, "token");
    return await context.anonymitySetOf(wallet, pool);
  } catch {
    return null;
  }
};

const engineFacts = ({ engine }: PrivacyContext) => ({
  expectedProofMs: engine.expectedProofMs(),
  engine: engine.name,
  swapVenue: engine.swapVenue,
});

export const viewOf = async (context: PrivacyContext, transfer: PrivateTransfer): Promise<TransferView> => {
  const { projectId, operationId } = transfer;
  const [operation, steps, anonymitySet] = await Promise.all([
    context.operations.get(projectId, operationId),
    context.repository.steps(projectId, operationId),
    anonymitySetOf(context, transfer),
  ]);
  return { transfer, operation, steps, ...engineFacts(context), anonymitySet };
};

/** The views of a page. The set's size is read once for each pool. */
const viewsOf = async (
  context: PrivacyContext,
  projectId: string,
  transfers: readonly PrivateTransfer[],
): Promise<TransferView[]> => {
  const { operations, repository } = context;
  const operationIds = transfers.map(({ operationId }) => operationId);
  const sets = new Map<string, Promise<number | null>>();
  const setOf = (transfer: PrivateTransfer): Promise<number | null> => {
    const pool = `${String(transfer.chainId)}:${transfer.token.address}`;
    const known = sets.get(pool) ?? anonymitySetOf(context, transfer);
    sets.set(pool, known);
    return known;
  };
  const [found, steps, sizes] = await Promise.all([
    operations.getMany(projectId, operationIds),
    repository.stepsOfMany(projectId, operationIds),
    Promise.all(transfers.map(setOf)),
  ]);
  return transfers.flatMap((transfer, index) => {
    const operation = found.get(transfer.operationId);
    if (operation === undefined) return [];
    const own = { transfer, operation, steps: steps.get(transfer.operationId) ?? [] };
    return [{ ...own, ...engineFacts(context), anonymitySet: sizes[index] ?? null }];
  });
};

/** @throws DomainError `not_found` */
export const getTransfer = async (context: PrivacyContext, projectId: string, id: string): Promise<TransferView> => {
  const transfer = isId("transfer", id) ? await context.repository.findTransfer(projectId, id) : null;
  if (transfer === null) throw notFound();
  return viewOf(context, transfer);
};

/** Private operations, newest first. @throws DomainError `unknown_privacy_wallet` */
export const listTransfers = async (
  context: PrivacyContext,
  projectId: string,
  { privacyWalletId, cursor, limit }: TransferQuery,
): Promise<{ data: TransferView[]; nextCursor: string | null }> => {
  const wallet =
    privacyWalletId === undefined
      ? null
      : await context.privateWallets.find(projectId, privacyWalletId, "privacyWalletId");
  const own = { projectId, walletId: wallet?.id, before: cursor };
  const rows = await context.repository.listTransfers({ ...own, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  return {
    data: await viewsOf(context, projectId, shown),
    nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  };
};

/** The private transfer of an operation; null when the operation is not a private one of the project. */
export const transferOfOperation = async (
  { repository }: PrivacyContext,
  projectId: string,
  operationId: string,
): Promise<PrivateTransfer | null> =>
  isId("operation", operationId) ? repository.findByOperation(projectId, operationId) : null;

/** The requests behind those of the operations that are private, by operation. */
export const transfersOfOperations = async (
  { repository }: PrivacyContext,
  projectId: string,
  operationIds: readonly string[],
): Promise<ReadonlyMap<string, PrivateTransfer>> => {
  const found = operationIds.length === 0 ? [] : await repository.findByOperations(projectId, operationIds);
  return new Map(found.map((transfer) => [transfer.operationId, transfer]));
};
