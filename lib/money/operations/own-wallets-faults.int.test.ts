import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseAbi,
  parseSignature,
  parseUnits,
  type Address,
} from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { ignoreDepositsOf } from "@/lib/dev/testing/hub";
import { balanceOnChain, newCustomer, waitUntilFinal } from "@/lib/dev/testing/journey";
import {
  broadcast,
  doActions,
  executeOwn,
  linkedWallet,
  narrowBridgeChains,
  oneSource,
  plainWallet,
  prepareOwn,
  sendAs,
  signAction,
  signedTransaction,
} from "@/lib/dev/testing/own-wallets";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";
import { startWorker } from "@/lib/workers/runner";

const [ONE, TWO, THREE] = [31337, 31338, 31339];

const api = await testApi({ variables: { CHAINS_FILE: narrowBridgeChains() } });
const devnet = await testDevnet();
const { prisma } = api.services.database;
const worker = { current: startWorker(api.services) };
afterAll(() => worker.current.stop());

const { rpcUrl, tokenAddress, balance, give } = walletBalances(api);

test("transactions of a plain wallet sell before the bridge, deposit, and arrive", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "DAI", "50");
  const body = oneSource(wallet.address, [ONE, "DAI", "50"], [TWO, "USDT"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  expect(prepared.actions).toHaveLength(2);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  const received = await balance(TWO, "USDT", body.toAddress);
  expect(operation.actual.received.amountBase).toBe(received.toString());
  expect(received).toBeGreaterThanOrEqual(BigInt(quote.to.minAmountBase));
});

test("transactions of a plain wallet are followed when no node had seen them at execute, and under the hash of a higher fee", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const body = oneSource(wallet.address, [ONE, "native", "0.25"], [ONE, "native"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action === undefined) throw new Error("A transaction has to be sent.");
  const told = await signedTransaction(api, wallet, action);
  const { operationId } = await executeOwn(customer, quote.quoteId, [
    { actionId: action.id, txHash: told.hash },
  ]);
  const dearer = await signedTransaction(api, wallet, action, {
    fee: 20_000_000_000n,
    nonce: told.nonce,
  });
  await broadcast(api, ONE, dearer.raw);
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({ status: "completed" });
  expect(operation.legs[0]?.txHash).toBe(dearer.hash);
  expect(await balanceOnChain(rpcUrl(ONE), "native", body.toAddress)).toBe(
    parseUnits("0.25", 18),
  );
});

test("transactions of a plain wallet that stop half way leave all of the money where it is", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "DAI", "40");
  const body = oneSource(wallet.address, [ONE, "DAI", "40"], [TWO, "USDC"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const deposit = prepared.actions.at(-1);
  if (deposit === undefined) throw new Error("Something has to be sent.");
  const before = await doActions(api, [wallet], prepared.actions.slice(0, -1));
  const told = await signedTransaction(api, wallet, deposit);
  const { operationId } = await executeOwn(customer, quote.quoteId, [
    ...before,
    { actionId: deposit.id, txHash: told.hash },
  ]);
  // The deposit is never sent, and its deadline passes.
  await prisma.operationLeg.updateMany({
    where: { operationId },
    data: { validUntil: new Date(Date.now() - 120_000) },
  });
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "not_sent", retryable: true },
  });
  expect(await balance(ONE, "DAI", wallet.address)).toBe(parseUnits("40", 18));
  const held = operation.outcome.holds.map((hold) => [
    hold.wallet,
    hold.token.symbol,
    hold.amount,
  ]);
  expect(held).toEqual([[wallet.address, "DAI", "40"]]);
});

