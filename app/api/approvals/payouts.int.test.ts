/** Payouts of a project whose setting demands votes. */
import { beforeAll, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
} from "@/lib/contracts/global-accounts";
import {
  approvePayout,
  cancelPayout,
  createAccountsPayout,
  getPayout,
} from "@/lib/contracts/payouts";
import { getPolicies, updatePolicies } from "@/lib/contracts/policies";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import { isFinal } from "@/lib/core/status";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval, type SignedApproval } from "@/lib/dev/testing/approve";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { balanceOnChain, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { idOf, pay, row, someone } from "@/lib/dev/testing/payout-requests";
import {
  demandVotes,
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const { chains } = await testDevnet();
const api = await testApi({ worker: true });
const chain = chains.find(({ id }) => id === CHAIN);
const rpcUrl = chain?.rpcUrls[0] ?? "";
const usdc = chain?.tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "native";

let customer: Customer;
let client: ApiClient;
let voters: readonly [TestMember, TestMember];
let payer = "";
let payee = "";
beforeAll(async () => {
  customer = await newCustomer(api);
  ({ client } = customer.session);
  const projectId = (await client.call(getMe)).projects[0]?.id ?? "";
  voters = [
    await newMember(api, projectId, "admin"),
    await newMember(api, projectId, "operator"),
  ];
  await demandVotes(client, { count: 2, roles: ["owner", "admin", "operator"] });
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  [payer, payee] = [await open(), await open()];
  const funding = { params: { id: payer }, body: { currency: "USDC", amount: "40" } };
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), {
    timeout: 30_000,
    interval: 200,
  });
}, 120_000);

const payAccount = async (by: ApiClient, amount: string) => {
  const transfers = [{ recipientAccountId: payee, amount, currency: "USDC" }];
  const body = { sourceAccountId: payer, transfers, allowDuplicates: true };
  return idOf(await by.call(createAccountsPayout, { body }));
};
const read = (id: string) => client.call(getPayout, { params: { id } });
const ended = (id: string) =>
  vi.waitFor(
    async () => {
      const payout = await read(id);
      if (!isFinal(payout.status)) throw new Error(`The payout is ${payout.status}.`);
      return payout;
    },
    { timeout: 60_000, interval: 100 },
  );
const received = async () =>
  (await client.call(getGlobalAccount, { params: { id: payee } })).balance.posted;

test("a payout between accounts waits for two other people, and is paid once when both approve at once", async () => {
  const before = Number(await received());
  const id = await payAccount(client, "3");
  expect(await read(id)).toMatchObject({ status: "pending", subStatus: "awaiting_approval" });
  const request = await requestAbout(client, id);
  expect(request).toMatchObject({
    state: "open",
    mayDecide: false,
    required: { count: 2, excludeMaker: true },
  });
  expect(request.lines[0]).toContain("You pay: 3 USDC");
  await Promise.all(voters.map((voter) => vote(voter, request.id)));
  expect(await ended(id)).toMatchObject({ status: "completed" });
  expect(Number(await received())).toBe(before + 3);
  const audit = await api.services.database.prisma.auditEvent.findMany({
    where: { subject: id },
  });
  const approvals = audit.filter(({ action }) => action === "payout.approved");
  expect(approvals.map(({ data }) => data)).toEqual([
    { means: "votes", decisionId: request.id },
  ]);
});

test("the code of one person approves nothing, neither the maker's nor another member's", async () => {
  const id = await payAccount(client, "1");
  for (const by of [client, voters[0].client]) {
    const refused = await refusalOf(by.call(requestOtp, { body: { payoutId: id } }));
    expect(refused).toMatchObject({ status: 409, code: "invalid_state" });
    const body = { otp: "000000" };
    expect(await refusalOf(by.call(approvePayout, { params: { id }, body }))).toMatchObject({
      code: "invalid_state",
    });
  }
  expect(await read(id)).toMatchObject({ subStatus: "awaiting_approval" });
});

test("a declined payout is cancelled, and a cancelled one asks nobody any more", async () => {
  const before = await received();
  const declined = await payAccount(client, "1");
  await vote(voters[0], (await requestAbout(client, declined)).id, "decline");
  expect(await ended(declined)).toMatchObject({ status: "cancelled" });
  const cancelled = await payAccount(client, "1");
  const { id } = await requestAbout(client, cancelled);
  await client.call(cancelPayout, { params: { id: cancelled } });
  expect((await requestAbout(client, cancelled)).state).toBe("cancelled");
  expect(await refusalOf(vote(voters[0], id))).toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  expect(await received()).toBe(before);
});

test("votes bind an exempt key, unless an owner proved the exception: then it pays within its cap, and above it waits for people other than its maker", async () => {
  const { client: key } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "2",
  });
  const bound = await payAccount(key, "1");
  expect(await read(bound)).toMatchObject({ subStatus: "awaiting_approval" });
  expect((await requestAbout(client, bound)).mayDecide).toBe(false);
  const approvals = {
    count: 2,
    roles: ["owner" as const, "admin" as const, "operator" as const],
    exemptKeys: true,
  };
  const except = (by: ApiClient, approval?: SignedApproval) =>
    by.call(updatePolicies, { body: { approvals, ...(approval ? { approval } : {}) } });
  expect(await refusalOf(except(voters[0].client))).toMatchObject({
    status: 403,
    code: "forbidden",
  });
  expect(await refusalOf(except(client))).toMatchObject({
    status: 409,
    code: "approval_required",
  });
  await withApproval(customer.session.account, (approval) => except(client, approval));
  await vi.waitFor(async () => {
    const mails = (await api.services.inbox?.list({ to: customer.email, limit: 20 })) ?? [];
    expect(mails.map(({ subject }) => subject)).toContain(
      "Payments of your project need fewer approvals",
    );
  }, 20_000);
  expect(await ended(await payAccount(key, "1"))).toMatchObject({ status: "completed" });
  const above = await payAccount(key, "5");
  expect(await read(above)).toMatchObject({ subStatus: "awaiting_approval" });
  expect((await requestAbout(client, above)).mayDecide).toBe(false);
  expect((await requestAbout(voters[0].client, above)).mayDecide).toBe(true);
});

