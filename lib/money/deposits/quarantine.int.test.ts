import { afterAll, describe, expect, test, vi } from "vitest";
import { whoAmI } from "@/lib/contracts/auth";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { getDeposit, releaseDeposit } from "@/lib/contracts/deposits";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { getReserves } from "@/lib/contracts/reserves";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { newId } from "@/lib/core/ids";
import { createFakeScreening } from "@/lib/trust/ports/fakes/screening";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { followUntil, sendCoinsByContract, sendFromOutside } from "@/lib/dev/testing/deposits";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { newCustomer } from "@/lib/dev/testing/journey";
import { getAuditLog, putRules } from "@/lib/dev/testing/policies";

const CHAIN = 31337;
const source = createFakeScreening();
const { rpcUrls } = await testDevnet();
const proxy = await startFaultProxy(rpcUrls[String(CHAIN)] ?? "");
afterAll(() => proxy.close());
const api = await testApi({
  overrides: { screening: [source] },
  variables: { [`RPC_URL_${String(CHAIN)}`]: proxy.url },
});
const { services } = api;
const { deposits, registry } = services;
const { prisma } = services.database;
const usdc = registry.resolveToken(CHAIN, "USDC");
await deposits.follow(CHAIN);

const rowsOf = (walletId: string) =>
  prisma.deposit.findMany({ where: { walletId }, orderBy: { id: "asc" } });

const newProject = async () => {
  const customer = await newCustomer(api);
  const { client: keyClient } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "100000",
  });
  const statesOf = async () => (await rowsOf(customer.treasuryId)).map(({ state }) => state);
  const receive = async (amountBase: bigint, sender = testAccount()) => {
    const before = (await statesOf()).length;
    await sendFromOutside(registry, sender, { token: usdc, to: customer.treasury, amountBase });
    await followUntil(deposits, CHAIN, async () => {
      const states = await statesOf();
      expect(states).toHaveLength(before + 1);
      expect(states.filter((state) => state === "pending")).toEqual([]);
    });
    const [row] = (await rowsOf(customer.treasuryId)).slice(-1);
    if (row === undefined) throw new Error("Nothing was found.");
    return row;
  };
  /** Receives a deposit from a sender on a sanctions list. */
  const receiveTainted = async (amountBase: bigint) => {
    const sender = testAccount();
    source.set(sender.address, "hit");
    const row = await receive(amountBase, sender);
    // A deposit is released only in a final block.
    await followUntil(deposits, CHAIN, async () => {
      const { finalNumber } = await prisma.depositScan.findUniqueOrThrow({
        where: { chainId: CHAIN },
      });
      expect(finalNumber).toBeGreaterThanOrEqual(row.blockNumber);
    });
    return row;
  };
  const send = (amount: string) =>
    keyClient.call(swapAndTransfer, {
      body: {
        ...{
          fromWalletId: customer.treasuryId,
          fromChainId: CHAIN,
          fromToken: "USDC",
          toChainId: CHAIN,
        },
        ...{ toToken: "USDC", amount, recipient: testAccount().address },
      },
    });
  const pay = (amount: string) =>
    keyClient.call(createWalletsPayout, {
      body: {
        chainId: CHAIN,
        transfers: [{ address: testAccount().address, amount, token: "USDC" }],
      },
    });
  const usdcOf = async () =>
    (await customer.session.client.call(getUnifiedBalances, {})).totals.find(
      ({ token }) => token === "USDC",
    );
  const release = (id: string, reason = "Checked with the customer") =>
    withApproval(customer.session.account, (approval) =>
      customer.session.client.call(releaseDeposit, {
        params: { id },
        body: { reason, ...(approval ? { approval } : {}) },
      }),
    );
  return { ...customer, keyClient, receive, receiveTainted, send, pay, usdcOf, release };
};

const outcomesOf = async (calls: readonly Promise<unknown>[]): Promise<readonly string[]> =>
  (await Promise.allSettled(calls)).map((result) =>
    result.status === "fulfilled"
      ? "accepted"
      : ((result.reason as { code?: string }).code ?? String(result.reason)),
  );

