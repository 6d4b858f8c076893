import type { Address } from "viem";
import type { ApiClient } from "@/lib/api-client/client";
import type { ResponseOf } from "@/lib/contracts/contract";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import type { TestApi } from "./api";
import { testAccount } from "./factories";
import { fund, newCustomer, type Customer } from "./journey";

const CHAIN = 31337;

export interface FundedCustomer extends Customer {
  readonly projectId: string;
  /** Calls with an API key that is exempt from one-time codes. */
  readonly client: ApiClient;
  readonly keyId: string;
}

/**
 * A new customer whose treasury holds 1,000 USDC on the first local chain, with a key that is
 * exempt from codes.
 */
export const fundedCustomer = async (api: TestApi): Promise<FundedCustomer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "1000",
  });
  const { id: keyId, client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "100000",
  });
  const { projectId } = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  return { ...customer, projectId, client, keyId };
};

/** Sends USDC from the customer's treasury in one call. */
export const sendUsdc = (
  { client, treasuryId }: Pick<FundedCustomer, "client" | "treasuryId">,
  amount: string,
  recipient: Address = testAccount().address,
): Promise<ResponseOf<typeof swapAndTransfer>> =>
  client.call(swapAndTransfer, {
    body: {
      ...{
        fromWalletId: treasuryId,
        fromChainId: CHAIN,
        toChainId: CHAIN,
        fromToken: "USDC",
        toToken: "USDC",
      },
      ...{ amount, recipient },
    },
  });
