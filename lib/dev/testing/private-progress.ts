// Waits for the progress of private operations with real contracts, through the API only.
import { expect, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import type { ResponseOf } from "@/lib/contracts/contract";
import {
  getPrivateBalances,
  getPrivateTransfer,
  listPrivateExits,
} from "@/lib/contracts/privacy";
import { isFinal } from "@/lib/core/status";

const INTERVAL_MS = 200;
const APPROVAL_TIMEOUT_MS = 30_000;

/**
 * Returns functions that wait until private operations, balances and exits have a given state.
 * @param client read at each call, because tests sign in after their file was loaded
 * @param timeoutMs maximum duration of a private operation
 */
export const privateProgress = (options: {
  readonly client: () => ApiClient;
  readonly chainId: number;
  readonly timeoutMs: number;
}) => {
  const { client, chainId, timeoutMs } = options;

  const untilFinal = (transferId: string): Promise<ResponseOf<typeof getPrivateTransfer>> =>
    vi.waitFor(
      async () => {
        const transfer = await client().call(getPrivateTransfer, {
          params: { id: transferId },
        });
        if (!isFinal(transfer.status))
          throw new Error(`It is ${transfer.status} (${transfer.subStatus}).`);
        return transfer;
      },
      { timeout: timeoutMs, interval: INTERVAL_MS },
    );

  const balanceOf = async (token: string, privacyWalletId?: string) => {
    const { data } = await client().call(getPrivateBalances, {
      query: privacyWalletId === undefined ? {} : { privacyWalletId },
    });
    const found = data.find(
      (balance) => balance.chainId === chainId && balance.token.symbol === token,
    );
    if (found === undefined) throw new Error(`There is no balance of ${token}.`);
    return found;
  };

  const untilSpendable = (token: string, amount: string, privacyWalletId?: string) =>
    vi.waitFor(
      async () => {
        const balance = await balanceOf(token, privacyWalletId);
        expect(balance.spendable).toBe(amount);
        return balance;
      },
      { timeout: APPROVAL_TIMEOUT_MS, interval: INTERVAL_MS },
    );

  /** Waits for the first declined note of the token. */
  const untilDeclined = (
    token: string,
    {
      privacyWalletId,
      timeoutMs: timeout = APPROVAL_TIMEOUT_MS,
    }: { privacyWalletId?: string; timeoutMs?: number },
  ) =>
    vi.waitFor(
      async () => {
        const { data } = await client().call(listPrivateExits, {
          query: privacyWalletId === undefined ? {} : { privacyWalletId },
        });
        const [note] = data.filter(
          ({ state, amount }) => state === "declined" && amount.token.symbol === token,
        );
        if (note === undefined) throw new Error(`No note of ${token} is declined yet.`);
        return note;
      },
      { timeout, interval: INTERVAL_MS },
    );

  return { untilFinal, balanceOf, untilSpendable, untilDeclined };
};
