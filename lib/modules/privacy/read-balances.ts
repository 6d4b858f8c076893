import type { Actor } from "@/lib/core/actor";
import type { PrivacyPool, PrivateHoldings, PrivateNote } from "@/lib/ports/privacy";
import type { PrivacyContext } from "./context";

/** The notes of one private wallet in one pool, in base units. */
export interface WalletBalance {
  readonly privacyWalletId: string;
  readonly pool: PrivacyPool;
  readonly spendableBase: bigint;
  /** Not in the association set yet. */
  readonly pendingBase: bigint;
  /** Notes that operations spend now. The whole note counts: its change comes back with the transaction of its proof. */
  readonly inProofBase: bigint;
  /** Kept out of the association set: can leave by the public exit only. */
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

/** Balances of every private wallet of the project, or of one, in every pool. @throws DomainError `chain_unavailable`, `provider_error` */
export const readBalances = async (
  context: PrivacyContext,
  actor: Actor,
  walletId: string | undefined,
): Promise<WalletBalance[]> => {
  const { privateWallets } = context;
  const chosen = await privateWallets.choose(actor, walletId);
  const wallets = walletId === undefined ? await privateWallets.list(actor.projectId) : [chosen];
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
