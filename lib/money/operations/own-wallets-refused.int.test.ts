import { createTestClient, http, parseUnits } from "viem";
import { describe, expect, test } from "vitest";
import { createQuote, executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  countOperations,
  newCustomer,
  waitUntilFinal,
  type Customer,
  type QuoteBody,
} from "@/lib/dev/testing/journey";
import {
  allowPermit2,
  broadcast,
  doActions,
  executeOwn,
  linkedWallet,
  oneSource,
  ownSmartAccount,
  plainWallet,
  prepareOwn,
  refusedWith,
  sendAs,
  signAction,
  signedTransaction,
  type Given,
} from "@/lib/dev/testing/own-wallets";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";
import { keepOneDay } from "@/lib/dev/testing/one-day";

const [ONE, TWO] = [31337, 31338];

const api = await testApi({ worker: true });
const devnet = await testDevnet();
const { prisma } = api.services.database;
const clock = keepOneDay(api.services.clock);

const { rpcUrl, tokenAddress, balance, give } = walletBalances(api);

interface PermitMessage {
  permitted: { token: string; amount: string };
  spender: string;
  nonce: string;
}

test("signatures are refused, and nothing is recorded, when they are missing: every action is named, and the quote stays usable", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const account = await ownSmartAccount(customer, wallet.address, ONE);
  await Promise.all([
    give(customer, account, ONE, "DAI", "5"),
    give(customer, wallet.address, ONE, "USDT", "5"),
    give(customer, wallet.address, ONE, "USDC", "5"),
  ]);
  const { quote, prepared } = await prepareOwn(api, customer, {
    ...oneSource(account, [ONE, "DAI", "5"], [ONE, "WETH"]),
    from: [
      { address: account, chainId: ONE, token: "DAI", amount: "5" },
      { address: wallet.address, chainId: ONE, token: "USDT", amount: "5" },
      { address: wallet.address, chainId: ONE, token: "USDC", amount: "5" },
    ],
  });
  const all = Object.fromEntries(prepared.actions.map(({ id }) => [id, "missing"]));
  expect(Object.keys(all)).toHaveLength(4);
  expect(await refusedWith(executeOwn(customer, quote.quoteId))).toEqual(all);
  // The wallet's owner refuses one of them.
  const [first] = prepared.actions;
  if (first === undefined) throw new Error("Nothing is to be signed.");
  const one = await doActions(api, [wallet], [first]);
  const rest = Object.fromEntries(
    Object.entries(all).filter(([actionId]) => actionId !== first.id),
  );
  expect(await refusedWith(executeOwn(customer, quote.quoteId, one))).toEqual(rest);
  expect(await countOperations(api, customer)).toBe(0);
  const others = await doActions(api, [wallet], prepared.actions.slice(1));
  const { operationId } = await executeOwn(customer, quote.quoteId, [...one, ...others]);
  expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
    status: "completed",
  });
});

test("signatures are refused, and nothing is recorded, when another wallet made them, they are of another action or of other content", async () => {
  const customer = await newCustomer(api);
  const wallet = await linkedWallet(customer);
  const account = await ownSmartAccount(customer, wallet.address, ONE);
  await Promise.all([
    give(customer, account, ONE, "DAI", "5"),
    give(customer, wallet.address, ONE, "USDC", "5"),
  ]);
  const { quote, prepared } = await prepareOwn(api, customer, {
    ...oneSource(account, [ONE, "DAI", "5"], [ONE, "WETH"]),
    from: [
      { address: account, chainId: ONE, token: "DAI", amount: "5" },
      { address: wallet.address, chainId: ONE, token: "USDC", amount: "5" },
    ],
  });
  const [operation, permit] = prepared.actions;
  if (operation === undefined || permit === undefined)
    throw new Error("Both wallets have to sign.");
  const [ofOperation, ofPermit] = await Promise.all([
    signAction(wallet, operation),
    signAction(wallet, permit),
  ]);
  const stranger = testAccount();
  const tampered = structuredClone(permit);
  (tampered.typedData?.message ?? {}).value = "4000000";
  const a = operation.id;
  const b = permit.id;
  const cases: [Given[], Record<string, string>][] = [
    [
      [
        { actionId: a, signature: ofPermit },
        { actionId: b, signature: ofOperation },
      ],
      { [a]: "wrong_signer", [b]: "wrong_signer" },
    ],
    [
      [
        { actionId: a, signature: await signAction(stranger, operation) },
        { actionId: b, signature: ofPermit },
      ],
      { [a]: "wrong_signer" },
    ],
    [
      [
        { actionId: a, signature: ofOperation },
        { actionId: b, signature: await signAction(wallet, tampered) },
      ],
      { [b]: "wrong_signer" },
    ],
    [
      [
        { actionId: a, signature: ofOperation },
        { actionId: a, signature: ofOperation },
        { actionId: b, signature: "0x1234" },
        { actionId: "nothing", signature: ofPermit },
      ],
      { [a]: "given_twice", [b]: "malformed", nothing: "unknown_action" },
    ],
  ];
  for (const [given, expected] of cases)
    expect(await refusedWith(executeOwn(customer, quote.quoteId, given))).toEqual(expected);
  expect(await countOperations(api, customer)).toBe(0);
  expect(await balance(ONE, "USDC", wallet.address)).toBe(parseUnits("5", 6));
});

