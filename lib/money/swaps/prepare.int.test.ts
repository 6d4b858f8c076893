import { afterEach, describe, expect, test, vi } from "vitest";
import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createChainRegistry } from "@/lib/chain/registry";
import type { ResponseOf } from "@/lib/contracts/contract";
import { createQuote, executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { cancelTransfer } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import { systemClock } from "@/lib/core/clock";
import { testApi } from "@/lib/dev/testing/api";
import { testConfig, testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import {
  doActions,
  executeOwn,
  narrowBridgeChains,
  oneSource,
  plainWallet,
  prepareOwn,
  type Action,
} from "@/lib/dev/testing/own-wallets";

const [ONE, TWO] = [31337, 31338];
const WETH = "0.02";
const CALLS = 4;

const devnet = await testDevnet();
const variables = { CHAINS_FILE: narrowBridgeChains() };
const { chains } = testConfig({
  databaseUrl: "postgresql://unused@127.0.0.1:9/unused",
  ...devnet,
  variables,
});
const onchain = createOnchainRouting({
  registry: createChainRegistry(chains),
  clock: systemClock,
});
/** Hook that runs between reading a quote and storing its preparation. */
const nothing = (): Promise<unknown> => Promise.resolve();
const meanwhile = { do: nothing };
afterEach(() => {
  meanwhile.do = nothing;
});
const api = await testApi({
  worker: true,
  variables,
  overrides: {
    routing: [
      {
        ...onchain,
        quote: async (request, signal) => {
          await meanwhile.do();
          return onchain.quote(request, signal);
        },
      },
    ],
  },
});

const sentAlready = {
  status: 409,
  code: "invalid_state",
  message: expect.stringContaining("Execute with its hash") as string,
};

const giveWeth = ({ session }: Customer, wallet: { address: `0x${string}` }): Promise<void> =>
  fund(session.client, wallet.address, { chainId: ONE, token: "WETH", amount: WETH });

const isApproval = ({ description }: Action): boolean =>
  description.startsWith("Allow exactly");

describe("a wallet that has sent the swap into a bridge is not asked to swap again", () => {
  test.each([
    ["where it approved the swap for this quote", false],
    ["where it approved the swap before", true],
  ])("%s", async (_, isApprovedBefore) => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await giveWeth(customer, wallet);
    const body = oneSource(wallet.address, [ONE, "WETH", WETH], [TWO, "USDC"]);
    let { quote, prepared } = await prepareOwn(api, customer, body);
    expect(prepared.actions.map(isApproval)).toEqual([true, false]);
    if (isApprovedBefore) {
      await doActions(api, [wallet], prepared.actions.slice(0, 1));
      ({ quote, prepared } = await prepareOwn(api, customer, body));
      expect(prepared.actions.map(isApproval)).toEqual([false]);
    }
    const sent = await doActions(api, [wallet], prepared.actions);
    // Funded for a second run, so that a missing balance is not the reason of the refusal.
    await giveWeth(customer, wallet);
    const { quoteId } = quote;
    await expect(
      customer.session.client.call(prepareSwap, { body: { quoteId } }),
    ).rejects.toMatchObject(sentAlready);
    const { operationId } = await executeOwn(customer, quoteId, sent);
    expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
      status: "completed",
    });
  });
});

test("a transfer that its wallet has sent cannot be cancelled, for the money is on its way; executed, it is followed", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await plainWallet(devnet, customer);
  const { data } = await client.call(listWallets, {});
  const fromWalletId = data.find(({ address }) => address === wallet.address)?.id ?? "";
  const route = {
    toAddress: testAccount().address,
    fromChainId: ONE,
    toChainId: ONE,
    token: "native",
    amount: "0.5",
  };
  const { transferId } = await prepareTransfer(api, customer, { fromWalletId, ...route });
  const { actions } = await client.call(prepareSwap, { body: { transferId } });
  const signatures = await doActions(api, [wallet], actions);
  const params = { id: transferId };
  await expect(client.call(cancelTransfer, { params })).rejects.toMatchObject(sentAlready);
  const { operationId } = await client.call(executeSwap, { body: { transferId, signatures } });
  expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
  await expect(client.call(cancelTransfer, { params })).rejects.toMatchObject({
    code: "quote_already_used",
  });
});

describe("preparing again, while", () => {
  test("the wallet sends what was prepared, does not replace it", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    const body = oneSource(wallet.address, [ONE, "native", "0.5"], [ONE, "native"]);
    const { quote, prepared } = await prepareOwn(api, customer, body);
    const { quoteId } = quote;
    let signatures: Awaited<ReturnType<typeof doActions>> = [];
    meanwhile.do = async () => {
      signatures = await doActions(api, [wallet], prepared.actions);
    };
    const again = customer.session.client.call(prepareSwap, { body: { quoteId } });
    await expect(again).rejects.toMatchObject(sentAlready);
    meanwhile.do = nothing;
    const { operationId } = await executeOwn(customer, quoteId, signatures);
    expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
      status: "completed",
    });
  });

  test.each([
    ["for the first time", false],
    ["anew", true],
  ])(
    "others prepare it too, %s, gives one of them what to send and tells the others",
    async (_, isPrepared) => {
      const customer = await newCustomer(api);
      const wallet = await plainWallet(devnet, customer);
      const { client } = await api.createKey(customer.session, {
        otp: "exempt",
        dailyCapUsd: "10000",
      });
      const body = oneSource(wallet.address, [ONE, "native", "0.5"], [ONE, "native"]);
      const { quoteId } = await client.call(createQuote, { body });
      const prepare = () => client.call(prepareSwap, { body: { quoteId } });
      if (isPrepared) await prepare();
      let arrived = 0;
      // All calls have read the quote before one of them continues.
      meanwhile.do = () => {
        arrived += 1;
        return vi.waitUntil(() => arrived === CALLS, { timeout: 20_000, interval: 5 });
      };
      const answers = await Promise.allSettled(Array.from({ length: CALLS }, prepare));
      meanwhile.do = nothing;
      const kept: ResponseOf<typeof prepareSwap>[] = [];
      for (const answer of answers) {
        if (answer.status === "fulfilled") kept.push(answer.value);
        else
          expect(answer.reason).toMatchObject({
            status: 409,
            code: "invalid_state",
            message: expect.stringContaining(
              "Another call prepared this at the same time",
            ) as string,
          });
      }
      expect(kept).toHaveLength(1);
      const signatures = await doActions(api, [wallet], kept[0]?.actions ?? []);
      const { operationId } = await executeOwn(customer, quoteId, signatures);
      expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
        status: "completed",
      });
    },
  );
});
