import { createPublicClient, erc20Abi, http, parseUnits, type Address } from "viem";
import { describe, expect, test } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer, waitUntilFinal } from "@/lib/dev/testing/journey";
import {
  allowPermit2,
  doActions,
  executeOwn,
  linkedWallet,
  oneSource,
  ownSmartAccount,
  permit2On,
  plainWallet,
  prepareOwn,
} from "@/lib/dev/testing/own-wallets";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
const api = await testApi({ worker: true });
const devnet = await testDevnet();

const { rpcUrl, tokenAddress, balance, give } = walletBalances(api);

const permit2AllowedTo = (chainId: number, symbol: string, owner: Address): Promise<bigint> =>
  createPublicClient({ transport: http(rpcUrl(chainId)) }).readContract({
    address: tokenAddress(chainId, symbol),
    abi: erc20Abi,
    functionName: "allowance",
    args: [owner, permit2On(api, chainId)],
  });

describe("a smart account owned by a linked wallet", () => {
  test("is deployed by its first operation, which its owner signed, and moves tokens to another chain", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const owner = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, owner.address, ONE);
    await give(customer, account, ONE, "USDT", "80");
    const recipient = testAccount().address;
    const { quote, prepared } = await prepareOwn(api, customer, {
      from: [{ address: account, chainId: ONE, token: "USDT", amount: "80" }],
      toChainId: TWO,
      toToken: "DAI",
      toAddress: recipient,
    });
    expect(prepared.actions).toEqual([
      expect.objectContaining({
        kind: "user_operation",
        signerAddress: owner.address,
        walletAddress: account,
      }),
    ]);
    const signatures = await doActions(api, [owner], prepared.actions);
    const { operationId } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId, signatures },
    });
    const operation = await waitUntilFinal(client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
    expect(await balance(TWO, "DAI", recipient)).toBe(
      BigInt(operation.actual.received.amountBase),
    );
    expect(BigInt(operation.actual.received.amountBase)).toBeGreaterThanOrEqual(
      BigInt(quote.to.minAmountBase),
    );
  });

  test("with two tokens on one chain is deployed once, and both arrive", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const owner = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, owner.address, ONE);
    await Promise.all([
      give(customer, account, ONE, "USDC", "5"),
      give(customer, account, ONE, "USDT", "6"),
    ]);
    const recipient = testAccount().address;
    const { quote, prepared } = await prepareOwn(api, customer, {
      from: [
        { address: account, chainId: ONE, token: "USDC", amount: "5" },
        { address: account, chainId: ONE, token: "USDT", amount: "6" },
      ],
      toChainId: ONE,
      toToken: "DAI",
      toAddress: recipient,
    });
    const signatures = await doActions(api, [owner], prepared.actions);
    expect(signatures).toHaveLength(2);
    const { operationId } = await client.call(executeSwap, {
      body: { quoteId: quote.quoteId, signatures },
    });
    const operation = await waitUntilFinal(client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
    expect(await balance(ONE, "DAI", recipient)).toBe(
      BigInt(operation.actual.received.amountBase),
    );
  });
});

test("a linked plain wallet swaps on one chain by an exact approval and a transaction of its own", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "USDT", "30");
  const recipient = testAccount().address;
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: wallet.address, chainId: ONE, token: "USDT", amount: "30" }],
    toChainId: ONE,
    toToken: "WETH",
    toAddress: recipient,
  });
  expect(prepared.actions.map(({ kind }) => kind)).toEqual(["transaction", "transaction"]);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  expect(operation.legs[0]?.txHash).toBe(signatures[1]?.txHash);
  expect(operation.actual.spent[0]?.amount).toBe("30");
  expect(await balance(ONE, "WETH", recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
});