test("signatures are refused, and nothing is recorded, when one for Permit2 is of another wallet, amount, spender, token or operation", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "DAI", "9");
  await allowPermit2(api, wallet, {
    chainId: ONE,
    token: "DAI",
    amountBase: parseUnits("9", 18),
  });
  const body = oneSource(wallet.address, [ONE, "DAI", "5"], [ONE, "DAI"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const other = await prepareOwn(api, customer, body);
  const [[action], [ofOther]] = [prepared.actions, other.prepared.actions];
  if (action?.kind !== "typed_data" || ofOther?.kind !== "typed_data")
    throw new Error("Permits have to be signed.");
  const { id: actionId } = action;
  const changed = (change: (message: PermitMessage) => void) => {
    const copy = structuredClone(action);
    change(copy.typedData?.message as unknown as PermitMessage);
    return signAction(wallet, copy);
  };
  const wrong = await Promise.all([
    signAction(testAccount(), action),
    signAction(wallet, ofOther),
    changed(({ permitted }) => (permitted.amount = parseUnits("9", 18).toString())),
    changed(({ permitted }) => (permitted.token = tokenAddress(ONE, "USDT"))),
    changed((message) => (message.spender = testAccount().address)),
    changed((message) => (message.nonce = "1")),
  ]);
  for (const signature of wrong) {
    expect(
      await refusedWith(executeOwn(customer, quote.quoteId, [{ actionId, signature }])),
    ).toEqual({
      [actionId]: "wrong_signer",
    });
  }
  expect(await countOperations(api, customer)).toBe(0);
  expect(await balance(ONE, "DAI", wallet.address)).toBe(parseUnits("9", 18));
});

test("signatures are refused, and nothing is recorded, when a transaction has another sender, recipient, value or chain, is older, or counts already", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const stranger = testAccount();
  await devnet.setCoins(stranger.address, "10");
  const body = oneSource(wallet.address, [ONE, "native", "0.5"], [ONE, "native"]);
  const earlier = await sendAs(api, wallet, {
    chainId: ONE,
    to: body.toAddress,
    value: parseUnits("0.5", 18),
  });
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action === undefined) throw new Error("A transaction has to be sent.");
  const { id: actionId } = action;
  const value = parseUnits("0.5", 18);
  const to = body.toAddress;
  const wrong = [
    earlier,
    await sendAs(api, stranger, { chainId: ONE, to, value }),
    await sendAs(api, wallet, { chainId: ONE, to: testAccount().address, value }),
    await sendAs(api, wallet, { chainId: ONE, to, value: value - 1n }),
    await sendAs(api, wallet, { chainId: ONE, to, value, data: "0x01" }),
    await sendAs(api, wallet, { chainId: TWO, to, value }),
  ];
  for (const txHash of wrong) {
    expect(
      await refusedWith(executeOwn(customer, quote.quoteId, [{ actionId, txHash }])),
    ).toEqual({
      [actionId]: "wrong_transaction",
    });
  }
  expect(
    await refusedWith(executeOwn(customer, quote.quoteId, [{ actionId, txHash: "0x12" }])),
  ).toEqual({
    [actionId]: "malformed",
  });
  expect(await countOperations(api, customer)).toBe(0);
  // Prepared twice before the first one is sent, so that only the first operation's claim of the
  // hash distinguishes them.
  const second = await prepareOwn(api, customer, body);
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
  const [secondAction] = second.prepared.actions;
  if (secondAction === undefined) throw new Error("A transaction has to be sent.");
  const reused = [{ actionId: secondAction.id, txHash: signatures[0]?.txHash ?? "" }];
  expect(await refusedWith(executeOwn(customer, second.quote.quoteId, reused))).toEqual({
    [secondAction.id]: "already_used",
  });
  expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
    status: "completed",
  });
  expect(await countOperations(api, customer)).toBe(1);
});