describe("a deposit of a listed sender", () => {
  test("is quarantined, named in the inbox, and neither available nor a reserve", async () => {
    const of = await newProject();
    await of.receive(100_000_000n);
    const tainted = await of.receiveTainted(40_000_000n);
    expect(tainted).toMatchObject({ state: "quarantined", verdict: "hit", isHeld: true });
    expect(await of.usdcOf()).toMatchObject({
      amount: "140",
      available: "100",
      reserved: "0",
      quarantined: "40",
    });
    const { data: inbox } = await of.session.client.call(readProjectInbox, {});
    expect(inbox).toMatchObject([
      {
        kind: "deposit",
        id: tainted.id,
        mine: true,
        title: "Deposit of 40.00 USDC in quarantine",
      },
    ]);
    const { id } = await of.session.client.call(createGlobalAccount, {
      body: { currency: "USDC" },
    });
    const { data: reserves } = await of.session.client.call(getReserves, {});
    expect(reserves.find(({ currency }) => currency === "USDC")).toMatchObject({
      available: "100",
    });
    const fund = (amount: string) =>
      of.session.client.call(fundGlobalAccount, {
        params: { id },
        body: { amount, currency: "USDC" },
      });
    await expect(fund("101")).rejects.toMatchObject({ code: "insufficient_reserves" });
    expect(await fund("100")).toMatchObject({ amount: "100" });
    expect(await getAuditLog(of.session, "screening.stopped")).toMatchObject([
      { subject: tainted.id },
    ]);
  }, 120_000);

  test("is spent neither by a transfer nor by a payout nor by several at once", async () => {
    const of = await newProject();
    await of.receive(100_000_000n);
    await of.receiveTainted(100_000_000n);
    await expect(of.send("101")).rejects.toMatchObject({ code: "insufficient_balance" });
    await expect(of.pay("101")).rejects.toMatchObject({ code: "insufficient_balance" });
    const outcomes = await outcomesOf([
      of.send("60"),
      of.pay("60"),
      of.send("60"),
      of.pay("60"),
    ]);
    expect(outcomes.filter((outcome) => outcome === "accepted")).toHaveLength(1);
    const held = await prisma.balanceHold.findMany({
      where: { walletAddress: of.treasury, releasedAt: null },
    });
    expect(held.map(({ amountBase }) => amountBase.toString()).sort()).toEqual([
      "100000000",
      "60000000",
    ]);
  }, 120_000);

  test("counts once a person released it with an approval, and the reason is in the audit log", async () => {
    const of = await newProject();
    const { id } = await of.receiveTainted(40_000_000n);
    await expect(
      of.session.client.call(releaseDeposit, { params: { id }, body: { reason: "because" } }),
    ).rejects.toMatchObject({ status: 409, code: "approval_required" });
    expect(await of.usdcOf()).toMatchObject({ available: "0" });
    expect(await of.release(id)).toMatchObject({
      state: "released",
      usd: expect.any(String) as string,
      decision: { reason: "Checked with the customer" },
      may: { release: false },
    });
    expect(await of.usdcOf()).toMatchObject({ available: "40", quarantined: "0" });
    expect(await getAuditLog(of.session, "deposit.released")).toMatchObject([
      { subject: id, data: { reason: "Checked with the customer", approvedBy: "signature" } },
    ]);
    expect((await of.send("40")).operationId).toMatch(/^op_/);
    await expect(of.release(id)).rejects.toMatchObject({ status: 409, code: "invalid_state" });
  }, 120_000);
});

