import type { ApiClient } from "@/lib/api-client/client";
import { approveOperation, getOperation, retryOperation } from "@/lib/contracts/operations";
import {
  createPrivacyWallet,
  getPrivateTransfer,
  privateTransfer,
} from "@/lib/contracts/privacy";
import {
  executePrivateSwap,
  preparePrivateSwap,
  quotePrivateSwap,
} from "@/lib/contracts/privacy-swap";
import { requestOtp } from "@/lib/contracts/swap";
import type { TestApi, TestSession } from "./api";
import { testAccount } from "./factories";
import type { privateMoney } from "./private-money";

/**
 * Time by which `failedTransfer` moves the worker's clock. It is longer than a step waits for its
 * note.
 */
const HALF_HOUR_MS = 1_900_000;

/** Returns functions that approve with the person's mailed one-time codes. */
const mailedApprovals = (
  api: TestApi,
  { session, email }: { readonly session: TestSession; readonly email: string },
) => {
  const mailedCodes = async (): Promise<string[]> =>
    ((await api.services.inbox?.list({ to: email, limit: 100 })) ?? []).flatMap(
      ({ code }) => code ?? [],
    );

  const codeFor = async (
    subject: { operationId: string } | { quoteId: string },
  ): Promise<string> => {
    const seen = await mailedCodes();
    await session.client.call(requestOtp, { body: subject });
    return api.readCode(email, seen);
  };

  const approve = async (operationId: string): Promise<void> => {
    const otp = await codeFor({ operationId });
    await session.client.call(approveOperation, { params: { id: operationId }, body: { otp } });
  };

  return { codeFor, approve };
};

/**
 * Private payments in USDC of a signed-in person, and of a key that is exempt from codes: starts
 * them and reads the results.
 */
export const privatePayments = async (money: Awaited<ReturnType<typeof privateMoney>>) => {
  const { api, world, workerClock, chainId } = money;
  const USDC = money.tokenOf("USDC");
  const session: TestSession = await api.signIn();
  const email = await api.verifiedEmail(session);
  const key = (await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000000" })).client;

  const walletWith = async (...notes: string[]): Promise<string> => {
    const { id: privacyWalletId } = await session.client.call(createPrivacyWallet, {
      body: { name: "Test" },
    });
    for (const amount of notes) await money.deposit(privacyWalletId, "USDC", amount);
    return privacyWalletId;
  };

  const get = (transferId: string) =>
    session.client.call(getPrivateTransfer, { params: { id: transferId } });
  const operationOf = (operationId: string) =>
    session.client.call(getOperation, { params: { id: operationId } });
  const paidTo = (recipient: `0x${string}`): bigint => world.balanceOf(USDC, recipient);

  const pay = (
    privacyWalletId: string,
    amount: string,
    toAddress = testAccount().address,
    by: ApiClient = key,
  ) =>
    by.call(privateTransfer, {
      body: { chainId, token: "USDC", amount, toAddress, privacyWalletId },
    });

  const retry = async (operationId: string, by: ApiClient = key) => {
    const answer = await by.call(retryOperation, { params: { id: operationId } });
    if ("quoteId" in answer) throw new Error("The retry is a quote.");
    return answer;
  };

  /**
   * Makes a transfer that fails, because an unrelated association set stays published for longer
   * than the transfer waits for its note.
   */
  const failedTransfer = async (
    privacyWalletId: string,
    amount: string,
    recipient = testAccount().address,
  ) => {
    const begun = await pay(privacyWalletId, amount, recipient);
    world.publishOtherSet();
    await money.look(begun.operationId);
    workerClock.aheadMs += HALF_HOUR_MS;
    await money.settle(begun.operationId);
    world.approveDeposits();
    return { ...begun, recipient };
  };

  const quoteOf = (amount = "100") =>
    session.client.call(quotePrivateSwap, {
      body: { chainId, fromToken: "USDC", toToken: "DAI", amount },
    });

  const swap = async (privacyWalletId: string, amount: string) => {
    const { quoteId } = await quoteOf(amount);
    await key.call(preparePrivateSwap, { body: { quoteId, privacyWalletId } });
    return key.call(executePrivateSwap, { body: { quoteId } });
  };

  return {
    ...{ session, key, ...mailedApprovals(api, { session, email }) },
    ...{ walletWith, get, operationOf, paidTo, pay, retry, failedTransfer, quoteOf, swap },
  };
};
