import { beforeAll, expect, test } from "vitest";
import { getUnifiedBalances } from "@/lib/contracts/balances";
import { listWallets } from "@/lib/contracts/wallets";
import { executeSwap } from "@/lib/contracts/swap";
import { newId } from "@/lib/core/ids";
import { movingFunds } from "@/lib/books/holds/service";
import { sqlOn } from "@/lib/platform/db/sql";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareQuote, type Customer } from "@/lib/dev/testing/journey";

const [HERE, THERE] = [31337, 31338] as const;
// Without a worker: an operation stays where it is, and the test moves its leg.
const api = await testApi();
const { database } = api.services;
let customer: Customer;

beforeAll(async () => {
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: HERE,
    token: "USDC",
    amount: "100",
  });
});

const usdcOf = async ({ session }: Customer) => {
  const { totals } = await session.client.call(getUnifiedBalances, {});
  const usdc = totals.find(({ assetId }) => assetId === "usdc");
  const at = (chainId: number) => usdc?.chains.find((chain) => chain.chainId === chainId);
  return { usdc, here: at(HERE), there: at(THERE) };
};

/** 40 USDC from one chain to the project's own wallet on the other. */
const bridgeToItself = async (): Promise<{
  operationId: string;
  legId: string;
  minimum: string;
}> => {
  const { client } = customer.session;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: HERE, token: "USDC", amount: "40" }],
    toChainId: THERE,
    toToken: "USDC",
    toAddress: customer.treasury,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  const leg = await database.prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  const { minOutBase } = leg.routeLeg as { minOutBase: string };
  return { operationId, legId: leg.id, minimum: String(Number(minOutBase) / 1e6) };
};

test("an operation's money is reserved, then on its way out and in, and back when it is refunded", async () => {
  const before = await usdcOf(customer);
  expect(before.usdc).toMatchObject({
    amount: "100",
    available: "100",
    reserved: "0",
    pendingOut: "0",
    pendingIn: "0",
  });
  const { operationId, legId, minimum } = await bridgeToItself();
  const move = (state: string, data: object = {}) =>
    database.prisma.operationLeg.update({ where: { id: legId }, data: { state, ...data } });
  const release = (releasedAt: Date | null) =>
    database.prisma.balanceHold.update({ where: { id: legId }, data: { releasedAt } });

  const queued = await usdcOf(customer);
  expect(queued.here).toMatchObject({
    amount: "100",
    available: "60",
    reserved: "40",
    pendingOut: "0",
  });
  expect(queued.usdc?.breakdown).toMatchObject([
    { available: "60", reserved: "40", amount: "100" },
  ]);

  await database.prisma.operation.update({
    where: { id: operationId },
    data: { status: "processing" },
  });
  await move("submitted");
  const submitted = await usdcOf(customer);
  expect(submitted.here).toMatchObject({
    amount: "100",
    available: "60",
    reserved: "0",
    pendingOut: "40",
  });
  // The destination holds nothing yet, and is listed all the same.
  expect(submitted.there).toMatchObject({ amount: "0", available: "0", pendingIn: minimum });

  // Mined in a block that the balance does not include yet: it is still on its way out.
  await Promise.all([
    move("bridging", { sourceBlock: 10n ** 9n, depositedBase: "39980000" }),
    release(new Date()),
  ]);
  const ahead = await usdcOf(customer);
  expect(ahead.here).toMatchObject({ available: "60", pendingOut: "40" });

  await move("bridging", { sourceBlock: 1n });
  const bridging = await usdcOf(customer);
  expect(bridging.here).toMatchObject({ amount: "100", available: "100", pendingOut: "0" });
  expect(bridging.there).toMatchObject({ pendingIn: minimum });

  await move("filled_seen", { destBlock: 10n ** 9n, receivedBase: "39990000" });
  expect((await usdcOf(customer)).there).toMatchObject({ pendingIn: "39.99" });
  await move("filled_seen", { destBlock: 1n });
  expect((await usdcOf(customer)).there).toBeUndefined();

  await move("refunding", { destBlock: null, receivedBase: null });
  // The bridge gives back what it got, which is another amount than quoted.
  expect((await usdcOf(customer)).here).toMatchObject({ pendingIn: "39.98" });
  await move("refund_seen", { refundBlock: 1n, refundedBase: "39980000" });
  expect((await usdcOf(customer)).usdc).toMatchObject({
    amount: "100",
    available: "100",
    pendingIn: "0",
  });
});

test("money that moves in one project does not show in another", async () => {
  const stranger = await newCustomer(api);
  expect((await usdcOf(stranger)).usdc).toBeUndefined();
  const { id } = await database.prisma.project.findFirstOrThrow({
    where: { wallets: { some: { address: stranger.treasury } } },
  });
  const at = [{ chainId: HERE, blockNumber: 0n }];
  expect(
    await movingFunds(sqlOn(database.pool), { projectId: id, at, now: new Date() }),
  ).toEqual([]);
});

test("the thousand-and-first wallet is counted and listed like every other", async () => {
  const many = await newCustomer(api);
  const { client } = many.session;
  const { projectId } = await database.prisma.wallet.findFirstOrThrow({
    where: { address: many.treasury },
  });
  const owners = Array.from({ length: 1005 }, () => ({
    id: newId("wallet"),
    address: testAccount().address,
  }));
  const last = owners.at(-1)?.address ?? many.treasury;
  await database.prisma.wallet.createMany({
    data: owners.map((owner) => ({
      ...owner,
      projectId,
      kind: "linked",
      createdAt: new Date(),
    })),
  });
  await Promise.all(
    [many.treasury, last].map((address) =>
      fund(client, address, { chainId: HERE, token: "USDC", amount: "5" }),
    ),
  );

  const first = await client.call(listWallets, {});
  expect(first.data).toHaveLength(1000);
  const rest = await client.call(listWallets, { query: { cursor: first.nextCursor ?? "" } });
  expect([rest.data.length, rest.nextCursor]).toEqual([6, null]);
  expect(new Set([...first.data, ...rest.data].map(({ address }) => address)).size).toBe(1006);
  const found = await client.call(listWallets, { query: { address: last } });
  expect(found.data.map(({ address }) => address)).toEqual([last]);

  const whole = (await usdcOf(many)).usdc;
  expect(whole).toMatchObject({ amount: "10", available: "10" });
  expect(whole?.breakdown).toHaveLength(2);
  const page = await client.call(getUnifiedBalances, { query: { limit: 1 } });
  expect(page.totals[0]).toMatchObject({ amount: "10", breakdown: [{ amount: "5" }] });
  const next = await client.call(getUnifiedBalances, {
    query: { limit: 1, cursor: page.nextCursor ?? "" },
  });
  expect(next.totals[0]).toMatchObject({ amount: "10", breakdown: [{ amount: "5" }] });
  expect(next.nextCursor).toBeNull();
  expect(next.totals[0]?.breakdown[0]?.address).not.toBe(page.totals[0]?.breakdown[0]?.address);
  await expect(
    client.call(getUnifiedBalances, { query: { cursor: "nothing" } }),
  ).rejects.toThrow();
});
