import { DomainError } from "@/lib/core/errors";
import type { PrivacyPool, PrivateHoldings, PrivateWalletKey } from "@/lib/ports/privacy";
import type { PrivacyRepository } from "./repository";

const notEnoughNumbers = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Too many deposits of this private wallet are under way. Nothing was sent; try again once some have ended.",
  );

/**
 * Gives out the deposit numbers of private wallets. The secrets of a new note are derived from its number. A number is reused when its
 * operation ended without a deposit. A number that a scan by mnemonic alone would not reach is not given out, because money behind such a
 * gap would not be found.
 */
export const createDepositNumbers = (deps: {
  readonly repository: Pick<PrivacyRepository, "numbersInUse">;
  readonly holdings: (key: PrivateWalletKey, chainId: number) => Promise<PrivateHoldings>;
}) => ({
  /** Numbers that are free now, lowest first. @throws DomainError `invalid_state` when too many deposits are open at once */
  free: async (
    own: { readonly projectId: string; readonly key: PrivateWalletKey; readonly pool: PrivacyPool },
    count: number,
  ): Promise<number[]> => {
    const { key, pool, projectId } = own;
    // Read before the chain: when an operation ends in between, the chain shows its deposit, or its number stays unused for now.
    const used = await deps.repository.numbersInUse(projectId, key.id, { chainId: pool.chainId, pool: pool.address });
    const { nextDepositIndex, depositIndexLimit } = await deps.holdings(key, pool.chainId);
    const next = nextDepositIndex.get(pool.address) ?? 0;
    const limit = depositIndexLimit.get(pool.address) ?? next;
    const free = Array.from({ length: Math.max(0, limit - next) }, (_, index) => next + index).filter(
      (number) => !used.has(number),
    );
    if (free.length < count) throw notEnoughNumbers();
    return free.slice(0, count);
  },
});
