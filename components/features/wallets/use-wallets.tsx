import {
  type UseInfiniteQueryResult,
  useQuery,
  type UseQueryResult,
} from "@tanstack/react-query";
import { apiPages, apiQuery } from "@/components/features/session/api-query";
import { useList } from "@/components/features/session/use-lists";
import { AddressMark, shorten } from "@/components/ui/address";
import type { SelectOption } from "@/components/ui/select";
import { listWallets } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type WalletList = ResponseOf<typeof listWallets>;
export type WalletRecord = WalletList["data"][number];

const STALE_MS = 30_000;

/** The project's wallets, oldest first. */
export const walletsQuery = { ...apiPages(listWallets, {}), staleTime: STALE_MS };

/** The loaded wallets: up to 1,000, and further ones after `fetchNextPage`. */
export const useWallets = (): UseInfiniteQueryResult<WalletList> => useList(walletsQuery);

/** The wallet with this address, even when it is on a page that was not loaded. */
export const useWalletAt = (address: string | null): UseQueryResult<WalletList> =>
  useQuery({
    ...apiQuery(listWallets, { query: { address: address ?? "" } }),
    enabled: address !== null,
    staleTime: STALE_MS,
  });

/** The project's own wallet; undefined until the wallets are known. */
export const useTreasury = (): WalletRecord | undefined =>
  useWallets().data?.data.find((wallet) => wallet.kind === "treasury");

export const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<WalletRecord["kind"], string>;

export const walletName = (wallet: WalletRecord): string =>
  wallet.label ?? KIND_WORDS[wallet.kind];

/**
 * The wallet's name for decisions about money. A wallet whose owner signs is outside the service,
 * and many people can write its label, so its kind is used instead.
 */
export const trustedWalletName = (wallet: WalletRecord): string =>
  wallet.signer === "owner" ? KIND_WORDS[wallet.kind] : walletName(wallet);

export const walletOption = (wallet: WalletRecord): SelectOption => ({
  value: wallet.address,
  label: `${walletName(wallet)} ${shorten(wallet.address)}${wallet.signer === "owner" ? ", you sign" : ""}`,
  mark: <AddressMark value={wallet.address} />,
});
