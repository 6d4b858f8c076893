import { expect, test, vi } from "vitest";
import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createChainRegistry } from "@/lib/chain/registry";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { systemClock } from "@/lib/core/clock";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { keepOneDay } from "@/lib/dev/testing/one-day";

const CHAIN = 31337;
const CAP_USD = "100";

const { chains } = await testDevnet();
const onchain = createOnchainRouting({
  registry: createChainRegistry(chains),
  clock: systemClock,
});
/** Every token costs one dollar on its own chain, and two dollars on another chain. */
const api = await testApi({
  overrides: {
    routing: [
      {
        ...onchain,
        priceUsd: (tokens) => Promise.resolve(tokens.map(() => "1")),
        highestPriceUsd: (tokens) => Promise.resolve(tokens.map(() => "2")),
      },
    ],
  },
});
keepOneDay(api.services.clock);

const funded = async (amount: string): Promise<{ customer: Customer; key: TestApiKey }> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount,
  });
  return {
    customer,
    key: await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: CAP_USD }),
  };
};

const spentBy = async ({ id }: TestApiKey): Promise<string[]> => {
  const rows = await api.services.database.prisma.policySpend.findMany({
    where: { apiKeyId: id },
  });
  return rows.map(({ spentUsd }) => spentUsd.toFixed());
};

test("a key's daily cap uses the highest price on any chain when a swap is prepared and when it is executed", async () => {
  const { customer, key } = await funded("200");
  const quoteOf = async (amount: string): Promise<string> => {
    const from = [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount }];
    const to = { toChainId: CHAIN, toToken: "USDC", toAddress: testAccount().address };
    return (await key.client.call(createQuote, { body: { from, ...to } })).quoteId;
  };
  const prepare = (quoteId: string) => key.client.call(prepareSwap, { body: { quoteId } });
  const execute = (quoteId: string) => key.client.call(executeSwap, { body: { quoteId } });
  await expect(prepare(await quoteOf("51"))).rejects.toMatchObject({ code: "otp_required" });
  const [first, second] = [await quoteOf("30"), await quoteOf("30")];
  await Promise.all([prepare(first), prepare(second)]);
  await execute(first);
  expect(await spentBy(key)).toEqual(["60"]);
  await expect(execute(second)).rejects.toMatchObject({ code: "otp_required" });
  expect(await spentBy(key)).toEqual(["60"]);
});

test("a key's daily cap uses the highest price on any chain when accounts are paid", async () => {
  const { customer, key } = await funded("200");
  const { client } = customer.session;
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [source, recipient] = [await open(), await open()];
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source },
        body: { amount: "200", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const pay = async (amount: string): Promise<string> => {
    const transfers = [{ recipientAccountId: recipient, amount, currency: "USDC" }];
    const body = { sourceAccountId: source, transfers };
    return (await key.client.call(createAccountsPayout, { body })).subStatus;
  };
  expect(await pay("51")).toBe("awaiting_approval");
  expect(await pay("50")).not.toBe("awaiting_approval");
  expect(await spentBy(key)).toEqual(["100"]);
});
