/** Requests for payouts to wallets, like those of the service's users. */
import type { Address } from "viem";
import {
  createWalletsPayout,
  approvePayout,
  getPayout,
  listPayoutItems,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput, QueryInput, ResponseOf } from "@/lib/contracts/contract";
import type { TestApi } from "./api";
import { testAccount } from "./factories";
import { codesOf, fund, newCustomer, type Customer } from "./journey";

export const PAYOUT_CHAIN = 31337;

type Body = BodyInput<typeof createWalletsPayout>;
export type PayoutRow = Body["transfers"][number];

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: readonly { path: string; message: string; code?: string }[];
}

/** Returns the error of a failing call, or an object with the code `ok` when the call succeeds. */
export const refusal = (work: Promise<unknown>): Promise<Refusal> =>
  work.then(
    () => ({ status: 200, code: "ok", message: "" }),
    (error: unknown) => error as Refusal,
  );

export const someone = (): Address => testAccount().address;

export const row = (
  address: string,
  amount = "1",
  rest: Partial<PayoutRow> = {},
): PayoutRow => ({
  address,
  amount,
  token: "USDC",
  ...rest,
});

export const pay = (
  client: ApiClient,
  transfers: readonly PayoutRow[],
  rest: Partial<Body> = {},
) =>
  client.call(createWalletsPayout, {
    body: { chainId: PAYOUT_CHAIN, transfers: [...transfers], ...rest },
  });

export const idOf = ({
  payoutId,
}: Pick<ResponseOf<typeof createWalletsPayout>, "payoutId">): string => payoutId ?? "";

export const read = (client: ApiClient, id: string) =>
  client.call(getPayout, { params: { id } });

export const itemsOf = async (
  client: ApiClient,
  id: string,
  status?: QueryInput<typeof listPayoutItems>["status"],
) =>
  (
    await client.call(listPayoutItems, {
      params: { id },
      query: { limit: 100, ...(status ? { status } : {}) },
    })
  ).data;

/** A customer whose treasury has `amount` USDC, and a key that is exempt from codes. */
export const newPayer = async (api: TestApi, amount: string, dailyCapUsd = "1000000") => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: PAYOUT_CHAIN,
    token: "USDC",
    amount,
  });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd });
  return { customer, key: key.client, person: customer.session.client };
};

/** The current holds of a payout: batch number and base units. */
export const heldBy = async ({ services }: TestApi, payoutId: string): Promise<string[]> => {
  const where = { operationId: payoutId, releasedAt: null };
  const holds = await services.database.prisma.balanceHold.findMany({
    where,
    orderBy: { id: "asc" },
  });
  return holds.map(({ id, amountBase }) => `${id.split("/")[1] ?? ""}:${amountBase.toFixed()}`);
};

/** Approves a payout with the code that was sent to its person. */
export const approve = async (api: TestApi, customer: Customer, id: string) => {
  const seen = await codesOf(api, customer);
  await customer.session.client.call(requestOtp, { body: { payoutId: id } });
  const otp = await api.readCode(customer.email, seen);
  return customer.session.client.call(approvePayout, { params: { id }, body: { otp } });
};

/** Puts code at an address of a local chain. */
export const setCode = async (
  rpcUrl: string,
  address: Address,
  code: string,
): Promise<void> => {
  await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "anvil_setCode",
      params: [address, code],
    }),
  });
};

/**
 * Puts code at a new address on only one chain. The address accepts no coins until `clear` removes
 * the code.
 */
export const newContractOn = async (
  rpcUrl: string,
): Promise<{ address: Address; clear: () => Promise<void> }> => {
  const address = someone();
  await setCode(rpcUrl, address, "0x5f5ffd");
  return { address, clear: () => setCode(rpcUrl, address, "0x") };
};
