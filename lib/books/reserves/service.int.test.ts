import { parseEther } from "viem";
import { describe, expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";

const [SPONSORED, UNSPONSORED] = [31337, 31338];

const devnet = await testDevnet();
const api = await testApi({
  worker: true,
  variables: {
    CHAINS_FILE: changedChainsFile((chain) => {
      if (chain.id === UNSPONSORED) delete chain.contracts.paymaster;
    }),
  },
});

const give = (
  { session, treasury }: Customer,
  chainId: number,
  token: string,
  amount: string,
): Promise<void> => fund(session.client, treasury, { chainId, token, amount });

const reservesOf = async ({ session }: Customer, currency = "ETH") =>
  (await session.client.call(getReserves)).data.find((each) => each.currency === currency);

const partOf = async (customer: Customer, chainId: number) =>
  (await reservesOf(customer))?.chains.find((chain) => chain.chainId === chainId);

/** Waits until the faucet's transfer is in a final block. */
const untilFinal = (customer: Customer, chainId: number, amount: string): Promise<void> =>
  vi.waitFor(async () => expect((await partOf(customer, chainId))?.amount).toBe(amount), {
    timeout: 20_000,
    interval: 200,
  });

const fundAccount = async ({ session }: Customer, amount: string) => {
  const { id } = await session.client.call(createGlobalAccount, { body: { currency: "ETH" } });
  return session.client.call(fundGlobalAccount, {
    params: { id },
    body: { amount, currency: "ETH" },
  });
};

const coinsOf = ({ treasury }: Customer): Promise<bigint> =>
  balanceOnChain(api.services.registry.get(UNSPONSORED).rpcUrls[0] ?? "", "native", treasury);

const send = async (customer: Customer, chainId: number, token: string, amount: string) => {
  const { client } = customer.session;
  const toAddress = testAccount().address;
  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: customer.treasuryId,
    toAddress,
    fromChainId: chainId,
    toChainId: chainId,
    token,
    amount,
  });
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  return waitUntilFinal(client, operationId);
};

describe("on a chain without a paymaster the treasury's coins, which pay its own network fees,", () => {
  test("back no account: the reserves list them, say so and do not count them", async () => {
    const customer = await newCustomer(api);
    await give(customer, UNSPONSORED, "native", "2");
    await untilFinal(customer, UNSPONSORED, "2");
    expect(await reservesOf(customer)).toMatchObject({
      onChain: "0",
      available: "0",
      liabilities: "0",
      covered: true,
    });
    expect(await partOf(customer, UNSPONSORED)).toMatchObject({
      amount: "2",
      backs: false,
      stale: false,
    });
    await expect(fundAccount(customer, "0.000001")).rejects.toMatchObject({
      code: "insufficient_reserves",
      message: expect.stringContaining(
        `Nothing on the chains ${String(UNSPONSORED)} counts: the treasury`,
      ) as string,
    });
    await give(customer, SPONSORED, "native", "1");
    await untilFinal(customer, SPONSORED, "1");
    expect(await partOf(customer, SPONSORED)).toMatchObject({ amount: "1", backs: true });
    await expect(fundAccount(customer, "1.000001")).rejects.toMatchObject({
      code: "insufficient_reserves",
    });
    const funding = await fundAccount(customer, "1");
    expect(funding.reserves).toEqual({ onChain: "1", committed: "0", liabilities: "1" });
    expect(await reservesOf(customer)).toMatchObject({
      onChain: "1",
      available: "0",
      liabilities: "1",
      covered: true,
    });
  });

  test("are burnt by a transfer of another token, and what accounts hold stays covered", async () => {
    const customer = await newCustomer(api);
    await give(customer, SPONSORED, "native", "1");
    await give(customer, UNSPONSORED, "native", "1");
    await give(customer, UNSPONSORED, "USDC", "10");
    await untilFinal(customer, SPONSORED, "1");
    await untilFinal(customer, UNSPONSORED, "1");
    await fundAccount(customer, "1");
    expect(await send(customer, UNSPONSORED, "USDC", "5")).toMatchObject({
      status: "completed",
    });
    expect(await coinsOf(customer)).toBeLessThan(parseEther("1"));
    expect(await reservesOf(customer)).toMatchObject({
      onChain: "1",
      liabilities: "1",
      covered: true,
    });
    // Tokens do not pay network fees, so they back accounts on this chain as on every other.
    expect(await reservesOf(customer, "USDC")).toMatchObject({ onChain: "5", available: "5" });
  });

  test("leave the treasury also when too little backs the accounts, and those that back them do not", async () => {
    const customer = await newCustomer(api);
    await give(customer, SPONSORED, "native", "1");
    await untilFinal(customer, SPONSORED, "1");
    await fundAccount(customer, "1");
    // Coins on each of the three chains; those of one chain do not count.
    await devnet.setCoins(customer.treasury, "0.4");
    await untilFinal(customer, SPONSORED, "0.4");
    expect(await reservesOf(customer)).toMatchObject({ liabilities: "1", covered: false });
    await expect(send(customer, SPONSORED, "native", "0.1")).rejects.toMatchObject({
      code: "insufficient_reserves",
    });
    expect(await send(customer, UNSPONSORED, "native", "0.3")).toMatchObject({
      status: "completed",
    });
  });
});
