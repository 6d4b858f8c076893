import { expect, test } from "vitest";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { getDeposit, listDust } from "@/lib/contracts/deposits";
import { listEvents } from "@/lib/contracts/events";
import { exportOperations, getOperation, listOperations } from "@/lib/contracts/operations";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { newId } from "@/lib/core/ids";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { testApi } from "@/lib/dev/testing/api";
import { followUntil, sendCoinsByContract, sendFromOutside } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";

const CHAIN = 31337;
const api = await testApi();
const { services } = api;
const { deposits, registry } = services;
const { prisma } = services.database;
const usdc = registry.resolveToken(CHAIN, "USDC");
// The search begins with this call: money that came before is not a deposit.
await deposits.follow(CHAIN);

const eventsOf = async (projectId: string): Promise<number> =>
  (await prisma.event.count({ where: { projectId } })) +
  (await prisma.eventOutbox.count({ where: { projectId } }));
const rowsOf = (walletId: string) =>
  prisma.deposit.findMany({ where: { walletId }, orderBy: { id: "asc" } });

test("tokens from outside are one operation, seen first and credited at the chain's depth, with sender, worth and transaction", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  const sender = testAccount();
  const txHash = await sendFromOutside(registry, sender, {
    token: usdc,
    to: treasury,
    amountBase: 12_500_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([{ state: "credited" }]);
  });
  const { data } = await session.client.call(listOperations, { query: { kind: "deposit" } });
  expect(data).toMatchObject([
    {
      kind: "deposit",
      status: "completed",
      quoted: {
        from: [{ address: sender.address, amount: "12.5" }],
        to: { address: treasury, chainId: CHAIN },
      },
      deposit: {
        state: "credited",
        sender: sender.address,
        walletId: treasuryId,
        received: { amount: "12.5", token: { symbol: "USDC" } },
        usd: expect.stringMatching(/^12\.[45]/) as string,
        txHash,
        confirmations: registry.get(CHAIN).confirmations,
        screening: null,
        decision: null,
      },
    },
  ]);
  const id = data[0]?.operationId ?? "";
  expect(await session.client.call(getDeposit, { params: { id } })).toMatchObject({
    id,
    txHash,
  });
  expect(await session.client.call(getOperation, { params: { id } })).toMatchObject({
    outcome: { nextAction: "Nothing to do: everything arrived." },
    may: { cancel: false, retry: false, approve: false },
  });
  for (const q of [txHash, sender.address, "usdc", id])
    expect(
      (await session.client.call(listOperations, { query: { q } })).data.map(
        (one) => one.operationId,
      ),
    ).toEqual([id]);
  const csv = await session.client.call(exportOperations, { query: { kind: "deposit" } });
  expect(csv).toContain(`deposit,completed`);
  expect(csv).toContain(txHash);
});

test("the project's events tell of a deposit when it is seen and when it counts, in this order and once", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: treasury,
    amountBase: 3_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([{ state: "credited" }]);
  });
  const stop = services.startWebhooks(services.instances.id);
  const [row] = await rowsOf(treasuryId);
  await followUntil(deposits, CHAIN, async () => {
    const { data } = await session.client.call(listEvents, { query: {} });
    expect(data.filter(({ objectId }) => objectId === row?.id).map(({ type }) => type)).toEqual(
      ["deposit.detected", "deposit.credited"],
    );
  });
  await stop.stop();
});

test("the faucet of the local chains is the sender of what it mints", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  await fund(session.client, treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([
      { state: "credited", sender: devAddress("faucet") },
    ]);
  });
});

test("a transfer of nothing is no deposit", async () => {
  const { treasury, treasuryId } = await newCustomer(api);
  await sendFromOutside(registry, testAccount(), { token: usdc, to: treasury, amountBase: 0n });
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: treasury,
    amountBase: 1_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect((await rowsOf(treasuryId)).map(({ amountBase }) => amountBase.toString())).toEqual([
      "1000000",
    ]);
  });
});

test("nine transfers of one base unit are one line without operations and events, and their money is in the balance", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  const { projectId } = await prisma.wallet.findFirstOrThrow({ where: { id: treasuryId } });
  const before = await eventsOf(projectId);
  const sender = testAccount();
  for (let sent = 0; sent < 9; sent += 1) {
    await sendFromOutside(registry, sender, { token: usdc, to: treasury, amountBase: 1n });
    if (sent % 4 === 0)
      await Promise.all(Array.from({ length: 3 }, () => deposits.follow(CHAIN)));
  }
  const listed = async () => (await session.client.call(listDust, {})).data;
  const line = {
    walletId: treasuryId,
    walletAddress: treasury,
    chainId: CHAIN,
    count: 9,
    total: { amount: "0.000009" },
  };
  await followUntil(deposits, CHAIN, async () => expect(await listed()).toMatchObject([line]));
  // A last deposit that is large enough to be shown proves that the blocks of the nine small ones
  // are final.
  await sendFromOutside(registry, sender, { token: usdc, to: treasury, amountBase: 20_000n });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([
      { state: "credited", amountBase: expect.anything() as unknown },
    ]);
  });
  expect(await listed()).toMatchObject([line]);
  expect(
    (await session.client.call(listOperations, { query: { kind: "deposit" } })).data,
  ).toHaveLength(1);
  expect((await eventsOf(projectId)) - before).toBe(2);
  const { totals } = await session.client.call(getUnifiedBalances, {});
  expect(totals.find(({ token }) => token === "USDC")).toMatchObject({ available: "0.020009" });
});

