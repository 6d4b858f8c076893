import {
  createPublicClient,
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseAbi,
  parseUnits,
  type Address,
  type Hex,
} from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { unlinkWallet } from "@/lib/contracts/wallets";
import { permit2Call } from "@/lib/chain/smart-accounts/permits";
import {
  type AccountsDeps,
  createSmartAccountsService,
} from "@/lib/chain/smart-accounts/service";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  newCustomer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { deployOddToken, ODD_MODE } from "@/lib/dev/testing/odd-tokens";
import {
  allowPermit2,
  broadcast,
  doActions,
  executeOwn,
  linkedWallet,
  oneSource,
  ownSmartAccount,
  permit2On,
  plainWallet,
  prepareOwn,
  sendAs,
  signedTransaction,
} from "@/lib/dev/testing/own-wallets";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";
import { startWorker } from "@/lib/workers/runner";

const [ONE, TWO] = [31337, 31338];
const DAI_12 = parseUnits("12", 18);

const api = await testApi();
const devnet = await testDevnet();
const { registry } = api.services;
const worker = { current: startWorker(api.services) };
afterAll(() => worker.current.stop());

const balances = walletBalances(api);
const rpcUrl = balances.rpcUrl(ONE);
const token = (symbol: string): Address => balances.tokenAddress(ONE, symbol);
const give = (to: Customer, address: Address, symbol: string, amount: string): Promise<void> =>
  balances.give(to, address, ONE, symbol, amount);

/** Stops the worker while `work` runs. */
const unwatched = async <T>(work: () => Promise<T>): Promise<T> => {
  await worker.current.stop();
  try {
    return await work();
  } finally {
    worker.current = startWorker(api.services);
  }
};

/**
 * Prepares a coin transfer that the wallet has not sent yet, and sends an unrelated transaction of
 * the same wallet.
 */
const preparedAndUnrelated = async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const body = oneSource(wallet.address, [ONE, "native", "0.2"], [ONE, "native"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action?.transaction === undefined) throw new Error("A transaction has to be sent.");
  const unrelated = {
    ...action,
    transaction: { ...action.transaction, to: testAccount().address, value: "1" },
  };
  return { customer, wallet, body, quoteId: quote.quoteId, action, unrelated };
};

