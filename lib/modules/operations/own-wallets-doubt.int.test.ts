import { createTestClient, encodeFunctionData, erc20Abi, http, parseUnits, type Address } from "viem";
import { afterAll, describe, expect, test } from "vitest";
import { unlinkWallet } from "@/lib/contracts/wallets";
import { createAccountsService, type AccountsDeps } from "@/lib/modules/accounts/service";
import { testApi } from "@/lib/testing/api";
import { testDevnet } from "@/lib/testing/devnet";
import { testAccount } from "@/lib/testing/factories";
import { balanceOnChain, fund, newCustomer, waitUntilFinal, type Customer } from "@/lib/testing/journey";
import { deployOddToken, ODD_MODE } from "@/lib/testing/odd-tokens";
import {
  broadcast,
  doActions,
  executeOwn,
  linkedWallet,
  oneSource,
  ownSmartAccount,
  plainWallet,
  prepareOwn,
  sendAs,
  signedTransaction,
} from "@/lib/testing/own-wallets";
import { startWorker } from "@/lib/workers/runner";

const [ONE, TWO] = [31337, 31338];

const api = await testApi();
const devnet = await testDevnet();
const { registry } = api.services;
const worker = { current: startWorker(api.services) };
afterAll(() => worker.current.stop());

const rpcUrl = devnet.rpcUrls[ONE] ?? "";
const token = (symbol: string): Address => {
  const { address } = registry.resolveToken(ONE, symbol);
  if (address === "native") throw new Error("It is no contract.");
  return address;
};
const give = (to: Customer, address: Address, symbol: string, amount: string): Promise<void> =>
  fund(to.session.client, address, { chainId: ONE, token: symbol, amount });

/** Nobody looks at anything while `work` goes on. */
const unwatched = async <T>(work: () => Promise<T>): Promise<T> => {
  await worker.current.stop();
  try {
    return await work();
  } finally {
    worker.current = startWorker(api.services);
  }
};

test("the hash of another transaction, mined before anybody looked at it, is not taken for what was prepared", async () => {
  const customer = await newCustomer(api);
  const wallet = await plainWallet(devnet, customer);
  const body = oneSource(wallet.address, [ONE, "native", "0.2"], [ONE, "native"]);
  const { quote, prepared } = await prepareOwn(api, customer, body);
  const [action] = prepared.actions;
  if (action?.transaction === undefined) throw new Error("A transaction has to be sent.");
  const unrelated = { ...action, transaction: { ...action.transaction, to: testAccount().address, value: "1" } };
  const { raw, hash } = await signedTransaction(api, wallet, unrelated);
  const { operationId } = await unwatched(async () => {
    const accepted = await executeOwn(customer, quote.quoteId, [{ actionId: action.actionId, txHash: hash }]);
    await broadcast(api, ONE, raw);
    return accepted;
  });
  const operation = await waitUntilFinal(customer.session.client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "not_sent" },
    actual: { received: { amountBase: "0" } },
  });
  expect(operation.outcome.holds).toEqual([expect.objectContaining({ wallet: wallet.address, amount: "0.2" })]);
  expect(await balanceOnChain(rpcUrl, "native", body.toAddress)).toBe(0n);
});

describe("a permit", () => {
  test("of tokens that the wallet spent meanwhile is not signed for, and the treasury keeps its own", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await Promise.all([give(customer, wallet.address, "USDC", "12"), give(customer, customer.treasury, "USDC", "12")]);
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
    expect(operation).toMatchObject({ status: "failed", failure: { code: "simulation_failed", retryable: true } });
    expect(await balanceOnChain(rpcUrl, token("USDC"), customer.treasury)).toBe(parseUnits("12", 6));
    expect(await balanceOnChain(rpcUrl, token("USDC"), wallet.address)).toBe(parseUnits("12", 6) - 1n);
  });

  test("is asked for only where the token reverts what its holder cannot pay", async () => {
    const deployer = testAccount();
    await devnet.setCoins(deployer.address, "10");
    const accounts = createAccountsService({ registry } as AccountsDeps);
    const [holder, taker] = [testAccount().address, testAccount().address];
    const isStrict = (address: Address): Promise<boolean> =>
      accounts.revertsOverdraft({ chainId: ONE, token: address, holder, taker });
    const honest = await deployOddToken({ rpcUrl, deployer }, ODD_MODE.honest);
    await honest.mint(holder, 5n);
    expect(await isStrict(honest.address)).toBe(true);
    expect(await isStrict(token("USDC"))).toBe(true);
    await honest.setMode(ODD_MODE.movesNothing);
    expect(await isStrict(honest.address)).toBe(false);
  });
});

describe("the owner of a smart account", () => {
  test("signs for it also when it is no wallet of the project (any more), and when it has delegated (EIP-7702)", async () => {
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const unlinked = await linkedWallet(customer);
    await client.call(unlinkWallet, { params: { address: unlinked.address } });
    const delegated = testAccount();
    const chain = createTestClient({ mode: "anvil", transport: http(rpcUrl) });
    await chain.setCode({ address: delegated.address, bytecode: `0xef0100${token("USDC").slice(2)}` });
    for (const owner of [unlinked, delegated]) {
      const account = await ownSmartAccount(customer, owner.address, ONE);
      await give(customer, account, "DAI", "5");
      const body = oneSource(account, [ONE, "DAI", "5"], [ONE, "USDC"]);
      const { quote, prepared } = await prepareOwn(api, customer, body);
      expect(prepared.actions).toEqual([
        expect.objectContaining({ kind: "user_operation", signerAddress: owner.address, walletAddress: account }),
      ]);
      const signatures = await doActions(api, [owner], prepared.actions);
      const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
      expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
    }
  });

  test("must not be a contract: the source is named", async () => {
    const customer = await newCustomer(api);
    const account = await ownSmartAccount(customer, token("USDC"), ONE);
    await give(customer, account, "DAI", "5");
    await expect(prepareOwn(api, customer, oneSource(account, [ONE, "DAI", "5"], [ONE, "USDC"]))).rejects.toMatchObject(
      {
        status: 400,
        code: "invalid_request",
        details: [{ path: "from.0.address", message: "has a contract as its owner" }],
      },
    );
  });
});