describe("a deposit in quarantine", () => {
  test("is released once, by one of several people who do it at the same time", async () => {
    const of = await newProject();
    const first = await of.receiveTainted(40_000_000n);
    await of.receiveTainted(5_000_000n);
    const outcomes = await outcomesOf([
      of.release(first.id, "one"),
      of.release(first.id, "two"),
    ]);
    expect([...outcomes].sort()).toEqual(["accepted", "invalid_state"]);
    expect(await of.usdcOf()).toMatchObject({ available: "40", quarantined: "5" });
  }, 120_000);

  test("is kept by everybody who may not release it", async () => {
    const of = await newProject();
    const { id } = await of.receiveTainted(1_000_000n);
    await prisma.membership.updateMany({
      where: { projectId: (await rowsOf(of.treasuryId))[0]?.projectId ?? "" },
      data: { role: "operator" },
    });
    // An instance notices within a second a role that another process changed.
    await vi.waitFor(
      async () =>
        expect(await of.session.client.call(whoAmI)).toMatchObject({ role: "operator" }),
      10_000,
    );
    await expect(of.release(id)).rejects.toMatchObject({ status: 403, code: "forbidden" });
    expect(await of.usdcOf()).toMatchObject({ available: "0" });
  }, 120_000);

  test("is kept back at once while an operation is under way that might explain it", async () => {
    const of = await newProject();
    const { projectId } = await prisma.wallet.findUniqueOrThrow({
      where: { id: of.treasuryId },
    });
    const [operationId, times] = [
      newId("operation"),
      { acceptedAt: new Date(0), createdAt: new Date(), updatedAt: new Date() },
    ];
    const request = {
      sources: [],
      destination: { token: { ...usdc }, recipient: of.treasury },
      slippageBps: 0,
    };
    await prisma.operation.create({
      data: {
        ...{
          id: operationId,
          projectId,
          kind: "swap",
          status: "processing",
          subStatus: "full",
          request,
          quoted: {},
        },
        ...{ minimumBase: 0, createdBy: "test", searchTerms: [], ...times },
      },
    });
    const wallet = { walletId: "wal_other", walletAddress: "0xOther" };
    const leg = { id: newId("leg"), projectId, operationId, position: 0, ...wallet };
    const places = {
      kind: "bridge",
      sourceChainId: 31338,
      destChainId: CHAIN,
      state: "bridging",
      via: "user_operation",
    };
    await prisma.operationLeg.create({
      data: {
        ...leg,
        ...places,
        routeLeg: {},
        amountBase: 1,
        gas: {},
        fromBlock: 0n,
        updatedAt: new Date(),
      },
    });
    const sender = testAccount();
    source.set(sender.address, "hit");
    await sendFromOutside(registry, sender, {
      token: usdc,
      to: of.treasury,
      amountBase: 40_000_000n,
    });
    await followUntil(deposits, CHAIN, async () => {
      expect(await rowsOf(of.treasuryId)).toMatchObject([
        { state: "unclear", verdict: "hit", isHeld: true },
      ]);
    });
    expect(await of.usdcOf()).toMatchObject({ available: "0", quarantined: "40" });
    await prisma.operationLeg.update({ where: { id: leg.id }, data: { state: "failed" } });
    await followUntil(deposits, CHAIN, async () => {
      expect(await rowsOf(of.treasuryId)).toMatchObject([
        { state: "quarantined", isHeld: true },
      ]);
    });
    expect(await of.usdcOf()).toMatchObject({ available: "0", quarantined: "40" });
  }, 120_000);

  test("costs the guards one hold, however many deposits there are", async () => {
    const of = await newProject();
    const sender = testAccount();
    source.set(sender.address, "hit");
    for (let sent = 0; sent < 3; sent += 1) await of.receive(1_000_000n, sender);
    const held = await prisma.balanceHold.findMany({ where: { walletAddress: of.treasury } });
    expect(held.map(({ amountBase }) => amountBase.toString())).toEqual(["3000000"]);
  }, 120_000);
});

const strict = async () => {
  const of = await newProject();
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { screening: "require_clear" },
  });
  return of;
};

