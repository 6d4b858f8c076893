import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  createSmartAccount,
  initWalletLink,
  labelWallet,
  listLinkedWallets,
  listWallets,
  unlinkWallet,
  verifyWalletLink,
} from "@/lib/contracts/wallets";
import type { LinkedWallet } from "./links";
import type { Wallet, WalletPage, WalletWithChains } from "./service";
import type { SmartAccountRecord } from "./smart-account";

const signerOf = ({ keyId }: Wallet): "service" | "owner" =>
  keyId === null ? "owner" : "service";

export const toWallet = (wallet: WalletWithChains): ResponseOf<typeof labelWallet> => ({
  id: wallet.id,
  kind: wallet.kind,
  address: wallet.address,
  ...(wallet.ownerAddress === null ? {} : { ownerAddress: wallet.ownerAddress }),
  ...(wallet.label === null ? {} : { label: wallet.label }),
  chains: wallet.chains.map(({ chainId, deployed }) => ({ chainId, deployed })),
  signer: signerOf(wallet),
  createdAt: wallet.createdAt.toISOString(),
});

export const toWallets = ({
  data,
  nextCursor,
}: WalletPage): ResponseOf<typeof listWallets> => ({
  data: data.map(toWallet),
  nextCursor,
});

export const toSmartAccount = (
  account: SmartAccountRecord,
): ResponseOf<typeof createSmartAccount> => ({
  id: account.wallet.id,
  address: account.wallet.address,
  ownerAddress: account.ownerAddress,
  chainId: account.chainId,
  deployed: account.deployed,
  factory: account.factory,
  salt: account.salt,
  signer: signerOf(account.wallet),
  createdAt: account.wallet.createdAt.toISOString(),
});

type LinkedWalletRecord = ResponseOf<typeof listLinkedWallets>["data"][number];

const toLinkedWallet = (wallet: LinkedWallet): LinkedWalletRecord => ({
  address: wallet.address,
  walletId: wallet.id,
  label: wallet.label,
  contractChainId: wallet.contractChainId,
  linkedAt: wallet.linkedAt.toISOString(),
});

export const toLinkedWallets = (
  wallets: readonly LinkedWallet[],
): ResponseOf<typeof listLinkedWallets> => ({
  data: wallets.map(toLinkedWallet),
});

export const toWalletLinkRequest = (request: {
  readonly nonce: string;
  readonly message: string;
  readonly expiresAt: Date;
}): ResponseOf<typeof initWalletLink> => ({
  nonce: request.nonce,
  message: request.message,
  expiresAt: request.expiresAt.toISOString(),
});

export const toVerifiedLink = (wallet: LinkedWallet): ResponseOf<typeof verifyWalletLink> => ({
  linked: true,
  wallet: toLinkedWallet(wallet),
});

export const toUnlinked = (unlinked: {
  readonly address: Wallet["address"];
  readonly unlinkedAt: Date;
}): ResponseOf<typeof unlinkWallet> => ({
  address: unlinked.address,
  unlinkedAt: unlinked.unlinkedAt.toISOString(),
});
