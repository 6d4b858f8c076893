import { afterEach, afterAll, expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { startFaultProxy } from "@/lib/dev/testing/fault-proxy";
import { deployForeignMulticall } from "@/lib/dev/testing/foreign-multicall";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";

/**
 * The contracts on the first chain return another chain's block number; the second chain can be
 * made unreachable.
 */
const [FOREIGN, AWAY] = [31337, 31338];
const WAIT = { timeout: 30_000, interval: 200 };

const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "1");
const multicall3 = await deployForeignMulticall(
  devnet.rpcUrls[String(FOREIGN)] ?? "",
  deployer,
);
const proxy = await startFaultProxy(devnet.rpcUrls[String(AWAY)] ?? "");
afterEach(() => proxy.clear());
afterAll(() => proxy.close());
const api = await testApi({
  worker: true,
  variables: {
    [`RPC_URL_${String(AWAY)}`]: proxy.url,
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id === FOREIGN) chain.contracts.multicall3 = multicall3;
    }),
  },
});

const reservesOf = async ({ session }: Customer) =>
  (await session.client.call(getReserves)).data.find(({ currency }) => currency === "USDC");

const give = (
  { session, treasury }: Customer,
  chainId: number,
  amount: string,
): Promise<void> => fund(session.client, treasury, { chainId, token: "USDC", amount });

const untilOnChain = (customer: Customer, amount: string) =>
  vi.waitFor(
    async () =>
      expect(await reservesOf(customer)).toMatchObject({ onChain: amount, committed: "0" }),
    WAIT,
  );

const send = async (customer: Customer, chainId: number, amount: string) => {
  const { client } = customer.session;
  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: customer.treasuryId,
    toAddress: testAccount().address,
    fromChainId: chainId,
    toChainId: chainId,
    token: "USDC",
    amount,
  });
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  return waitUntilFinal(client, operationId);
};

test("what has left the treasury for good is not counted as committed where contracts name another chain's block", async () => {
  const customer = await newCustomer(api);
  await give(customer, FOREIGN, "78");
  await untilOnChain(customer, "78");
  expect(await send(customer, FOREIGN, "77")).toMatchObject({ status: "completed" });
  await untilOnChain(customer, "1");
});

test("a chain that does not answer stops its own money, and neither sends nor fundings on the others", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await give(customer, AWAY, "100");
  await give(customer, FOREIGN, "50");
  await untilOnChain(customer, "150");
  const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const fundAccount = (amount: string, key: string = crypto.randomUUID()) =>
    client.call(fundGlobalAccount, {
      params: { id },
      body: { amount, currency: "USDC" },
      idempotencyKey: key,
    });
  await fundAccount("70");

  proxy.on({ fault: { kind: "status", status: 503 } });
  // Of the 100 USDC on the unreachable chain, 70 cover existing account balances, and the other 30
  // cannot back new ones.
  const message = expect.stringContaining(
    `Nothing on the chains ${String(AWAY)} backs more accounts now`,
  ) as string;
  await expect(fundAccount("50.000001", "later")).rejects.toMatchObject({
    code: "chain_unavailable",
    message,
  });
  // The money on the unreachable chain would not be enough either.
  await expect(fundAccount("80.000001")).rejects.toMatchObject({
    code: "insufficient_reserves",
    message,
  });
  expect((await fundAccount("30")).reserves).toEqual({
    onChain: "120",
    committed: "0",
    liabilities: "100",
  });
  expect(await send(customer, FOREIGN, "40")).toMatchObject({ status: "completed" });
  await expect(send(customer, FOREIGN, "10")).resolves.toMatchObject({ status: "completed" });
  await expect(send(customer, AWAY, "1")).rejects.toMatchObject({ code: "chain_unavailable" });
  proxy.clear();
  await expect(send(customer, AWAY, "1")).rejects.toMatchObject({
    code: "insufficient_reserves",
  });
  // The first attempt stored no outcome, so the same key is now decided again.
  await give(customer, AWAY, "60");
  await untilOnChain(customer, "160");
  expect((await fundAccount("50.000001", "later")).reserves).toMatchObject({
    liabilities: "150.000001",
  });
});