test("signatures are refused, and nothing is recorded, when the chain refused a transaction already", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  await give(customer, wallet.address, ONE, "USDT", "5");
  const { quote, prepared } = await prepareOwn(
    api,
    customer,
    oneSource(wallet.address, [ONE, "USDT", "5"], [ONE, "DAI"]),
  );
  const [approval, swap] = prepared.actions;
  if (approval?.transaction === undefined || swap?.transaction === undefined)
    throw new Error("Two are to be sent.");
  // The wallet sends the swap without its approval.
  const { raw, hash } = await signedTransaction(api, wallet, swap);
  await broadcast(api, ONE, raw);
  const approved = await doActions(api, [wallet], [approval]);
  const given = [...approved, { actionId: swap.id, txHash: hash }];
  expect(await refusedWith(executeOwn(customer, quote.quoteId, given))).toEqual({
    [swap.id]: "reverted",
  });
  expect(await countOperations(api, customer)).toBe(0);
});

describe("prepare refuses", () => {
  test("a plain wallet that cannot pay for its own transactions, and says what is missing", async () => {
    const customer = await newCustomer(api);
    const wallet = await linkedWallet(customer);
    await give(customer, wallet.address, ONE, "DAI", "5");
    await expect(
      prepareOwn(api, customer, oneSource(wallet.address, [ONE, "DAI", "5"], [ONE, "USDC"])),
    ).rejects.toMatchObject({
      status: 422,
      code: "insufficient_balance",
      details: [
        {
          path: "from.0.amount",
          message: expect.stringContaining("for the network fee") as string,
        },
      ],
    });
  });

  test("a linked wallet that is a contract, and a smart account that such a wallet owns", async () => {
    const customer = await newCustomer(api);
    const wallet = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, wallet.address, ONE);
    await Promise.all([
      give(customer, wallet.address, ONE, "DAI", "5"),
      give(customer, account, ONE, "DAI", "5"),
    ]);
    await prisma.wallet.updateMany({
      where: { address: wallet.address },
      data: { contractChainId: ONE },
    });
    for (const address of [wallet.address, account]) {
      await expect(
        prepareOwn(api, customer, oneSource(address, [ONE, "DAI", "5"], [ONE, "USDC"])),
      ).rejects.toMatchObject({
        status: 400,
        code: "invalid_request",
        details: [{ path: "from.0.address" }],
      });
    }
  });
});

