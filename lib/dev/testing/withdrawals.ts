/** Withdrawals: payouts to wallets that are funded by an account. */
import { vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import type { TestApi } from "./api";
import { newPayer } from "./payout-requests";

/** A payer with `treasury` USDC, of which an account has `funded`. */
export const newWithdrawer = async (
  api: TestApi,
  { treasury, funded: amount }: { readonly treasury: string; readonly funded: string },
) => {
  const payer = await newPayer(api, treasury);
  const { id: account } = await payer.person.call(createGlobalAccount, {
    body: { currency: "USDC" },
  });
  const funding = { params: { id: account }, body: { amount, currency: "USDC" } };
  // Reserves count at final blocks, so the treasury's money counts after a moment.
  await vi.waitFor(() => payer.person.call(fundGlobalAccount, funding), {
    timeout: 20_000,
    interval: 200,
  });
  return { ...payer, account };
};

export const postedOf = async (client: ApiClient, id: string): Promise<string> =>
  (await client.call(getGlobalAccount, { params: { id } })).balance.posted;

/** The USDC that withdrawals took out of accounts and that is neither paid nor returned. */
export const transitOf = async (client: ApiClient): Promise<string | undefined> =>
  (await client.call(getReserves)).data.find(({ currency }) => currency === "USDC")?.inTransit;
