import { expect, type Page } from "@playwright/test";
import { createApiClient, type ApiClient } from "@/lib/api-client/client";
import { useFaucet as faucet } from "@/lib/contracts/dev";
import { updateMe, verifyEmail } from "@/lib/contracts/auth";
import { getOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { isFinal, type Status } from "@/lib/core/status";
import { mailedCode } from "./person";

/** A signed-in person's project through the API, for the parts of a journey that the test is not about. */
export interface TestProject {
  readonly api: ApiClient;
  readonly email: string;
  readonly treasury: ResponseOf<typeof listWallets>["data"][number];
  /** The newest code mailed, each once. */
  code(): Promise<string>;
  give(chainId: number, token: string, amount: string): Promise<void>;
  /** A transfer up to where only execute is missing. */
  prepareTransfer(transfer: Omit<BodyInput<typeof createTransfer>, "fromWalletId">): Promise<string>;
  /** Executes it; answers with the operation's id. */
  execute(transferId: string): Promise<string>;
  untilFinal(operationId: string): Promise<Status>;
}

const FINAL_TIMEOUT_MS = 60_000;

/** Of the person who is signed in on this page, with an address for codes. */
export const projectOf = async (page: Page): Promise<TestProject> => {
  const session = (await (await page.request.get("/api/auth/session")).json()) as { accessToken: string };
  const api = createApiClient({
    baseUrl: new URL("/api", process.env.E2E_BASE_URL).href,
    headers: () => ({ authorization: `Bearer ${session.accessToken}` }),
  });
  const email = `e2e-${crypto.randomUUID()}@example.test`;
  const seen: string[] = [];
  const code = (): Promise<string> => mailedCode(page.request, email, seen);
  await api.call(updateMe, { body: { email } });
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
    prepareTransfer: async (transfer) => {
      const { transferId } = await api.call(createTransfer, { body: { fromWalletId: treasury.id, ...transfer } });
      await api.call(requestOtp, { body: { transferId } });
      await api.call(prepareSwap, { body: { transferId, otp: await code() } });
      return transferId;
    },
    execute: async (transferId) => (await api.call(executeSwap, { body: { transferId } })).operationId,
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
