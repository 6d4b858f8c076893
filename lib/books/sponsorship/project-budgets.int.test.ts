/** The limits that a project sets for what its sponsor pays, below the operator's ceilings. */
import { parseEther } from "viem";
import { expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import type { BodyInput } from "@/lib/contracts/contract";
import { updateSponsorBudget } from "@/lib/contracts/sponsor-budgets";
import { sqlOf } from "@/lib/platform/db/sql";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { newMember, refusalOf } from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi({ devnet: false });
const { sponsorship, database } = api.services;
type Change = Omit<BodyInput<typeof updateSponsorBudget>, "chainId" | "approval">;

const owner = async () => {
  const session = await api.signIn();
  const projectId = (await session.client.call(getMe)).projects[0]?.id ?? "";
  return { session, projectId };
};
/** Sets limits without an approval. */
const set = ({ client }: Pick<TestSession, "client">, change: Change) =>
  client.call(updateSponsorBudget, { body: { chainId: CHAIN, ...change } });
const approved = ({ account, client }: TestSession, change: Change) =>
  withApproval(account, (approval) =>
    client.call(updateSponsorBudget, {
      body: { chainId: CHAIN, ...change, ...(approval ? { approval } : {}) },
    }),
  );
const check = (projectId: string, coins: string) =>
  sponsorship.check({
    projectId,
    kind: "transfer",
    costs: [{ legId: "leg_1", chainId: CHAIN, maxWei: parseEther(coins) }],
  });
const reserve = (projectId: string, coins: string) =>
  database.transaction((tx) =>
    sponsorship.reserve(
      sqlOf(tx),
      {
        projectId,
        kind: "transfer",
        costs: [{ legId: "leg_1", chainId: CHAIN, maxWei: parseEther(coins) }],
      },
      new Date(),
    ),
  );

test("a project lowers its limits at once, and raises them back only with an approval; the audit log has both", async () => {
  const { session, projectId } = await owner();
  const to = await api.verifiedEmail(session);
  const low = await set(session, { dailyLimit: "2", perOperation: "1" });
  expect(low).toMatchObject({
    dailyLimit: "2",
    perOperation: "1",
    dailyCeiling: "300",
    perOperationCeiling: "10",
  });
  for (const tried of [check, reserve])
    await expect(tried(projectId, "1.5")).rejects.toMatchObject({
      code: "sponsor_budget_exceeded",
    });
  await reserve(projectId, "1");
  await reserve(projectId, "1");
  for (const tried of [check, reserve])
    await expect(tried(projectId, "0.1")).rejects.toMatchObject({
      code: "sponsor_budget_exceeded",
    });

  for (const change of [
    { dailyLimit: "2.000000000000000001" },
    { perOperation: null },
    { dailyLimit: null },
  ])
    expect(await refusalOf(set(session, change))).toMatchObject({
      status: 409,
      code: "approval_required",
    });
  const raised = await approved(session, { dailyLimit: "5", perOperation: null });
  expect(raised).toMatchObject({
    dailyLimit: "5",
    perOperation: "10",
    reserved: "2",
    remaining: "3",
  });
  // Only the raised limit is mailed.
  const mails = await database.prisma.mailOutbox.findMany({ where: { projectId, to } });
  expect(mails.map(({ subject }) => subject)).toEqual([
    "The sponsor may pay more network fees of your project",
  ]);
  await reserve(projectId, "3");

  const entries = await database.prisma.auditEvent.findMany({
    where: { projectId, action: "sponsor_budget.changed" },
    orderBy: { id: "asc" },
  });
  expect(entries.map(({ subject, data }) => [subject, data])).toMatchObject([
    [`chain:${String(CHAIN)}`, { dailyLimit: "2 ETH", perOperation: "1 ETH" }],
    [
      `chain:${String(CHAIN)}`,
      { dailyLimit: "5 ETH", perOperation: "10 ETH", approvedBy: "signature" },
    ],
  ]);
});

test("no project exceeds the operator's ceiling: not by its own limit, nor by one from before the ceiling was lowered", async () => {
  const { session, projectId } = await owner();
  const above = await refusalOf(set(session, { dailyLimit: "300.1" }));
  expect(above).toMatchObject({
    status: 400,
    code: "invalid_request",
    body: { details: [{ path: "dailyLimit" }] },
  });
  await set(session, { dailyLimit: "250" });
  await sponsorship.setBudget(
    { projectId, chainId: CHAIN },
    { dailyWei: parseEther("3"), operationWei: null },
  );
  const [budget] = (await session.client.call(getMe)).sponsorBudgets;
  expect(budget).toMatchObject({ dailyLimit: "3", dailyCeiling: "3" });
  await expect(reserve(projectId, "3.1")).rejects.toMatchObject({
    code: "sponsor_budget_exceeded",
  });
  await reserve(projectId, "3");
  // With a ceiling of zero the project cannot set any limit.
  await sponsorship.setBudget(
    { projectId, chainId: CHAIN },
    { dailyWei: 0n, operationWei: null },
  );
  expect(await refusalOf(set(session, { dailyLimit: "1" }))).toMatchObject({
    code: "invalid_request",
  });
});

test("an approval of one limit raises no other, and a limit that was changed meanwhile is not overwritten", async () => {
  const { session } = await owner();
  await set(session, { dailyLimit: "1" });
  const asked = await refusalOf(set(session, { dailyLimit: "2" }));
  const signature = await session.account.signMessage({ message: asked.message });
  const approval = { approvalId: (asked.body as { approvalId: string }).approvalId, signature };
  const higher = session.client.call(updateSponsorBudget, {
    body: { chainId: CHAIN, dailyLimit: "200", approval },
  });
  expect(await refusalOf(higher)).toMatchObject({ status: 409, code: "approval_required" });
  await set(session, { dailyLimit: "0.5" });
  const late = session.client.call(updateSponsorBudget, {
    body: { chainId: CHAIN, dailyLimit: "2", approval },
  });
  expect(await refusalOf(late)).toMatchObject({ status: 409 });
  expect((await session.client.call(getMe)).sponsorBudgets[0]).toMatchObject({
    dailyLimit: "0.5",
  });
});

test("operators of the project and API keys set no budget, and another project's budget stays as it is", async () => {
  const [one, other] = [await owner(), await owner()];
  const member = await newMember(api, one.projectId, "operator");
  expect(await refusalOf(set(member, { dailyLimit: "1" }))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  const { client } = await api.createKey(one.session);
  expect(await refusalOf(set({ client }, { dailyLimit: "1" }))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  await set(one.session, { dailyLimit: "1" });
  expect((await other.session.client.call(getMe)).sponsorBudgets[0]).toMatchObject({
    dailyLimit: "300",
  });
});
