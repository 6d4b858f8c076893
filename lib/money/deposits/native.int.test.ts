import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testApi } from "@/lib/dev/testing/api";
import { followUntil } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
const ETHER = 10n ** 18n;
const api = await testApi();
const { services } = api;
const { deposits, registry, faucet } = services;
const { prisma } = services.database;
const client = registry.client(CHAIN);
await deposits.follow(CHAIN);

const give = async (address: `0x${string}`, amountBase: bigint): Promise<bigint> => {
  await faucet?.give(address, registry.native(CHAIN), amountBase);
  return client.getBlockNumber({ cacheTime: 0 });
};

const rowsOf = (walletId: string) => prisma.deposit.findMany({ where: { walletId } });

/** Runs comparisons of coin balances until this block is compared. */
const compareUntil = (block: bigint): Promise<void> =>
  followUntil(deposits, CHAIN, async () => {
    await deposits.compareCoins(CHAIN);
    const { nativeNumber } = await prisma.depositScan.findUniqueOrThrow({
      where: { chainId: CHAIN },
    });
    expect(nativeNumber).toBeGreaterThanOrEqual(block);
  });

const projectOf = async ({ treasuryId }: Customer): Promise<string> =>
  (await prisma.wallet.findUniqueOrThrow({ where: { id: treasuryId } })).projectId;

test("coins that were in a new wallet before its balance was first read are a deposit", async () => {
  const { treasury, treasuryId } = await newCustomer(api);
  await compareUntil(await give(treasury, ETHER));
  await followUntil(deposits, CHAIN, async () => {
    expect(await rowsOf(treasuryId)).toMatchObject([{ token: "native", state: "credited" }]);
  });
});

test("coins that came and that the project spent between two comparisons are a deposit", async () => {
  const customer = await newCustomer(api);
  const { treasury, treasuryId } = customer;
  await compareUntil(await client.getBlockNumber({ cacheTime: 0 }));
  const [operationId, now] = [newId("operation"), new Date()];
  const coin = { address: "native", chainId: CHAIN };
  const request = {
    sources: [{ owner: treasury, token: coin, amountBase: "5" }],
    destination: { token: coin, recipient: testAccount().address },
    slippageBps: 0,
  };
  const operation = {
    id: operationId,
    projectId: await projectOf(customer),
    kind: "transfer",
    status: "completed",
  };
  const about = {
    subStatus: "full",
    request,
    quoted: {},
    minimumBase: 0,
    createdBy: "test",
    searchTerms: [],
  };
  await prisma.operation.create({
    data: { ...operation, ...about, createdAt: now, updatedAt: now },
  });
  // The block is not compared yet.
  const sourceBlock = await give(testAccount().address, 1n);
  const leg = {
    projectId: operation.projectId,
    id: newId("leg"),
    operationId,
    position: 0,
    walletId: treasuryId,
    walletAddress: treasury,
    kind: "transfer",
  };
  const places = {
    sourceChainId: CHAIN,
    destChainId: CHAIN,
    state: "completed",
    via: "user_operation",
    fromBlock: 0n,
  };
  await prisma.operationLeg.create({
    data: {
      ...leg,
      ...places,
      routeLeg: { sourceIndex: 0 },
      amountBase: 5,
      spentBase: 5,
      sourceBlock,
      gas: {},
      updatedAt: now,
    },
  });
  await compareUntil(sourceBlock);
  expect((await rowsOf(treasuryId)).map(({ amountBase }) => Number(amountBase))).toEqual([5]);
});

test("coins that a payout of the project brought to its own wallet are no deposit", async () => {
  const customer = await newCustomer(api);
  const projectId = await projectOf(customer);
  const second = {
    id: newId("wallet"),
    projectId,
    kind: "smart_account",
    address: testAccount().address,
    keyId: projectId,
  };
  await prisma.wallet.create({ data: { ...second, createdAt: new Date() } });
  await compareUntil(await client.getBlockNumber({ cacheTime: 0 }));
  const blockNumber = await give(second.address, ETHER);
  const of = {
    projectId,
    payoutId: newId("payout"),
    token: "native",
    amountBase: Number(ETHER),
  };
  await prisma.walletPayoutItem.create({
    data: { ...of, index: 0, recipient: second.address, batch: 1 },
  });
  const batch = {
    number: 1,
    walletAddress: customer.treasury,
    chainId: CHAIN,
    rows: 1,
    state: "paid",
    updatedAt: new Date(),
  };
  await prisma.walletPayoutBatch.create({
    data: { ...of, ...batch, blockNumber: Number(blockNumber) },
  });
  await compareUntil(blockNumber);
  expect(await rowsOf(second.id)).toEqual([]);
  await compareUntil(await give(second.address, ETHER));
  expect((await rowsOf(second.id)).map(({ amountBase }) => Number(amountBase))).toEqual([
    Number(ETHER),
  ]);
});
