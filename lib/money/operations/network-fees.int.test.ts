import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  parseEther,
  slice,
  size,
  type Address,
  type Hex,
  type PrivateKeyAccount,
} from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { beforeAll, describe, expect, test } from "vitest";
import { packSignature } from "@/lib/adapters/safe-account/encoding";
import { packUserOperation } from "@/lib/chain/erc4337/user-operation";
import { revertDataOf, revertReasonOf } from "@/lib/chain/erc4337/marked-paymaster";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { executionsOf as executedBy } from "@/lib/dev/testing/executions";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  waitUntilFinal,
  type Customer,
  type OperationAnswer,
} from "@/lib/dev/testing/journey";
import {
  doActions,
  executeOwn,
  linkedWallet,
  oneSource,
  ownSmartAccount,
  plainWallet,
  prepareOwn,
  signAction,
  type Action,
} from "@/lib/dev/testing/own-wallets";

const ONE = 31337;
const api = await testApi({ worker: true });
const devnet = await testDevnet();
const { contracts, nativeCurrency } = api.services.registry.get(ONE);
const client = createPublicClient({
  transport: http(devnet.rpcUrls[String(ONE)]),
  pollingInterval: 50,
});
const stranger = testAccount();
beforeAll(() => devnet.setCoins(stranger.address, "10"));

/**
 * Reads the user operation from the typed data that the owner was asked to sign, as anybody with
 * the data can.
 */
const operationIn = async (
  action: Action,
  owner: PrivateKeyAccount,
): Promise<UserOperation> => {
  const { message } = action.typedData as { message: Record<string, string> };
  const hexOf = (name: string): Hex => (message[name] ?? "0x") as Hex;
  const numberOf = (name: string): bigint => BigInt(message[name] ?? 0);
  const [initCode, paymasterAndData] = [hexOf("initCode"), hexOf("paymasterAndData")];
  return {
    sender: hexOf("safe"),
    nonce: numberOf("nonce"),
    ...(size(initCode) > 0
      ? { factory: slice(initCode, 0, 20), factoryData: slice(initCode, 20) }
      : {}),
    callData: hexOf("callData"),
    callGasLimit: numberOf("callGasLimit"),
    verificationGasLimit: numberOf("verificationGasLimit"),
    preVerificationGas: numberOf("preVerificationGas"),
    maxFeePerGas: numberOf("maxFeePerGas"),
    maxPriorityFeePerGas: numberOf("maxPriorityFeePerGas"),
    paymaster: slice(paymasterAndData, 0, 20),
    paymasterVerificationGasLimit: BigInt(slice(paymasterAndData, 20, 36)),
    paymasterPostOpGasLimit: BigInt(slice(paymasterAndData, 36, 52)),
    paymasterData: size(paymasterAndData) > 52 ? slice(paymasterAndData, 52) : "0x",
    signature: packSignature(
      new Date(Number(numberOf("validUntil")) * 1000),
      await signAction(owner, action),
    ),
  };
};

/**
 * Bundles the operation as a stranger who wants to be paid from the paymaster's deposit.
 * @returns why EntryPoint refuses
 */
const bundleAsStranger = async (operation: UserOperation): Promise<string> => {
  const data = encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[packUserOperation(operation)], stranger.address],
  });
  const wallet = createWalletClient({
    account: stranger,
    transport: http(devnet.rpcUrls[String(ONE)]),
  });
  // With a fixed gas limit it is sent even though its simulation fails.
  const hash = await wallet.sendTransaction({
    chain: null,
    to: contracts.entryPoint,
    data,
    gas: 10_000_000n,
  });
  const { status } = await client.waitForTransactionReceipt({ hash });
  if (status === "success") return "executed";
  try {
    await client.call({ account: stranger.address, to: contracts.entryPoint, data });
    return "executed";
  } catch (error) {
    return revertReasonOf(revertDataOf(error) ?? "0x").text;
  }
};

