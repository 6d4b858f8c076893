import {
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from "viem";
import { privateKeyToAccount, generatePrivateKey } from "viem/accounts";
import { beforeEach, expect, test } from "vitest";
import { createQuote } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { LOCAL_PRICE_FEED_CODE } from "@/lib/dev/devnet/solidity/local-price-feed";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { countOperations, fund, newCustomer } from "@/lib/dev/testing/journey";

const [ONE, TWO] = [31337, 31338];
/** A token that only the second chain lists. */
const ONLY_THERE = "0x00000000000000000000000000000000000e7c20";
const MAX_AGE_S = 86_400;
const DOLLAR = 100_000_000n;
/** A gas estimate made in the same second as the last round is too low for the next second. */
const FEED_GAS = 2_000_000n;
const feedAbi = parseAbi([
  "constructor(address owner, string description, int256 answer)",
  "function setAnswer(int256 answer, uint256 at)",
]);

const devnet = await testDevnet();
const account = privateKeyToAccount(generatePrivateKey());
await devnet.setCoins(account.address, "10");
const chain = createTestClient({
  account,
  mode: "anvil",
  transport: http(devnet.rpcUrls[String(ONE)]),
})
  .extend(publicActions)
  .extend(walletActions);

const sent = async (to: `0x${string}` | null, data: `0x${string}`) => {
  const hash = await chain.sendTransaction({ chain: null, to, data, gas: FEED_GAS });
  const receipt = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 });
  expect(receipt.status).toBe("success");
  return receipt;
};
/** A feed for this file only, because the shared feeds price the trades of all other test files. */
const newFeed = async (usd: bigint): Promise<`0x${string}`> => {
  const data = encodeDeployData({
    abi: feedAbi,
    bytecode: LOCAL_PRICE_FEED_CODE,
    args: [account.address, "a test", usd * DOLLAR],
  });
  const { contractAddress } = await sent(null, data);
  if (contractAddress == null) throw new Error("The feed was not deployed.");
  return contractAddress;
};
const ethFeed = await newFeed(3_000n);
const usdcFeed = await newFeed(1n);

const api = await testApi({
  variables: {
    CHAINS_FILE: changedChainsFile((each) => {
      each.priceFeeds = [
        { address: ethFeed, assetIds: ["weth"], maxAgeSeconds: MAX_AGE_S },
        { address: usdcFeed, assetIds: ["usdc"], maxAgeSeconds: MAX_AGE_S },
      ];
      if (each.id !== ONE) each.priceFeeds = [];
      if (each.id === TWO) {
        const other = {
          symbol: "OTHER",
          name: "Other",
          decimals: 18,
          assetId: "other",
          usdPegged: false,
        };
        each.tokens = [...each.tokens, { ...other, address: ONLY_THERE }];
      }
    }),
  },
});
const customer = await newCustomer(api);
const { client } = customer.session;

const nowSeconds = (): bigint => BigInt(Math.floor(Date.now() / 1000));
const setPrice = (feed: `0x${string}`, answer: bigint, at = nowSeconds()) =>
  sent(
    feed,
    encodeFunctionData({ abi: feedAbi, functionName: "setAnswer", args: [answer, at] }),
  );
beforeEach(async () => {
  await setPrice(ethFeed, 3_000n * DOLLAR);
  await setPrice(usdcFeed, DOLLAR);
});

const quote = (own: { token?: string; toToken?: string; maxPriceImpactBps?: number } = {}) => {
  const { token = "WETH", toToken = "USDC", ...rest } = own;
  const from = [{ address: customer.treasury, chainId: ONE, token, amount: "1" }];
  return client.call(createQuote, {
    body: { from, toChainId: ONE, toToken, toAddress: customer.treasury, ...rest },
  });
};
const codesOf = ({
  warnings,
}: {
  readonly warnings: readonly { readonly code: string }[];
}): string[] =>
  warnings
    .map(({ code }) => code)
    .filter((code) => code !== "insufficient_balance" && code !== "first_payment");

test("a pool at the price of the feeds needs no warning", async () => {
  const made = await quote();
  expect(codesOf(made)).toEqual([]);
  expect(made.oracleImpactBps).toBeGreaterThan(-100);
  expect(made.oracleImpactBps).toBeLessThan(300);
});

test("a pool more than 3 % below the feed is warned about, though the trade is small in the pool", async () => {
  await setPrice(ethFeed, 3_300n * DOLLAR);
  const made = await quote();
  expect(codesOf(made)).toEqual(["high_price_impact"]);
  expect(made.oracleImpactBps).toBeGreaterThan(300);
  expect(made.priceImpactBps).toBeLessThan(300);
});