test("deposits are found once, however many instances search at the same time", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  const sender = testAccount();
  for (let sent = 0; sent < 3; sent += 1) {
    await sendFromOutside(registry, sender, {
      token: usdc,
      to: treasury,
      amountBase: 1_000_000n,
    });
    await Promise.all(Array.from({ length: 6 }, () => deposits.follow(CHAIN)));
  }
  await followUntil(deposits, CHAIN, async () => {
    expect((await rowsOf(treasuryId)).map(({ state }) => state)).toEqual([
      "credited",
      "credited",
      "credited",
    ]);
  });
  const { data } = await session.client.call(listOperations, { query: { kind: "deposit" } });
  expect(data).toHaveLength(3);
  const outbox = await prisma.eventOutbox.count({
    where: { objectId: { in: data.map((one) => one.operationId) } },
  });
  const numbered = await prisma.event.count({
    where: { objectId: { in: data.map((one) => one.operationId) } },
  });
  expect(outbox + numbered).toBe(6);
});

test("without a list and a policy everything received may be moved, and nothing is recorded", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: treasury,
    amountBase: 7_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([
      { state: "credited", verdict: null, isHeld: false },
    ]);
  });
  const { totals } = await session.client.call(getUnifiedBalances, {});
  expect(totals.find(({ token }) => token === "USDC")).toMatchObject({
    available: "7",
    quarantined: "0",
  });
  const [row] = await rowsOf(treasuryId);
  expect(
    await prisma.screeningRecord.count({ where: { projectId: row?.projectId ?? "" } }),
  ).toBe(0);
  expect(await prisma.balanceHold.count({ where: { walletAddress: treasury } })).toBe(0);
});

test("another project's deposit does not exist", async () => {
  const [one, other] = [await newCustomer(api), await newCustomer(api)];
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: one.treasury,
    amountBase: 1_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(one.treasuryId)).toMatchObject([{ state: "credited" }]);
  });
  const [row] = await rowsOf(one.treasuryId);
  await expect(
    other.session.client.call(getDeposit, { params: { id: row?.id ?? "" } }),
  ).rejects.toMatchObject({
    status: 404,
    code: "not_found",
  });
});

test("a project that names another one's treasury as an account of its own sees nothing of it and keeps nothing of it back", async () => {
  const [owner, other] = [await newCustomer(api), await newCustomer(api)];
  await putRules(other.session, {
    scope: "project",
    baseVersion: 0,
    rules: { screening: "require_clear" },
  });
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: other.treasuryId },
  });
  // The audit text from before owners had to prove themselves.
  const named = {
    id: newId("wallet"),
    kind: "smart_account",
    address: owner.treasury,
    ownerAddress: owner.treasury,
  };
  await prisma.wallet.create({ data: { ...named, projectId, createdAt: new Date() } });
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: owner.treasury,
    amountBase: 5_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(owner.treasuryId)).toMatchObject([{ state: "credited" }]);
  });
  expect(await rowsOf(named.id)).toEqual([]);
  expect(await prisma.balanceHold.count({ where: { walletAddress: owner.treasury } })).toBe(0);
  // Money for which deposits were not searched yet may move, because the policy of the other
  // project does not apply to this treasury.
  await sendFromOutside(registry, testAccount(), {
    token: usdc,
    to: owner.treasury,
    amountBase: 2_000_000n,
  });
  const { client } = await api.createKey(owner.session, {
    otp: "exempt",
    dailyCapUsd: "100000",
  });
  const body = {
    fromWalletId: owner.treasuryId,
    fromChainId: CHAIN,
    fromToken: "USDC",
    toChainId: CHAIN,
  };
  const sent = client.call(swapAndTransfer, {
    body: { ...body, toToken: "USDC", amount: "7", recipient: testAccount().address },
  });
  expect((await sent).operationId).toMatch(/^op_/);
});

test("what an account sends that the service does not sign for is from outside, whatever project names it", async () => {
  const { treasury, treasuryId } = await newCustomer(api);
  const { projectId } = await prisma.wallet.findUniqueOrThrow({ where: { id: treasuryId } });
  const sender = testAccount();
  const named = {
    id: newId("wallet"),
    kind: "smart_account",
    address: sender.address,
    ownerAddress: sender.address,
  };
  await prisma.wallet.create({ data: { ...named, projectId, createdAt: new Date() } });
  await sendFromOutside(registry, sender, {
    token: usdc,
    to: treasury,
    amountBase: 5_000_000n,
  });
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([
      { state: "credited", sender: sender.address },
    ]);
  });
});

test("coins that a contract sent, and nothing of the project explains, are a deposit of an unknown sender", async () => {
  const { session, treasury, treasuryId } = await newCustomer(api);
  const compare = async (): Promise<void> => {
    await deposits.follow(CHAIN);
    await deposits.compareCoins(CHAIN);
  };
  await followUntil(deposits, CHAIN, async () => {
    await compare();
    expect(
      await prisma.depositCoins.count({ where: { walletId: treasuryId, chainId: CHAIN } }),
    ).toBe(1);
  });
  await sendCoinsByContract(registry, CHAIN, { to: treasury, amountBase: 2n * 10n ** 18n });
  await followUntil(deposits, CHAIN, async () => {
    await compare();
    expect(await rowsOf(treasuryId)).toMatchObject([
      { state: "credited", token: "native", sender: null, txHash: null },
    ]);
  });
  const { data } = await session.client.call(listOperations, { query: { kind: "deposit" } });
  expect(data).toMatchObject([{ deposit: { received: { amount: "2" }, sender: null } }]);
});
