import { vi } from "vitest";
import type { TestApi } from "./api";
import type { exampleRecorder } from "./example-recorder";
import { fund, newCustomer } from "./journey";
import { putRules } from "./policies";

interface Examples extends Pick<ReturnType<typeof exampleRecorder>, "call" | "callStream"> {
  readonly api: TestApi;
  readonly chainId: number;
}

/**
 * Calls each route of deposits once. The project's policy requires a screening verdict that no
 * source gives, so the deposit waits for a person.
 */
export const callDeposits = async ({
  api,
  call,
  callStream,
  chainId,
}: Examples): Promise<void> => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  const as = { authorization: `Bearer ${session.accessToken}` };
  await putRules(session, {
    scope: "project",
    baseVersion: 0,
    rules: { screening: "require_clear" },
  });
  const stream = callStream("streamDeposits", { as });
  await fund(session.client, treasury, { chainId, token: "USDC", amount: "200" });
  await stream;
  const { prisma } = api.services.database;
  const id = await vi.waitFor(
    async () => {
      const found = await prisma.deposit.findFirstOrThrow({
        where: { walletId: treasuryId, state: "quarantined" },
      });
      const scan = await prisma.depositScan.findUniqueOrThrow({ where: { chainId } });
      if (scan.finalNumber < found.blockNumber) throw new Error("It is not final yet.");
      return found.id;
    },
    { timeout: 45_000, interval: 200 },
  );
  await call("listDeposits", { as });
  await call("getDeposit", { params: { id }, as });
  const { projectId, token, walletAddress } = await prisma.deposit.findFirstOrThrow({
    where: { id },
  });
  const dust = { count: 9, totalBase: 9, lastAt: new Date() };
  await prisma.depositDust.create({
    data: { projectId, walletId: treasuryId, chainId, token, walletAddress, ...dust },
  });
  await call("listDust", { as });
  const body = { reason: "Checked with the customer" };
  const asked = await call("releaseDeposit", { params: { id }, body, as, recorded: false });
  const signature = await session.account.signMessage({ message: String(asked.message) });
  const approval = { approvalId: asked.approvalId, signature };
  await call("releaseDeposit", { params: { id }, body: { ...body, approval }, as });
};
