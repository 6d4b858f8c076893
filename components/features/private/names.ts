"use client";

import { useNames } from "@/components/features/names/names";
import { usePrivacyWallets } from "./use-private";
import type { PrivateTransfer } from "./parts";

export interface PrivateNames {
  readonly walletName: (privacyWalletId: string) => string;
  /** The recipient's name. For shields and swaps, this is the private wallet itself. */
  readonly recipientName: (transfer: PrivateTransfer) => string;
  /** The payer's name: the treasury for a shield, otherwise the private wallet. */
  readonly payerName: (transfer: PrivateTransfer) => string;
}

export const usePrivateNames = (): PrivateNames => {
  const privacyWallets = usePrivacyWallets().data?.data ?? [];
  const { addressName } = useNames();
  const walletName = (walletId: string): string =>
    privacyWallets.find(({ id }) => id === walletId)?.name ?? "Private wallet";
  return {
    walletName,
    payerName: ({ kind, privacyWalletId }) =>
      kind === "shield" ? "Treasury" : walletName(privacyWalletId),
    recipientName: ({ kind, chainId, toAddress, toPrivacyWalletId, privacyWalletId }) => {
      if (kind === "public_exit") return "Treasury";
      if (toAddress !== null) return addressName(toAddress, chainId);
      return walletName(toPrivacyWalletId ?? privacyWalletId);
    },
  };
};