test("a payout to wallets is paid on the chain after the last vote; what the treasury cannot pay then ends, and says why", async () => {
  const recipient = someone();
  const create = async (amount: string, to = someone()) =>
    idOf(await pay(client, [row(to, amount)]));
  const [paid, missing, backing] = [
    await create("50", recipient),
    await create("51"),
    await create("20"),
  ];
  const request = await requestAbout(client, paid);
  expect(request.title).toMatch(/^Payout to 1 wallet on /);
  expect(request.lines.join(" ")).toContain(recipient);
  for (const voter of voters) await vote(voter, request.id);
  expect(await ended(paid)).toMatchObject({ status: "completed" });
  expect(await balanceOnChain(rpcUrl, usdc, recipient)).toBe(50_000_000n);
  // The treasury has less: the vote is refused, and counts later when the money is there.
  const refused = await refusalOf(vote(voters[0], (await requestAbout(client, missing)).id));
  expect(refused.code).toBe("insufficient_balance");
  expect((await requestAbout(client, missing)).votes).toEqual([]);
  // The treasury has enough, but global accounts rely on it.
  for (const voter of voters) await vote(voter, (await requestAbout(client, backing)).id);
  expect(await ended(backing)).toMatchObject({
    status: "failed",
    failure: { code: "insufficient_reserves" },
  });
  expect(await balanceOnChain(rpcUrl, usdc, customer.treasury)).toBe(50_000_000n);
});

test("a withdrawal takes nothing from the account before the last vote, and nothing at all when it is declined", async () => {
  /** Posted and pending; other payouts of the account wait for votes too. */
  const balanceOf = async (): Promise<readonly number[]> => {
    const { balance } = await client.call(getGlobalAccount, { params: { id: payer } });
    return [Number(balance.posted), Number(balance.pending)];
  };
  const [posted = 0, pending = 0] = await balanceOf();
  const withdraw = async (to: string) =>
    idOf(await pay(client, [row(to, "2")], { sourceAccountId: payer }));
  const recipient = someone();
  const [paid, declined] = [await withdraw(recipient), await withdraw(someone())];
  expect(await balanceOf()).toEqual([posted, pending + 4]);
  const request = await requestAbout(client, paid);
  expect(request.lines.join(" ")).toContain(payer);
  await vote(voters[0], request.id);
  expect(await balanceOf()).toEqual([posted, pending + 4]);
  expect(
    await refusalOf(
      client.call(approvePayout, { params: { id: paid }, body: { otp: "000000" } }),
    ),
  ).toMatchObject({
    code: "invalid_state",
  });
  await vote(voters[1], request.id);
  await vote(voters[0], (await requestAbout(client, declined)).id, "decline");
  expect(await ended(paid)).toMatchObject({
    status: "completed",
    account: { paid: "2", inTransit: "0" },
  });
  expect(await ended(declined)).toMatchObject({
    status: "cancelled",
    account: { paid: "0", inTransit: "0" },
  });
  expect(await balanceOf()).toEqual([posted - 2, pending]);
  expect(await balanceOnChain(rpcUrl, usdc, recipient)).toBe(2_000_000n);
});

test("more approvals count at once; fewer need an approval of their own, and no more can be demanded than members may vote", async () => {
  const roles = ["owner", "admin", "operator"] as const;
  const { approvals } = await client.call(getPolicies);
  expect(approvals).toEqual({
    count: 2,
    roles: [...roles],
    excludeMaker: true,
    exemptKeys: true,
  });
  const set = (to: Parameters<typeof demandVotes>[1]) => refusalOf(demandVotes(client, to));
  expect(await set(null)).toMatchObject({ status: 409, code: "approval_required" });
  expect(await set({ count: 1, roles: [...roles] })).toMatchObject({
    code: "approval_required",
  });
  expect(await set({ count: 2, roles: [...roles], excludeMaker: false })).toMatchObject({
    code: "approval_required",
  });
  expect(await set({ count: 9, roles: [...roles] })).toMatchObject({
    status: 400,
    code: "invalid_request",
  });
  expect(await set({ count: 2, roles: ["owner", "admin"] })).toMatchObject({
    status: 400,
    code: "invalid_request",
  });
  const projectId = (await client.call(getMe)).projects[0]?.id ?? "";
  await newMember(api, projectId, "admin");
  await demandVotes(client, { count: 2, roles: ["owner", "admin"] });
  expect(await set({ count: 2, roles: [...roles] })).toMatchObject({
    code: "approval_required",
  });
  expect(
    await refusalOf(demandVotes(voters[1].client, { count: 1, roles: ["admin"] })),
  ).toMatchObject({ status: 403 });
  await withApproval(customer.session.account, (approval) =>
    client.call(updatePolicies, {
      body: { approvals: null, ...(approval ? { approval } : {}) },
    }),
  );
  expect((await client.call(getPolicies)).approvals).toBeNull();
  const id = await payAccount(client, "1");
  expect((await client.call(requestOtp, { body: { payoutId: id } })).channel).toBe("email");
});