test("a linked plain wallet moves a token across chains with a swap before the bridge, and is asked for no approval that is there", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "WETH", "0.02");
  const recipient = testAccount().address;
  const body = {
    from: [{ address: wallet.address, chainId: ONE, token: "WETH", amount: "0.02" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: recipient,
  };
  const first = await prepareOwn(api, customer, body);
  const [approval] = first.prepared.actions;
  if (approval === undefined) throw new Error("Something has to be approved.");
  // The person approves and leaves. The next attempt finds the approval.
  await doActions(api, [wallet], [approval]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  expect(prepared.actions).toHaveLength(first.prepared.actions.length - 1);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  expect(await balance(TWO, "USDC", recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
});

test("a linked plain wallet sends its native coin in one transaction", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await plainWallet(devnet, customer);
  const recipient = testAccount().address;
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: wallet.address, chainId: TWO, token: "native", amount: "1.5" }],
    toChainId: TWO,
    toToken: "native",
    toAddress: recipient,
  });
  expect(prepared.actions).toHaveLength(1);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
  expect(await balance(TWO, "native", recipient)).toBe(parseUnits("1.5", 18));
});

test("a linked plain wallet pays nothing and sends nothing where the token takes a permit: one signature, and the treasury does the rest", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await linkedWallet(customer);
  await give(customer, wallet.address, ONE, "USDC", "70");
  const recipient = testAccount().address;
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: wallet.address, chainId: ONE, token: "USDC", amount: "70" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: recipient,
  });
  expect(prepared.actions).toEqual([
    expect.objectContaining({
      kind: "typed_data",
      signerAddress: wallet.address,
      walletAddress: wallet.address,
    }),
  ]);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  expect(operation.actual.spent[0]?.amount).toBe("70");
  expect(await balance(TWO, "USDC", recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
  expect(await balance(ONE, "USDC", customer.treasury)).toBe(0n);
  expect(await balance(ONE, "USDC", wallet.address)).toBe(0n);
});

test("a linked plain wallet gives tokens to the treasury itself by permit, counted once", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await linkedWallet(customer);
  await give(customer, wallet.address, TWO, "USDC", "9");
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: wallet.address, chainId: TWO, token: "USDC", amount: "9" }],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: customer.treasury,
  });
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await client.call(executeSwap, {
    body: { quoteId: quote.quoteId, signatures },
  });
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({
    status: "completed",
    actual: { received: { amount: "9" } },
  });
  expect(await balance(TWO, "USDC", customer.treasury)).toBe(parseUnits("9", 6));
});

