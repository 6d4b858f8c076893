import { shorten } from "@/components/ui/address";
import { AddressMark } from "@/components/ui/address-mark";
import type { SelectOption } from "@/components/ui/select";
import type { WalletRecord } from "./use-wallets";

export const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<WalletRecord["kind"], string>;

/** Its label, else what it is. */
export const walletName = (wallet: WalletRecord): string => wallet.label ?? KIND_WORDS[wallet.kind];

/** A wallet in a list to choose from: mark, name, shortened address, and whether its owner has to sign. */
export const walletOption = (wallet: WalletRecord): SelectOption => ({
  value: wallet.address,
  label: `${walletName(wallet)} ${shorten(wallet.address)}${wallet.signer === "owner" ? ", you sign" : ""}`,
  mark: <AddressMark value={wallet.address} />,
});