test("transactions of a plain wallet that the wallet took back can never be mined, and the money is where it was", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const body = oneSource(wallet.address, [ONE, "native", "0.3"], [ONE, "native"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action === undefined) throw new Error("A transaction has to be sent.");
  const told = await signedTransaction(api, wallet, action);
  const { operationId } = await executeOwn(customer, quote.quoteId, [
    { actionId: action.id, txHash: told.hash },
  ]);
  // Simulates that a node had shown the transaction and its nonce before the wallet replaced it by
  // an empty transfer to itself.
  const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  const sent = leg.walletTransactions as {
    transactions: { nonce: number | null }[];
    fromNonce: number;
  };
  const transactions = sent.transactions.map((transaction) => ({
    ...transaction,
    nonce: told.nonce,
  }));
  await prisma.operationLeg.update({
    where: { id: leg.id },
    data: { walletTransactions: { ...sent, transactions }, version: { increment: 1 } },
  });
  await createWalletClient({
    account: wallet,
    chain: api.services.registry.viemChain(ONE),
    transport: http(rpcUrl(ONE)),
  }).sendTransaction({ to: wallet.address, value: 0n, nonce: told.nonce });
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "not_sent", retryable: true },
  });
  expect(operation.failure?.message).toContain("took it back");
  expect(operation.outcome.holds).toEqual([
    expect.objectContaining({ wallet: wallet.address, amount: "0.3" }),
  ]);
});

test("transactions of a plain wallet that nobody ever saw are given up after half an hour, and the record says what that means", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const body = oneSource(wallet.address, [ONE, "native", "0.1"], [ONE, "native"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action === undefined) throw new Error("A transaction has to be sent.");
  const told = await signedTransaction(api, wallet, action);
  const { operationId } = await executeOwn(customer, quote.quoteId, [
    { actionId: action.id, txHash: told.hash },
  ]);
  const past = new Date(Date.now() - 31 * 60_000);
  await prisma.operation.update({
    where: { id: operationId },
    data: { createdAt: past, acceptedAt: past },
  });
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "not_sent", retryable: false },
  });
  expect(operation.failure?.message).toContain("cancel it there before you try again");
  const { nextAction, holds } = operation.outcome;
  for (const words of [nextAction, ...holds.map(({ note }) => note)])
    expect(words).toMatch(/look at the wallet's history first/);
});

test("transactions of a plain wallet are recorded after the price lock when all of them are on chain, and refused then when they are not", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const late = async (send: boolean) => {
    const { quote, prepared } = await prepareOwn(
      api,
      customer,
      oneSource(wallet.address, [ONE, "native", "0.1"], [ONE, "native"]),
    );
    const [action] = prepared.actions;
    if (action === undefined) throw new Error("A transaction has to be sent.");
    const { raw, hash } = await signedTransaction(api, wallet, action);
    if (send) await broadcast(api, ONE, raw);
    await prisma.quote.update({
      where: { id: quote.quoteId },
      data: { preparedUntil: new Date(Date.now() - 1000) },
    });
    return executeOwn(customer, quote.quoteId, [{ actionId: action.id, txHash: hash }]);
  };
  await expect(late(false)).rejects.toMatchObject({ status: 410, code: "quote_expired" });
  const { operationId } = await late(true);
  expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
    status: "completed",
  });
});

test("transactions of a plain wallet that a bridge does not fill are refunded to the wallet itself, by transactions and by permit alike", async () => {
  const customer = await newCustomer(api);
  const [sender, permitter] = [
    await plainWallet(devnet, customer),
    await linkedWallet(customer),
  ];
  await Promise.all([ignoreDepositsOf(sender.address), ignoreDepositsOf(permitter.address)]);
  await Promise.all([
    give(customer, sender.address, THREE, "DAI", "15"),
    give(customer, permitter.address, ONE, "USDC", "16"),
  ]);
  const { quote, prepared } = await prepareOwn(api, customer, {
    ...oneSource(sender.address, [THREE, "DAI", "15"], [TWO, "USDC"]),
    from: [
      { address: sender.address, chainId: THREE, token: "DAI", amount: "15" },
      { address: permitter.address, chainId: ONE, token: "USDC", amount: "16" },
    ],
  });
  const signatures = await doActions(api, [sender, permitter], prepared.actions);
  const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
  const operation = await waitUntilFinal(customer.session.client, operationId, 60_000);
  expect(operation).toMatchObject({ status: "refunded", subStatus: "full" });
  const back = await balance(THREE, "USDC", sender.address);
  expect(back).toBeGreaterThan(0n);
  expect(await balance(ONE, "USDC", permitter.address)).toBe(parseUnits("16", 6));
  expect(await balance(ONE, "USDC", customer.treasury)).toBe(0n);
  const held = operation.outcome.holds.map(({ wallet, chainId, amountBase }) => [
    wallet,
    chainId,
    amountBase,
  ]);
  expect(held).toEqual(
    expect.arrayContaining([
      [sender.address, THREE, back.toString()],
      [permitter.address, ONE, parseUnits("16", 6).toString()],
    ]),
  );
}, 180_000);

