import type { ResponseOf } from "@/lib/contracts/contract";
import type { listWallets } from "@/lib/contracts/wallets";
import type { WalletWithChains } from "./service";

export const toWallets = (wallets: readonly WalletWithChains[]): ResponseOf<typeof listWallets> => ({
  data: wallets.map((wallet) => ({
    id: wallet.id,
    kind: wallet.kind,
    address: wallet.address,
    ...(wallet.ownerAddress === null ? {} : { ownerAddress: wallet.ownerAddress }),
    ...(wallet.label === null ? {} : { label: wallet.label }),
    chains: wallet.chains.map(({ chainId, deployed }) => ({ chainId, deployed })),
    createdAt: wallet.createdAt.toISOString(),
  })),
});
