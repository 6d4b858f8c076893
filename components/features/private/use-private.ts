import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { apiPages, apiQuery, PAGE_ROWS } from "@/components/features/session/api-query";
import { useCache } from "@/components/features/session/use-api";
import { type Pages, usePages } from "@/components/features/session/use-lists";
import {
  getPrivateBalances,
  getPrivateTransfer,
  getUnifiedBalances,
  listPrivacyWallets,
  listPrivateExits,
  listPrivateTransfers,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import type { PrivateBalances, PrivateTransfer } from "./parts";

const STALE_MS = 30_000;
const BALANCES_REFRESH_MS = 5_000;
/**
 * Short polling interval. It is used while a proof is made, because its remaining time is shown to
 * the second, and until the first wallet exists, because the service creates that wallet at once.
 */
const SOON_MS = 1_000;
const BUSY_REFRESH_MS = 2_000;
/**
 * Private operations are polled even when none of them is running, because other people and API
 * keys also move private money.
 */
const IDLE_REFRESH_MS = 10_000;

export const privacyWalletsQuery = apiQuery(listPrivacyWallets, {});

/**
 * The project's private wallets. An empty list is soon read again, because the service creates the
 * first wallet when balances are read.
 */
export const usePrivacyWallets = (): UseQueryResult<ResponseOf<typeof listPrivacyWallets>> =>
  useQuery({
    ...privacyWalletsQuery,
    staleTime: STALE_MS,
    refetchInterval: ({ state }) => (state.data?.data.length === 0 ? SOON_MS : false),
  });

export const privateBalancesQuery = apiQuery(getPrivateBalances, {});

/** Balances of all private wallets in all pools; refreshed while the page is open. */
export const usePrivateBalances = (): UseQueryResult<PrivateBalances> =>
  useQuery({ ...privateBalancesQuery, refetchInterval: BALANCES_REFRESH_MS });

/** Reads the unapproved notes of all private wallets, which the public exit can return. */
export const usePrivateExits = (
  enabled: boolean,
): UseQueryResult<ResponseOf<typeof listPrivateExits>> =>
  useQuery({
    ...apiQuery(listPrivateExits, {}),
    enabled,
    refetchInterval: BALANCES_REFRESH_MS,
  });

/** Private operations, newest first. */
export const usePrivateTransfers = (): Pages<PrivateTransfer> =>
  usePages(apiPages(listPrivateTransfers, { query: { limit: PAGE_ROWS } }), (transfers) =>
    transfers.some(({ status }) => !isFinal(status)) ? BUSY_REFRESH_MS : IDLE_REFRESH_MS,
  );

export const latestPrivateTransferQuery = apiQuery(listPrivateTransfers, {
  query: { limit: 1 },
});

const privateTransferQuery = (id: string) => apiQuery(getPrivateTransfer, { params: { id } });

/** A private operation, refreshed until it is final. */
export const usePrivateTransfer = (id: string): UseQueryResult<PrivateTransfer> =>
  useQuery({
    ...privateTransferQuery(id),
    refetchInterval: ({ state: { data } }) => {
      if (data !== undefined && isFinal(data.status)) return false;
      return data?.proof == null ? BUSY_REFRESH_MS : SOON_MS;
    },
  });

/** Stores a private operation's new state in the cache, and reads the dependent lists again. */
export const useTakeOver = (): ((transfer: PrivateTransfer) => void) => {
  const cache = useCache();
  return (transfer) => {
    cache.set(privateTransferQuery(transfer.transferId), transfer);
    void cache.refresh(
      listPrivateTransfers,
      getPrivateBalances,
      listPrivateExits,
      getUnifiedBalances,
    );
  };
};

export const KIND_WORDS = {
  shield: "Shield",
  private_transfer: "Transfer",
  private_swap: "Swap",
  unshield: "Unshield",
  public_exit: "Public exit",
} as const satisfies Record<PrivateTransfer["kind"], string>;

export const pathOfTransfer = ({ transferId }: Pick<PrivateTransfer, "transferId">): string =>
  `/private/${transferId}`;