describe("Permit2 is asked for a signature", () => {
  const kindsOf = async (customer: Customer, body: QuoteBody): Promise<string[]> =>
    (await prepareOwn(api, customer, body)).prepared.actions.map(({ kind }) => kind);

  test("from the exact amount on that the wallet allows it, and from no wallet that has code", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await give(customer, wallet.address, ONE, "USDT", "5");
    const body = oneSource(wallet.address, [ONE, "USDT", "5"], [ONE, "USDT"]);
    const amountBase = parseUnits("5", 6);
    await allowPermit2(api, wallet, {
      chainId: ONE,
      token: "USDT",
      amountBase: amountBase - 1n,
    });
    expect(await kindsOf(customer, body)).toEqual(["transaction"]);
    await allowPermit2(api, wallet, { chainId: ONE, token: "USDT", amountBase });
    expect(await kindsOf(customer, body)).toEqual(["typed_data"]);
    // The wallet's key signs as before, but its account has delegated code (EIP-7702), so Permit2
    // would ask that code instead.
    const chain = createTestClient({ mode: "anvil", transport: http(rpcUrl(ONE)) });
    await chain.setCode({
      address: wallet.address,
      bytecode: `0xef0100${tokenAddress(ONE, "USDC").slice(2)}`,
    });
    expect(await kindsOf(customer, body)).toEqual(["transaction"]);
  });

  test("only where the token has no permit of its own", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await give(customer, wallet.address, ONE, "USDC", "5");
    await allowPermit2(api, wallet, {
      chainId: ONE,
      token: "USDC",
      amountBase: parseUnits("5", 6),
    });
    const { prepared } = await prepareOwn(
      api,
      customer,
      oneSource(wallet.address, [ONE, "USDC", "5"], [ONE, "USDC"]),
    );
    expect(prepared.actions).toMatchObject([
      { kind: "typed_data", typedData: { domain: { name: "USD Coin" } } },
    ]);
  });
});

describe("once a wallet has sent its transaction", () => {
  test("preparing again is refused, and the transaction still counts", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const wallet = await plainWallet(devnet, customer);
    await give(customer, wallet.address, ONE, "USDT", "5");
    const body = oneSource(wallet.address, [ONE, "USDT", "5"], [ONE, "DAI"]);
    const { quote, prepared } = await prepareOwn(api, customer, body);
    const { quoteId } = quote;
    const approved = await doActions(api, [wallet], prepared.actions.slice(0, 1));
    expect(approved).toHaveLength(1);
    // An approval does not move money, and the remaining actions keep their leg.
    const again = await client.call(prepareSwap, { body: { quoteId } });
    expect(again.actions).toHaveLength(1);
    const legOf = (actionId: string | undefined) => actionId?.split(".")[0];
    expect(legOf(again.actions[0]?.id)).toBe(legOf(prepared.actions[0]?.id));
    const signatures = await doActions(api, [wallet], again.actions);
    await give(customer, wallet.address, ONE, "USDT", "5");
    await expect(client.call(prepareSwap, { body: { quoteId } })).rejects.toMatchObject({
      status: 409,
      code: "invalid_state",
      message: expect.stringContaining("Execute with its hash") as string,
    });
    const { operationId } = await executeOwn(customer, quoteId, signatures);
    expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
  });

  test("an operation that draws on the treasury too stays within the key's cap and the price lock", async () => {
    const customer = await newCustomer(api);
    const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "10000" });
    const wallet = await plainWallet(devnet, customer);
    await give(customer, customer.treasury, ONE, "USDC", "50");
    const { quoteId } = await key.client.call(createQuote, {
      body: {
        ...oneSource(wallet.address, [ONE, "native", "0.1"], [ONE, "USDT"]),
        from: [
          { address: wallet.address, chainId: ONE, token: "native", amount: "0.1" },
          { address: customer.treasury, chainId: ONE, token: "USDC", amount: "50" },
        ],
      },
    });
    const { actions } = await key.client.call(prepareSwap, { body: { quoteId } });
    const body = { quoteId, signatures: await doActions(api, [wallet], actions) };
    const day = new Date(`${clock.now().toISOString().slice(0, 10)}T00:00:00Z`);
    await prisma.policySpend.create({ data: { apiKeyId: key.id, day, spentUsd: "9999" } });
    const stays = expect.stringContaining("stays sent") as string;
    await expect(key.client.call(executeSwap, { body })).rejects.toMatchObject({
      code: "otp_required",
      message: stays,
    });
    await prisma.policySpend.updateMany({
      where: { apiKeyId: key.id },
      data: { spentUsd: "0" },
    });
    await prisma.quote.update({
      where: { id: quoteId },
      data: { preparedUntil: new Date(Date.now() - 1000) },
    });
    await expect(key.client.call(executeSwap, { body })).rejects.toMatchObject({
      code: "quote_expired",
      message: stays,
    });
    expect(await countOperations(api, customer)).toBe(0);
    expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("50", 6));
  });
});
