import { createPublicClient, erc20Abi, http, type Address } from "viem";
import { useFaucet } from "@/lib/contracts/dev";
import { getOperation } from "@/lib/contracts/operations";
import { createQuote, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import { vi } from "vitest";
import type { TestApi, TestSession } from "./api";

/** A signed-in person with a verified address and the project's treasury. */
export interface Customer {
  readonly session: TestSession;
  readonly email: string;
  readonly treasury: Address;
  readonly treasuryId: string;
}

export type QuoteBody = BodyInput<typeof createQuote>;
export type OperationAnswer = ResponseOf<typeof getOperation>;

const OPERATION_TIMEOUT_MS = 60_000;

export const newCustomer = async (api: TestApi, signedIn?: TestSession): Promise<Customer> => {
  const session = signedIn ?? (await api.signIn());
  const [email, { data }] = await Promise.all([
    api.verifiedEmail(session),
    session.client.call(listWallets, {}),
  ]);
  const treasury = data.find((wallet) => wallet.kind === "treasury");
  if (!treasury) throw new Error("A first sign-in makes a treasury.");
  return { session, email, treasury: treasury.address, treasuryId: treasury.id };
};

export const fund = async (
  client: ApiClient,
  address: Address,
  at: { chainId: number; token: string; amount: string },
): Promise<void> => {
  await client.call(useFaucet, { body: { address, ...at } });
};

/** Creates a quote, enters the code and prepares the swap. The caller only needs to execute it. */
export const prepareQuote = async (
  api: TestApi,
  customer: Customer,
  body: QuoteBody,
  client: ApiClient = customer.session.client,
): Promise<ResponseOf<typeof createQuote>> => {
  const seen = await codesOf(api, customer);
  const quote = await client.call(createQuote, { body });
  await client.call(requestOtp, { body: { quoteId: quote.quoteId } });
  const otp = await api.readCode(customer.email, seen);
  await client.call(prepareSwap, { body: { quoteId: quote.quoteId, otp } });
  return quote;
};

export const codesOf = async (api: TestApi, { email }: Customer): Promise<string[]> => {
  const mails = await api.services.inbox?.list({ to: email, limit: 100 });
  return (mails ?? []).flatMap((mail) => (mail.code === undefined ? [] : [mail.code]));
};

export const waitUntilFinal = (
  client: ApiClient,
  operationId: string,
  timeout = OPERATION_TIMEOUT_MS,
): Promise<OperationAnswer> =>
  vi.waitFor(
    async () => {
      const operation = await client.call(getOperation, { params: { id: operationId } });
      if (!isFinal(operation.status))
        throw new Error(`The operation is ${operation.status} (${operation.subStatus}).`);
      return operation;
    },
    { timeout, interval: 100 },
  );

/** Reads a balance without the service's code. */
export const balanceOnChain = async (
  rpcUrl: string,
  token: Address | "native",
  owner: Address,
): Promise<bigint> => {
  const client = createPublicClient({ transport: http(rpcUrl) });
  return token === "native"
    ? client.getBalance({ address: owner })
    : client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [owner],
      });
};

/** Creates a transfer, enters the code and prepares it. The caller only needs to execute it. */
export const prepareTransfer = async (
  api: TestApi,
  customer: Customer,
  body: BodyInput<typeof createTransfer>,
  client: ApiClient = customer.session.client,
): Promise<ResponseOf<typeof createTransfer>> => {
  const seen = await codesOf(api, customer);
  const transfer = await client.call(createTransfer, { body });
  await client.call(requestOtp, { body: { transferId: transfer.transferId } });
  const otp = await api.readCode(customer.email, seen);
  await client.call(prepareSwap, { body: { transferId: transfer.transferId, otp } });
  return transfer;
};

/** Number of operations of the customer's project. */
export const countOperations = async (
  { services }: TestApi,
  { treasury }: Customer,
): Promise<number> => {
  const { prisma } = services.database;
  const { projectId } = await prisma.wallet.findFirstOrThrow({ where: { address: treasury } });
  return prisma.operation.count({ where: { projectId } });
};
