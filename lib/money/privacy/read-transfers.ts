import type { Actor } from "@/lib/core/actor";
import type { PrivacyPool, PrivateHoldings, PrivateNote } from "@/lib/money/ports/privacy";
import type { PrivacyContext } from "./context";
import type { PrivateFilter } from "./repository";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import type { Operation } from "@/lib/money/operations/service";
import type { PrivateStep, PrivateTransfer } from "./rows";

/** The notes of one private wallet in one pool, in base units. */
export interface WalletBalance {
  readonly privacyWalletId: string;
  readonly pool: PrivacyPool;
  readonly spendableBase: bigint;
  /** Deposits that the association set does not contain yet. */
  readonly pendingBase: bigint;
  /**
   * Notes that operations are spending. The whole note counts, because its change returns with the
   * same transaction.
   */
  readonly inProofBase: bigint;
  /** Excluded from the association set: the money can leave only by the public exit. */
  readonly declinedBase: bigint;
  readonly anonymitySet: number;
}

const balanceIn = (
  pool: PrivacyPool,
  held: PrivateHoldings,
  own: { readonly walletId: string; readonly used: ReadonlyMap<string, bigint> },
): WalletBalance => {
  const notes = held.notes.filter(({ token }) => token.address === pool.token.address);
  const total = (isWanted: (note: PrivateNote) => boolean): bigint =>
    notes.filter(isWanted).reduce((sum, { valueBase }) => sum + valueBase, 0n);
  return {
    privacyWalletId: own.walletId,
    pool,
    spendableBase: total(({ id, state }) => state === "approved" && !own.used.has(id)),
    pendingBase: total(({ state }) => state === "pending"),
    inProofBase: total(({ id, state }) => state === "approved" && own.used.has(id)),
    declinedBase: total(({ state }) => state === "declined"),
    anonymitySet: held.anonymitySet.get(pool.address) ?? 0,
  };
};

/**
 * The balances in every pool, of all private wallets of the project or of the given one.
 * @throws DomainError `chain_unavailable`, `provider_error`
 */
export const readBalances = async (
  context: PrivacyContext,
  actor: Actor,
  walletId: string | undefined,
): Promise<WalletBalance[]> => {
  const { privateWallets } = context;
  const chosen = await privateWallets.choose(actor, walletId);
  const wallets =
    walletId === undefined ? await privateWallets.list(actor.projectId) : [chosen];
  const found: WalletBalance[] = [];
  for (const { id: chainId } of context.registry.list()) {
    const pools = await context.engine.pools(chainId);
    if (pools.length === 0) continue;
    const used = await context.repository.notesInUse(actor.projectId, chainId);
    for (const wallet of wallets) {
      const held = await context.holdings(privateWallets.keyOf(wallet), chainId);
      found.push(...pools.map((pool) => balanceIn(pool, held, { walletId: wallet.id, used })));
    }
  }
  return found;
};

// Private operations as people see them: the transfer, its operation and steps, and the size of the
// anonymity set.

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

export interface TransferQuery extends PrivateFilter {
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

export const viewOf = async (
  context: PrivacyContext,
  transfer: PrivateTransfer,
): Promise<TransferView> => {
  const { projectId, operationId } = transfer;
  const [operation, steps, anonymitySet] = await Promise.all([
    context.operations.get(projectId, operationId),
    context.repository.steps(projectId, operationId),
    anonymitySetOf(context, transfer),
  ]);
  return { transfer, operation, steps, ...engineFacts(context), anonymitySet };
};

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

/**
 * The project's private transfer with this id.
 * @throws DomainError `not_found`
 */
export const getTransfer = async (
  context: PrivacyContext,
  projectId: string,
  id: string,
): Promise<TransferView> => {
  const transfer = isId("transfer", id)
    ? await context.repository.findTransfer(projectId, id)
    : null;
  if (transfer === null) throw notFound();
  return viewOf(context, transfer);
};

/**
 * The project's private transfers, newest first.
 * @throws DomainError `unknown_privacy_wallet`
 */
export const listTransfers = async (
  context: PrivacyContext,
  projectId: string,
  { privacyWalletId, cursor, limit, ...filter }: TransferQuery,
): Promise<{ data: TransferView[]; nextCursor: string | null }> => {
  const wallet =
    privacyWalletId === undefined
      ? null
      : await context.privateWallets.find(projectId, privacyWalletId, "privacyWalletId");
  const own = { projectId, walletId: wallet?.id, filter, before: cursor };
  const rows = await context.repository.listTransfers({ ...own, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  return {
    data: await viewsOf(context, projectId, shown),
    nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  };
};

/**
 * The private transfer of an operation; null when the project has no private operation with this
 * id.
 */
export const transferOfOperation = async (
  { repository }: PrivacyContext,
  projectId: string,
  operationId: string,
): Promise<PrivateTransfer | null> =>
  isId("operation", operationId) ? repository.findByOperation(projectId, operationId) : null;

export const transfersOfOperations = async (
  { repository }: PrivacyContext,
  projectId: string,
  operationIds: readonly string[],
): Promise<ReadonlyMap<string, PrivateTransfer>> => {
  const found =
    operationIds.length === 0 ? [] : await repository.findByOperations(projectId, operationIds);
  return new Map(found.map((transfer) => [transfer.operationId, transfer]));
};