describe("where the policy lets screened money alone move", () => {
  test("money that was not searched for yet is not spent, and counts once its sender is clear", async () => {
    const of = await strict();
    await sendFromOutside(registry, testAccount(), {
      token: usdc,
      to: of.treasury,
      amountBase: 50_000_000n,
    });
    await expect(of.send("50")).rejects.toMatchObject({ code: "insufficient_balance" });
    await expect(of.pay("50")).rejects.toMatchObject({ code: "insufficient_balance" });
    expect(await rowsOf(of.treasuryId)).toEqual([]);
    await followUntil(deposits, CHAIN, async () => {
      expect(await rowsOf(of.treasuryId)).toMatchObject([
        { state: "credited", verdict: "clear" },
      ]);
    });
    expect((await of.send("50")).operationId).toMatch(/^op_/);
  }, 120_000);

  test("a sender that no source covers is quarantined: not covered is never clear", async () => {
    const of = await strict();
    const sender = testAccount();
    source.set(sender.address, "not_covered");
    expect(await of.receive(10_000_000n, sender)).toMatchObject({
      state: "quarantined",
      verdict: "not_covered",
    });
    await expect(of.send("10")).rejects.toMatchObject({ code: "insufficient_balance" });
  }, 120_000);

  test("while the source is down deposits are kept back, and count by themselves once it answers", async () => {
    const of = await strict();
    source.breakDown();
    try {
      expect(await of.receive(10_000_000n)).toMatchObject({
        state: "quarantined",
        verdict: "unavailable",
      });
    } finally {
      source.recover();
    }
    await expect(of.send("10")).rejects.toMatchObject({ code: "insufficient_balance" });
    // Simulates that half a minute has passed.
    await prisma.deposit.updateMany({
      where: { walletId: of.treasuryId },
      data: { againAt: new Date(0) },
    });
    await followUntil(deposits, CHAIN, async () => {
      expect(await rowsOf(of.treasuryId)).toMatchObject([
        { state: "credited", verdict: "clear", isHeld: false },
      ]);
    });
    expect((await of.send("10")).operationId).toMatch(/^op_/);
  }, 120_000);

  test("coins of an unknown sender are quarantined", async () => {
    const of = await strict();
    const compare = async (): Promise<void> => {
      await deposits.follow(CHAIN);
      await deposits.compareCoins(CHAIN);
    };
    await followUntil(deposits, CHAIN, async () => {
      await compare();
      expect(
        await prisma.depositCoins.count({ where: { walletId: of.treasuryId, chainId: CHAIN } }),
      ).toBe(1);
    });
    await sendCoinsByContract(registry, CHAIN, { to: of.treasury, amountBase: 10n ** 18n });
    await followUntil(deposits, CHAIN, async () => {
      await compare();
      expect(await rowsOf(of.treasuryId)).toMatchObject([
        { state: "quarantined", verdict: "not_covered", sender: null },
      ]);
    });
    const [row] = await rowsOf(of.treasuryId);
    expect(
      await of.session.client.call(getDeposit, { params: { id: row?.id ?? "" } }),
    ).toMatchObject({
      screening: { verdict: "not_covered", source: null },
    });
  }, 120_000);
});

test("where the policy lets screened money alone move an account is not funded from money that was not searched for, and no refusal stays", async () => {
  const of = await strict();
  const { id } = await of.session.client.call(createGlobalAccount, {
    body: { currency: "USDC" },
  });
  const fund = () =>
    of.session.client.call(fundGlobalAccount, {
      params: { id },
      body: { amount: "20", currency: "USDC" },
    });
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: of.treasury,
    amountBase: 40_000_000n,
  });
  const client = registry.client(CHAIN);
  const mined = await client.getBlockNumber({ cacheTime: 0 });
  await followUntil({ follow: () => Promise.resolve() }, CHAIN, async () => {
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(mined + 3n);
  });
  await expect(fund()).rejects.toMatchObject({ code: "insufficient_reserves" });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(of.treasuryId)).toMatchObject([{ state: "credited" }]);
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await fund()).toMatchObject({ amount: "20" });
  });
  // A refusal would be stored permanently, so an unreadable balance must not lead to one.
  const outage = proxy.on({
    fault: { kind: "error", message: "missing trie node" },
    methods: ["eth_call"],
    when: ({ params: [, block] }) => String(block).startsWith("0x"),
  });
  await expect(fund()).rejects.toMatchObject({ code: "chain_unavailable" });
  expect(outage.hits).toBeGreaterThan(0);
  outage.off();
  await followUntil(deposits, CHAIN, async () => {
    expect(await fund()).toMatchObject({ amount: "20" });
  });
}, 120_000);