describe("a permit", () => {
  const prepared = async () => {
    const customer = await newCustomer(api);
    const wallet = await linkedWallet(customer);
    await give(customer, wallet.address, ONE, "USDC", "12");
    const body = oneSource(wallet.address, [ONE, "USDC", "12"], [TWO, "USDC"]);
    const { quote, prepared: done } = await prepareOwn(api, customer, body);
    const [action] = done.actions;
    if (action === undefined) throw new Error("A permit has to be signed.");
    return {
      customer,
      wallet,
      body,
      quote,
      action,
      signature: await signAction(wallet, action),
    };
  };

  test("that somebody else used first still carries the money on", async () => {
    const { customer, wallet, body, quote, action, signature } = await prepared();
    await worker.current.stop();
    const { operationId } = await executeOwn(customer, quote.quoteId, [
      { actionId: action.id, signature },
    ]);
    const stranger = testAccount();
    await devnet.setCoins(stranger.address, "1");
    const { message } = action.typedData as {
      message: Record<"spender" | "value" | "deadline", string>;
    };
    const { r, s, yParity } = parseSignature(signature);
    const data = encodeFunctionData({
      abi: parseAbi(["function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"]),
      args: [
        wallet.address,
        message.spender as Address,
        BigInt(message.value),
        BigInt(message.deadline),
        27 + yParity,
        r,
        s,
      ],
    });
    await sendAs(api, stranger, { chainId: ONE, to: tokenAddress(ONE, "USDC"), data });
    worker.current = startWorker(api.services);
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
    expect(await balance(TWO, "USDC", body.toAddress)).toBe(
      BigInt(operation.actual.received.amountBase),
    );
    const allowance = await createPublicClient({ transport: http(rpcUrl(ONE)) }).readContract({
      address: tokenAddress(ONE, "USDC"),
      abi: erc20Abi,
      functionName: "allowance",
      args: [wallet.address, customer.treasury],
    });
    expect(allowance).toBe(0n);
  });

  test("that another one overtook fails with the money in the wallet", async () => {
    const first = await prepared();
    await worker.current.stop();
    const { operationId } = await executeOwn(first.customer, first.quote.quoteId, [
      { actionId: first.action.id, signature: first.signature },
    ]);
    // The wallet signs another transaction with the same nonce, which is mined first.
    const stranger = testAccount();
    await devnet.setCoins(stranger.address, "1");
    const other = structuredClone(first.action);
    const { message } = other.typedData as {
      message: Record<"spender" | "value" | "deadline", string>;
    };
    message.spender = stranger.address;
    const { r, s, yParity } = parseSignature(await signAction(first.wallet, other));
    const data = encodeFunctionData({
      abi: parseAbi(["function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"]),
      args: [
        first.wallet.address,
        stranger.address,
        BigInt(message.value),
        BigInt(message.deadline),
        27 + yParity,
        r,
        s,
      ],
    });
    await sendAs(api, stranger, { chainId: ONE, to: tokenAddress(ONE, "USDC"), data });
    worker.current = startWorker(api.services);
    const operation = await waitUntilFinal(first.customer.session.client, operationId);
    expect(operation).toMatchObject({ status: "failed", legs: [{ state: "failed" }] });
    expect(await balance(ONE, "USDC", first.wallet.address)).toBe(parseUnits("12", 6));
    expect(operation.outcome.holds).toEqual([
      expect.objectContaining({ wallet: first.wallet.address, chainId: ONE, amount: "12" }),
    ]);
  });
});
