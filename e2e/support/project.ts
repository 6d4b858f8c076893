import { expect, type Page } from "@playwright/test";
import { ApiError, createApiClient, type ApiClient } from "@/lib/api-client/client";
import { useFaucet as faucet } from "@/lib/contracts/dev";
import { verifyEmail } from "@/lib/contracts/auth";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import { getOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { isFinal, type Status } from "@/lib/core/status";
import { sendEmailCode } from "@/lib/dev/testing/approve";
import { mailedCode } from "./person";
import { accountOf } from "./sign-in";

/**
 * Uses the project of a signed-in person through the API, for the steps of a journey that the test
 * does not examine.
 */
export interface TestProject {
  readonly api: ApiClient;
  readonly email: string;
  readonly treasury: ResponseOf<typeof listWallets>["data"][number];
  /** Returns the newest mailed code; never the same code twice. */
  code(): Promise<string>;
  give(chainId: number, token: string, amount: string): Promise<void>;
  /** Adds a contact to the address book, and approves it with a mailed code. */
  addApproved(contact: BodyInput<typeof createContact>): Promise<void>;
  /** Creates and prepares a transfer, so that only `execute` is left. Returns the transfer's id. */
  prepareTransfer(
    transfer: Omit<BodyInput<typeof createTransfer>, "fromWalletId">,
  ): Promise<string>;
  /** Executes a prepared transfer. Returns the operation's id. */
  execute(transferId: string): Promise<string>;
  untilFinal(operationId: string): Promise<Status>;
}

const FINAL_TIMEOUT_MS = 60_000;

/**
 * Returns the project of the person who signed in on this page by `signIn`, and verifies an e-mail
 * address of the person, to which codes are mailed.
 */
export const projectOf = async (page: Page): Promise<TestProject> => {
  const session = (await (await page.request.get("/api/auth/session")).json()) as {
    accessToken: string;
  };
  const api = createApiClient({
    baseUrl: new URL("/api", process.env.E2E_BASE_URL).href,
    headers: () => ({ authorization: `Bearer ${session.accessToken}` }),
  });
  const email = `e2e-${crypto.randomUUID()}@example.test`;
  const seen: string[] = [];
  const code = (): Promise<string> => mailedCode(page.request, email, seen);
  await sendEmailCode(accountOf(page.request), api, email);
  await api.call(verifyEmail, { body: { code: await code() } });
  const { data } = await api.call(listWallets);
  const treasury = data.find((wallet) => wallet.kind === "treasury");
  if (treasury === undefined) throw new Error("The project has no treasury.");
  return {
    api,
    email,
    treasury,
    code,
    give: async (chainId, token, amount) => {
      await api.call(faucet, { body: { address: treasury.address, chainId, token, amount } });
    },
    addApproved: async (contact) => {
      const { id } = await api.call(createContact, { body: contact });
      const refusal = await api
        .call(approveContact, { params: { id }, body: {} })
        .catch((error: unknown) => error);
      if (!(refusal instanceof ApiError))
        throw new Error("A contact needs an approval.", { cause: refusal });
      const { approvalId } = refusal.body as { approvalId: string };
      await api.call(requestOtp, { body: { approvalId } });
      await api.call(approveContact, {
        params: { id },
        body: { approval: { approvalId, otp: await code() } },
      });
    },
    prepareTransfer: async (transfer) => {
      const { transferId } = await api.call(createTransfer, {
        body: { fromWalletId: treasury.id, ...transfer },
      });
      await api.call(requestOtp, { body: { transferId } });
      await api.call(prepareSwap, { body: { transferId, otp: await code() } });
      return transferId;
    },
    execute: async (transferId) =>
      (await api.call(executeSwap, { body: { transferId } })).operationId,
    untilFinal: async (operationId) => {
      let status: Status = "pending";
      await expect(async () => {
        ({ status } = await api.call(getOperation, { params: { id: operationId } }));
        expect(isFinal(status)).toBe(true);
      }).toPass({ timeout: FINAL_TIMEOUT_MS });
      return status;
    },
  };
};
