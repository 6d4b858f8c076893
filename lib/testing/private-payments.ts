import type { ApiClient } from "@/lib/api-client/client";
import { getOperation, retryOperation } from "@/lib/contracts/operations";
import { createPrivacyWallet, getPrivateTransfer, privateTransfer } from "@/lib/contracts/privacy";
import type { TestSession } from "./api";
import { testAccount } from "./factories";
import type { privateMoney } from "./private-money";

/** Longer than a step waits for its note. */
const HALF_HOUR_MS = 1_900_000;

/** Private payments in USDC: what tests ask of the API, and how they read the result. */
export const privatePayments = (
  money: Awaited<ReturnType<typeof privateMoney>>,
  { session, key }: { readonly session: TestSession; readonly key: ApiClient },
) => {
  const { world, workerClock, chainId } = money;
  const USDC = money.tokenOf("USDC");

  const walletWith = async (...notes: string[]): Promise<string> => {
    const { privacyWalletId } = await session.client.call(createPrivacyWallet, { body: { name: "Test" } });
    for (const amount of notes) await money.deposit(privacyWalletId, "USDC", amount);
    return privacyWalletId;
  };

  const get = (transferId: string) => session.client.call(getPrivateTransfer, { params: { id: transferId } });
  const operationOf = (operationId: string) => session.client.call(getOperation, { params: { id: operationId } });
  const paidTo = (recipient: `0x${string}`): bigint => world.balanceOf(USDC, recipient);

  const pay = (privacyWalletId: string, amount: string, toAddress = testAccount().address, by: ApiClient = key) =>
    by.call(privateTransfer, { body: { chainId, token: "USDC", amount, toAddress, privacyWalletId } });

  const retry = async (operationId: string, by: ApiClient = key) => {
    const answer = await by.call(retryOperation, { params: { id: operationId } });
    if ("quoteId" in answer) throw new Error("The retry is a quote.");
    return answer;
  };

  /** Ends as failed: the association set is another one for longer than a note waits. */
  const failedTransfer = async (privacyWalletId: string, amount: string, recipient = testAccount().address) => {
    const begun = await pay(privacyWalletId, amount, recipient);
    world.publishOtherSet();
    await money.look(begun.operationId);
    workerClock.aheadMs += HALF_HOUR_MS;
    await money.settle(begun.operationId);
    world.approveDeposits();
    return { ...begun, recipient };
  };

  return { walletWith, get, operationOf, paidTo, pay, retry, failedTransfer };
};