const networkFees = (operation: OperationAnswer) =>
  operation.fees.filter(({ kind }) => kind === "network");
const storedFees = async ({ operationId }: OperationAnswer) => {
  const legs = await api.services.database.prisma.operationLeg.findMany({
    where: { operationId },
  });
  return legs.map(({ gasCostWei, gasPaidBy }) => [gasCostWei?.toFixed(0), gasPaidBy]);
};

const executionsOf = (sender: Address) => executedBy(client, contracts.entryPoint, sender);

const give = (
  customer: Customer,
  address: Address,
  token: string,
  amount: string,
): Promise<void> => fund(customer.session.client, address, { chainId: ONE, token, amount });

describe("an operation of an owner who signs", () => {
  test("is worth nothing to whoever bundles it before execute; the sponsor pays for it once it was executed", async () => {
    const customer = await newCustomer(api);
    const owner = await linkedWallet(customer);
    const account = await ownSmartAccount(customer, owner.address, ONE);
    await give(customer, account, "USDT", "80");
    const { quote, prepared } = await prepareOwn(
      api,
      customer,
      oneSource(account, [ONE, "USDT", "80"], [ONE, "USDT"]),
    );
    const [action] = prepared.actions;
    if (action === undefined) throw new Error("The owner is asked for nothing.");
    const operation = await operationIn(action, owner);
    expect(operation.paymaster?.toLowerCase()).toBe(contracts.paymaster?.toLowerCase());
    expect(operation.paymasterData).toBe("0x");

    expect(await bundleAsStranger(operation)).toBe("AA34 signature error");
    expect(await executionsOf(account)).toEqual([]);

    const signatures = await doActions(api, [owner], prepared.actions);
    const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
    const done = await waitUntilFinal(customer.session.client, operationId);
    expect(done.status).toBe("completed");
    const [execution, ...others] = await executionsOf(account);
    if (execution === undefined) throw new Error("It was not executed.");
    expect(others).toEqual([]);
    const costWei = execution.args.actualGasCost;
    expect(execution.args.paymaster).toBe(contracts.paymaster);
    expect(await storedFees(done)).toEqual([[costWei.toString(), "sponsor"]]);
    const [fee, ...more] = networkFees(done);
    expect(more).toEqual([]);
    expect(fee).toMatchObject({
      paidBy: "sponsor",
      token: { symbol: nativeCurrency.symbol, address: "native" },
    });
    expect(parseEther(fee?.amount ?? "0")).toBe(costWei);

    // The signature is public on chain now, and a stranger can still not use it.
    expect(await bundleAsStranger(operation)).not.toBe("executed");
    expect(await executionsOf(account)).toHaveLength(1);
  });
});

describe("a wallet that sends for itself", () => {
  test("is shown what all its transactions of a leg cost", async () => {
    const customer = await newCustomer(api);
    const wallet = await plainWallet(devnet, customer);
    await give(customer, wallet.address, "DAI", "50");
    const { quote, prepared } = await prepareOwn(
      api,
      customer,
      oneSource(wallet.address, [ONE, "DAI", "50"], [ONE, "USDC"]),
    );
    const before = await client.getBalance({ address: wallet.address });
    const sent = await doActions(api, [wallet], prepared.actions);
    // The wallet sends an approval and the swap.
    expect(sent.length).toBeGreaterThan(1);
    const spentWei = before - (await client.getBalance({ address: wallet.address }));
    const { operationId } = await executeOwn(customer, quote.quoteId, sent);
    const done = await waitUntilFinal(customer.session.client, operationId);
    expect(done.status).toBe("completed");
    expect(await storedFees(done)).toEqual([[spentWei.toString(), "wallet"]]);
    expect(networkFees(done)).toMatchObject([
      { paidBy: "wallet", token: { symbol: nativeCurrency.symbol } },
    ]);
    expect(parseEther(networkFees(done)[0]?.amount ?? "0")).toBe(spentWei);
  });
});