test("a pool more than 15 % below the feed is refused, unless the caller accepts that much", async () => {
  await setPrice(ethFeed, 4_000n * DOLLAR);
  const refused = await quote().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "price_impact_too_high" });
  const { priceImpactBps } = (refused as { body: { priceImpactBps: number } }).body;
  expect(priceImpactBps).toBeGreaterThan(1_500);
  const made = await quote({ maxPriceImpactBps: priceImpactBps + 100 });
  expect(codesOf(made)).toEqual(["high_price_impact"]);
  await expect(quote({ maxPriceImpactBps: 100 })).rejects.toMatchObject({
    code: "price_impact_too_high",
  });
});

test("a quote says when a feed is too old, and when a token has none", async () => {
  await setPrice(ethFeed, 4_000n * DOLLAR, nowSeconds() - BigInt(MAX_AGE_S) - 60n);
  const old = await quote();
  expect(codesOf(old)).toEqual(["stale_price_feed"]);
  expect(old.oracleImpactBps).toBeNull();
  expect(codesOf(await quote({ token: "USDC", toToken: "DAI" }))).toEqual(["no_price_feed"]);
});

test("a stablecoin that lost its peg is named", async () => {
  await setPrice(usdcFeed, (DOLLAR * 97n) / 100n);
  expect(codesOf(await quote())).toContain("depegged");
});

test("a transfer and a swap in one call are refused below the caller's minimum, and nothing starts", async () => {
  const common = { fromWalletId: customer.treasuryId, fromChainId: ONE, amount: "1" };
  await fund(client, customer.treasury, { chainId: ONE, token: "WETH", amount: "1" });
  const bridged = {
    ...common,
    toChainId: TWO,
    token: "WETH",
    toAddress: testAccount().address,
  };
  const notReached = { code: "minimum_not_reached" };
  await expect(
    client.call(createTransfer, { body: { ...bridged, minAmount: "1" } }),
  ).rejects.toMatchObject(notReached);
  expect(
    (await client.call(createTransfer, { body: { ...bridged, minAmount: "0.9" } })).minimum
      .token.symbol,
  ).toBe("WETH");
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" });
  const swap = {
    ...common,
    fromToken: "WETH",
    toChainId: ONE,
    toToken: "USDC",
    recipient: customer.treasury,
  };
  await expect(
    key.client.call(swapAndTransfer, { body: { ...swap, minAmount: "3100" } }),
  ).rejects.toMatchObject(notReached);
  expect(await api.services.database.prisma.operation.count()).toBe(0);
  const { minimum } = await key.client.call(swapAndTransfer, {
    body: { ...swap, minAmount: "2984" },
  });
  expect(Number(minimum)).toBeGreaterThanOrEqual(2984);
});

test("the contract of a token of any chain is no recipient", async () => {
  const body = {
    fromWalletId: customer.treasuryId,
    fromChainId: ONE,
    toChainId: ONE,
    token: "DAI",
    amount: "1",
  };
  await expect(
    client.call(createTransfer, { body: { ...body, toAddress: ONLY_THERE } }),
  ).rejects.toMatchObject({
    code: "invalid_request",
    details: [{ path: "toAddress" }],
  });
});

test("a recipient that is a contract on the source's chain alone is warned about", async () => {
  const body = {
    fromWalletId: customer.treasuryId,
    fromChainId: ONE,
    token: "WETH",
    amount: "1",
    toAddress: ethFeed,
  };
  expect(
    codesOf(await client.call(createTransfer, { body: { ...body, toChainId: TWO } })),
  ).toEqual(["code_elsewhere"]);
  expect(
    codesOf(await client.call(createTransfer, { body: { ...body, toChainId: ONE } })),
  ).toEqual([]);
});

test("a swap and transfer says what its quote warns about, and says so again to a repeated request", async () => {
  const payer = await newCustomer(api);
  await fund(client, payer.treasury, { chainId: ONE, token: "WETH", amount: "3" });
  await setPrice(ethFeed, 3_300n * DOLLAR);
  const body = {
    fromWalletId: payer.treasuryId,
    fromChainId: ONE,
    toChainId: ONE,
    fromToken: "WETH",
    toToken: "USDC",
    amount: "1",
    recipient: account.address,
  };
  const { accessToken } = payer.session;
  const keyed = api.client({
    authorization: `Bearer ${accessToken}`,
    "idempotency-key": "warned",
  });
  const made = await keyed.call(swapAndTransfer, { body });
  expect(made.warnings).toMatchObject([
    { code: "first_payment", path: "recipient" },
    { code: "high_price_impact" },
  ]);
  await setPrice(ethFeed, 3_000n * DOLLAR);
  // Simulates a crash before the answer was stored: the answer is then derived from the operation.
  await api.services.database.prisma.idempotencyKey.deleteMany({});
  expect(await keyed.call(swapAndTransfer, { body })).toEqual(made);
  expect(await countOperations(api, payer)).toBe(1);
});
