import { LRUCache } from "lru-cache";
import type { Wallet, WalletsService } from "@/lib/modules/wallets/service";

const WALLETS_MAX = 10_000;

/**
 * Looks wallets up for movements. It keeps the last ones whose key the service holds: their address, owner and key id do not change and
 * only linked wallets are unlinked, so an entry without its label cannot become wrong. Other wallets are read each time.
 */
export const keptWallets = (wallets: Pick<WalletsService, "find" | "findById">) => {
  const known = new LRUCache<string, Wallet>({ max: WALLETS_MAX });

  const keep = async (key: string, find: () => Promise<Wallet | null>): Promise<Wallet | null> => {
    const wallet = known.get(key) ?? (await find());
    if (wallet === null || wallet.keyId === null || wallet.kind === "linked") return wallet;
    const unlabelled = { ...wallet, label: null };
    known.set(key, unlabelled);
    return unlabelled;
  };

  return {
    find: (projectId: string, address: string) =>
      keep(`${projectId}:${address}`, () => wallets.find(projectId, address)),
    findById: (projectId: string, walletId: string) =>
      keep(`${projectId}:${walletId}`, () => wallets.findById(projectId, walletId)),
  };
};