describe("the hash of another transaction, shown only after execute,", () => {
  test("is not taken for what was prepared, and does not prove that this was not sent", async () => {
    const { customer, wallet, body, quoteId, action, unrelated } = await preparedAndUnrelated();
    const { raw, hash } = await signedTransaction(api, wallet, unrelated);
    const { operationId } = await unwatched(async () => {
      const accepted = await executeOwn(customer, quoteId, [
        { actionId: action.id, txHash: hash },
      ]);
      await broadcast(api, ONE, raw);
      const past = new Date(Date.now() - 31 * 60_000);
      await api.services.database.prisma.operation.update({
        where: { id: accepted.operationId },
        data: { createdAt: past, acceptedAt: past },
      });
      return accepted;
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({
      status: "failed",
      failure: { code: "not_sent", retryable: false },
      actual: { received: { amountBase: "0" } },
      may: { retry: false },
    });
    expect(operation.outcome.nextAction).toMatch(
      /look at the wallet's history first, before you send anything again/,
    );
    expect(operation.outcome.holds).toEqual([
      expect.objectContaining({
        wallet: wallet.address,
        amount: "0.2",
        note: expect.stringContaining("not for certain") as string,
      }),
    ]);
    expect(await balanceOnChain(rpcUrl, "native", body.toAddress)).toBe(0n);
  });

  test("does not keep what was prepared from being found where the wallet has sent it", async () => {
    const { customer, wallet, body, quoteId, action, unrelated } = await preparedAndUnrelated();
    const asked = await signedTransaction(api, wallet, action);
    const other = await signedTransaction(api, wallet, unrelated, { nonce: asked.nonce + 1 });
    const { operationId } = await unwatched(async () => {
      const accepted = await executeOwn(customer, quoteId, [
        { actionId: action.id, txHash: other.hash },
      ]);
      await broadcast(api, ONE, asked.raw);
      await broadcast(api, ONE, other.raw);
      return accepted;
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({ status: "completed", legs: [{ txHash: asked.hash }] });
    expect(await balanceOnChain(rpcUrl, "native", body.toAddress)).toBe(parseUnits("0.2", 18));
  });
});

describe("a permit", () => {
  test("of tokens that the wallet spent meanwhile is not signed for, and the treasury keeps its own", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await Promise.all([
      give(customer, wallet.address, "USDC", "12"),
      give(customer, customer.treasury, "USDC", "12"),
    ]);
    const body = oneSource(wallet.address, [ONE, "USDC", "12"], [TWO, "USDC"]);
    const { quote, prepared } = await prepareOwn(api, customer, body);
    expect(prepared.actions).toEqual([expect.objectContaining({ kind: "typed_data" })]);
    const signatures = await doActions(api, [wallet], prepared.actions);
    const { operationId } = await unwatched(async () => {
      const accepted = await executeOwn(customer, quote.quoteId, signatures);
      const args = [testAccount().address, 1n] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
      await sendAs(api, wallet, { chainId: ONE, to: token("USDC"), data });
      return accepted;
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({
      status: "failed",
      failure: { code: "simulation_failed", retryable: true },
    });
    expect(await balanceOnChain(rpcUrl, token("USDC"), customer.treasury)).toBe(
      parseUnits("12", 6),
    );
    expect(await balanceOnChain(rpcUrl, token("USDC"), wallet.address)).toBe(
      parseUnits("12", 6) - 1n,
    );
  });

  test("is asked for only where the token reverts what its holder cannot pay, or has not allowed", async () => {
    const deployer = testAccount();
    await devnet.setCoins(deployer.address, "10");
    const accounts = createSmartAccountsService({ registry } as AccountsDeps);
    const [holder, taker] = [testAccount().address, testAccount().address];
    const isStrict = (address: Address): Promise<boolean> =>
      accounts.revertsOverdraft({ chainId: ONE, token: address, holder, taker });
    const honest = await deployOddToken({ rpcUrl, deployer }, ODD_MODE.honest);
    // For a holder without tokens the check cannot give an answer.
    expect(await isStrict(honest.address)).toBe(false);
    await honest.mint(holder, 5n);
    expect(await isStrict(honest.address)).toBe(true);
    for (const mode of [ODD_MODE.movesNothing, ODD_MODE.refusesSilently]) {
      await honest.setMode(mode);
      expect(await isStrict(honest.address)).toBe(false);
    }
    const customer = await newCustomer(api);
    expect(await isStrict(token("USDC"))).toBe(false);
    await give(customer, holder, "USDC", "1");
    expect(await isStrict(token("USDC"))).toBe(true);
  });
});

/**
 * The treasury holds as much of the token as the wallet, and must not spend its own tokens in place
 * of the wallet's.
 */
const signed = async (to: readonly [number, string]) => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  await Promise.all([
    give(customer, wallet.address, "DAI", "12"),
    give(customer, customer.treasury, "DAI", "12"),
  ]);
  await allowPermit2(api, wallet, { chainId: ONE, token: "DAI", amountBase: DAI_12 });
  const body = oneSource(wallet.address, [ONE, "DAI", "12"], to);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action?.kind !== "typed_data") throw new Error("A permit has to be signed.");
  const message = action.typedData as unknown as {
    message: { nonce: string; deadline: string };
  };
  const { nonce, deadline } = message.message;
  const signatures = await doActions(api, [wallet], prepared.actions);
  return {
    customer,
    wallet,
    body,
    quoteId: quote.quoteId,
    signatures,
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
  };
};
type Signed = Awaited<ReturnType<typeof signed>>;

const meanwhile: [
  string,
  readonly [number, string],
  (by: Signed) => Promise<unknown>,
  RegExp,
  bigint,
][] = [
  [
    "that the wallet cancelled",
    [ONE, "DAI"],
    ({ wallet, nonce }) => {
      const args = [nonce >> 8n, 1n << (nonce & 0xffn)] as const;
      const abi = parseAbi([
        "function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)",
      ]);
      return sendAs(api, wallet, {
        chainId: ONE,
        to: permit2On(api, ONE),
        data: encodeFunctionData({ abi, args }),
      });
    },
    /cancelled its permit/,
    DAI_12,
  ],
  [
    "whose allowance the wallet took back",
    [ONE, "USDC"],
    ({ wallet }) =>
      allowPermit2(api, wallet, { chainId: ONE, token: "DAI", amountBase: DAI_12 - 1n }),
    /does not allow Permit2/,
    DAI_12,
  ],
  [
    "of tokens that the wallet spent",
    [TWO, "DAI"],
    ({ wallet }) => {
      const args = [testAccount().address, 1n] as const;
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
      return sendAs(api, wallet, { chainId: ONE, to: token("DAI"), data });
    },
    /has not got all of these tokens/,
    DAI_12 - 1n,
  ],
];

test.each(meanwhile)(
  "a permit for Permit2 %s is not signed for, and the treasury keeps its own",
  async (_, to, act, words, left) => {
    const by = await signed(to);
    const { customer, wallet } = by;
    const { operationId } = await unwatched(async () => {
      const accepted = await executeOwn(customer, by.quoteId, by.signatures);
      await act(by);
      return accepted;
    });
    const operation = await waitUntilFinal(customer.session.client, operationId);
    expect(operation).toMatchObject({
      status: "failed",
      failure: {
        code: "simulation_failed",
        retryable: true,
        message: expect.stringMatching(words) as string,
      },
      may: { retry: true },
    });
    expect(operation.failure?.message).toContain("Nothing left the wallet.");
    expect(operation.outcome.holds).toEqual([
      expect.objectContaining({
        wallet: wallet.address,
        chainId: ONE,
        amount: "12",
        note: "in the source wallet; nothing was taken",
      }),
    ]);
    expect(await balanceOnChain(rpcUrl, token("DAI"), wallet.address)).toBe(left);
    expect(await balanceOnChain(rpcUrl, token("DAI"), customer.treasury)).toBe(DAI_12);
  },
);

test("a permit for Permit2 can be used by the treasury alone, and once", async () => {
  const { customer, wallet, body, quoteId, signatures, nonce, deadline } = await signed([
    ONE,
    "DAI",
  ]);
  const permit = {
    standard: "permit2",
    permit2: permit2On(api, ONE),
    token: token("DAI"),
    owner: wallet.address,
    spender: customer.treasury,
    value: DAI_12,
    nonce,
    deadline,
    signature: (signatures[0]?.signature ?? "0x") as Hex,
  } as const;
  const { to, data } = permit2Call(permit, testAccount().address);
  const use = (account: Address) =>
    createPublicClient({ transport: http(rpcUrl) }).call({ account, to, data });
  await use(customer.treasury);
  // Selector of InvalidSigner().
  await expect(use(testAccount().address)).rejects.toThrow("0x815e1d64");
  const { operationId } = await executeOwn(customer, quoteId, signatures);
  expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
    status: "completed",
  });
  expect(await balanceOnChain(rpcUrl, token("DAI"), body.toAddress)).toBe(DAI_12);
  await give(customer, wallet.address, "DAI", "12");
  await allowPermit2(api, wallet, { chainId: ONE, token: "DAI", amountBase: DAI_12 });
  // Selector of InvalidNonce().
  await expect(use(customer.treasury)).rejects.toThrow("0x756688fe");
});

describe("the owner of a smart account", () => {
  test("signs for it also when it is no wallet of the project (any more), and when it has delegated (EIP-7702)", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const [unlinked, delegated] = [await linkedWallet(customer), await linkedWallet(customer)];
    const owned = [unlinked, delegated].map(
      async (owner) => [owner, await ownSmartAccount(customer, owner.address, ONE)] as const,
    );
    const accounts = await Promise.all(owned);
    await client.call(unlinkWallet, { params: { address: unlinked.address } });
    const chain = createTestClient({ mode: "anvil", transport: http(rpcUrl) });
    await chain.setCode({
      address: delegated.address,
      bytecode: `0xef0100${token("USDC").slice(2)}`,
    });
    for (const [owner, account] of accounts) {
      await give(customer, account, "DAI", "5");
      const body = oneSource(account, [ONE, "DAI", "5"], [ONE, "USDC"]);
      const { quote, prepared } = await prepareOwn(api, customer, body);
      expect(prepared.actions).toEqual([
        expect.objectContaining({
          kind: "user_operation",
          signerAddress: owner.address,
          walletAddress: account,
        }),
      ]);
      const signatures = await doActions(api, [owner], prepared.actions);
      const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
      expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
    }
  });

  test("must not be a contract: the source is named", async () => {
    const customer = await newCustomer(api);
    const owner = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, owner.address, ONE);
    const client = createPublicClient({ transport: http(rpcUrl) });
    const bytecode = (await client.getCode({ address: token("USDC") })) ?? "0x";
    await createTestClient({ mode: "anvil", transport: http(rpcUrl) }).setCode({
      address: owner.address,
      bytecode,
    });
    await give(customer, account, "DAI", "5");
    await expect(
      prepareOwn(api, customer, oneSource(account, [ONE, "DAI", "5"], [ONE, "USDC"])),
    ).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
      details: [{ path: "from.0.address", message: "has a contract as its owner" }],
    });
  });
});