describe("a linked plain wallet that has allowed Permit2", () => {
  test("sends a token without permits by one signature; the treasury pays the fee, and neither gains nor loses", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await Promise.all([
      give(customer, wallet.address, ONE, "DAI", "30"),
      give(customer, customer.treasury, ONE, "DAI", "7"),
    ]);
    await allowPermit2(api, wallet, {
      chainId: ONE,
      token: "DAI",
      amountBase: parseUnits("26", 18),
    });
    const coins = await balance(ONE, "native", wallet.address);
    const body = oneSource(wallet.address, [ONE, "DAI", "25"], [ONE, "DAI"]);
    const { quote, prepared } = await prepareOwn(api, customer, body);
    expect(prepared.actions).toEqual([
      expect.objectContaining({
        kind: "typed_data",
        signerAddress: wallet.address,
        description: `Send 25 DAI on Local 1 to ${body.toAddress}, by a signature for Permit2`,
      }),
    ]);
    const signatures = await doActions(api, [wallet], prepared.actions);
    const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({
      status: "completed",
      actual: { received: { amount: "25" } },
    });
    expect(operation.actual.spent[0]?.amount).toBe("25");
    expect(await balance(ONE, "DAI", body.toAddress)).toBe(parseUnits("25", 18));
    expect(await balance(ONE, "DAI", wallet.address)).toBe(parseUnits("5", 18));
    expect(await balance(ONE, "DAI", customer.treasury)).toBe(parseUnits("7", 18));
    expect(await balance(ONE, "native", wallet.address)).toBe(coins);
    expect(await permit2AllowedTo(ONE, "DAI", wallet.address)).toBe(parseUnits("1", 18));
  });

  test("swaps on one chain and bridges from another in one operation, a signature for each", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await Promise.all([
      give(customer, wallet.address, ONE, "USDT", "60"),
      give(customer, wallet.address, TWO, "WETH", "0.02"),
      give(customer, wallet.address, TWO, "DAI", "20"),
      give(customer, customer.treasury, ONE, "USDT", "60"),
    ]);
    for (const [chainId, token, amountBase] of [
      [ONE, "USDT", parseUnits("60", 6)],
      [TWO, "WETH", parseUnits("0.02", 18)],
      [TWO, "DAI", parseUnits("20", 18)],
    ] as const)
      await allowPermit2(api, wallet, { chainId, token, amountBase });
    const { quote, prepared } = await prepareOwn(api, customer, {
      ...oneSource(wallet.address, [ONE, "USDT", "60"], [TWO, "USDT"]),
      from: [
        { address: wallet.address, chainId: ONE, token: "USDT", amount: "60" },
        { address: wallet.address, chainId: TWO, token: "WETH", amount: "0.02" },
        { address: wallet.address, chainId: TWO, token: "DAI", amount: "20" },
      ],
    });
    expect(prepared.actions.map(({ kind }) => kind)).toEqual([
      "typed_data",
      "typed_data",
      "typed_data",
    ]);
    const signatures = await doActions(api, [wallet], prepared.actions);
    const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
    expect(operation.actual.spent.map(({ amount }) => amount)).toEqual(["60", "0.02", "20"]);
    expect(await balance(TWO, "USDT", quote.to.address)).toBe(
      BigInt(operation.actual.received.amountBase),
    );
    expect(BigInt(operation.actual.received.amountBase)).toBeGreaterThanOrEqual(
      BigInt(quote.to.minAmountBase),
    );
    for (const [chainId, symbol, left] of [
      [ONE, "USDT", parseUnits("60", 6)],
      [TWO, "WETH", 0n],
      [TWO, "USDT", 0n],
      [TWO, "DAI", 0n],
    ] as const) {
      expect(await balance(chainId, symbol, wallet.address)).toBe(0n);
      expect(await balance(chainId, symbol, customer.treasury)).toBe(left);
    }
  });
});

test("one operation draws on the treasury, a smart account and plain wallets, and moves the money once", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const wallet = await plainWallet(devnet, customer);
  const account = await ownSmartAccount(customer, wallet.address, TWO);
  await Promise.all([
    give(customer, customer.treasury, ONE, "USDC", "10"),
    give(customer, account, TWO, "DAI", "20"),
    give(customer, wallet.address, ONE, "DAI", "30"),
    give(customer, wallet.address, TWO, "USDC", "40"),
  ]);
  const recipient = testAccount().address;
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [
      { address: customer.treasury, chainId: ONE, token: "USDC", amount: "10" },
      { address: account, chainId: TWO, token: "DAI", amount: "20" },
      { address: wallet.address, chainId: ONE, token: "DAI", amount: "30" },
      { address: wallet.address, chainId: TWO, token: "USDC", amount: "40" },
    ],
    toChainId: THREE,
    toToken: "USDC",
    toAddress: recipient,
  });
  expect(new Set(prepared.actions.map(({ kind }) => kind))).toEqual(
    new Set(["user_operation", "transaction", "typed_data"]),
  );
  const signatures = await doActions(api, [wallet], prepared.actions);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      client.call(executeSwap, { body: { quoteId: quote.quoteId, signatures } }),
    ),
  );
  const [operationId = "", ...others] = new Set(answers.map((answer) => answer.operationId));
  expect(others).toEqual([]);
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  expect(operation.legs).toHaveLength(4);
  const received = await balance(THREE, "USDC", recipient);
  expect(operation.actual.received.amountBase).toBe(received.toString());
  expect(received).toBeGreaterThanOrEqual(BigInt(quote.to.minAmountBase));
});
