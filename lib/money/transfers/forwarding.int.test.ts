/**
 * Coins to contracts: deposit addresses that forward them at once, and contracts that do not accept
 * them.
 */
import { createPublicClient, createWalletClient, http, parseEther, type Address } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { createWalletsPayout, listPayoutItems } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { getTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
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
import { doActions, executeOwn, plainWallet, prepareOwn } from "@/lib/dev/testing/own-wallets";
import { compileContract } from "@/lib/dev/testing/solidity";
import { refusalOf } from "@/lib/dev/testing/voters";

const ONE = 31337;
const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract Forwarder {
  event Forwarded(address from, uint256 value);
  address payable private immutable vault;
  constructor(address payable to) { vault = to; }
  receive() external payable {
    (bool passed, ) = vault.call{value: msg.value}("");
    require(passed);
    emit Forwarded(msg.sender, msg.value);
  }
}
contract Counter {
  mapping(uint256 => address) private payers;
  uint256 private count;
  receive() external payable { for (uint256 i = 0; i < 3; i++) payers[count++] = msg.sender; }
}
contract Refuser {
  receive() external payable { revert("no coins"); }
}`;

const api = await testApi({ worker: true });
const devnet = await testDevnet();
const rpcUrl = devnet.rpcUrls[ONE] ?? "";
const deployer = testAccount();
const vault = testAccount().address;
const reader = createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 });

const deploy = async (name: string, args: readonly unknown[] = []): Promise<Address> => {
  const writer = createWalletClient({ transport: http(rpcUrl), account: deployer });
  const hash = await writer.deployContract({
    ...compileContract(name, SOURCE),
    args: [...args],
    chain: null,
  });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
  if (!contractAddress) throw new Error("Nothing was deployed.");
  return contractAddress;
};
const coinsOf = (owner: Address): Promise<bigint> => balanceOnChain(rpcUrl, "native", owner);

let forwarder: Address;
let counter: Address;
let refuser: Address;
let customer: Customer;
beforeAll(async () => {
  await devnet.setCoins(deployer.address, "10");
  forwarder = await deploy("Forwarder", [vault]);
  counter = await deploy("Counter");
  refuser = await deploy("Refuser");
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: ONE,
    token: "native",
    amount: "3",
  });
}, 120_000);

const terms = (toAddress: Address) => ({
  fromWalletId: customer.treasuryId,
  fromChainId: ONE,
  toChainId: ONE,
  token: "native",
  amount: "0.25",
  toAddress,
});

test("a transfer of coins reaches the vault behind a forwarding contract, and counts as delivered", async () => {
  const { client } = customer.session;
  const before = await coinsOf(vault);
  const { transferId } = await prepareTransfer(api, customer, terms(forwarder));
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  expect((await waitUntilFinal(client, operationId)).status).toBe("completed");
  const transfer = await client.call(getTransfer, { params: { id: transferId } });
  expect(transfer).toMatchObject({ status: "completed", received: { amount: "0.25" } });
  expect((await coinsOf(vault)) - before).toBe(parseEther("0.25"));
  expect(await coinsOf(forwarder)).toBe(0n);
});

test.each([
  ["passes them on", () => forwarder],
  ["needs much more gas than a plain account", () => counter],
])("one call sends coins to a contract that %s", async (_, of) => {
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "10000",
  });
  const { fromWalletId, fromChainId, toChainId, amount } = terms(of());
  const before = (await coinsOf(vault)) + (await coinsOf(counter));
  const { operationId } = await client.call(swapAndTransfer, {
    body: {
      fromWalletId,
      fromChainId,
      toChainId,
      amount,
      fromToken: "native",
      toToken: "native",
      recipient: of(),
    },
  });
  expect((await waitUntilFinal(client, operationId)).status).toBe("completed");
  expect((await coinsOf(vault)) + (await coinsOf(counter)) - before).toBe(parseEther("0.25"));
});

test.each([
  ["passes them on", () => forwarder],
  ["needs much more gas than a plain account", () => counter],
])("a person's own wallet is given gas enough for a contract that %s", async (_, of) => {
  const wallet = await plainWallet(devnet, customer);
  const before = (await coinsOf(vault)) + (await coinsOf(counter));
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: wallet.address, chainId: ONE, token: "native", amount: "0.1" }],
    ...{ toChainId: ONE, toToken: "native", toAddress: of() },
  });
  const signatures = await doActions(api, [wallet], prepared.actions);
  const { operationId } = await executeOwn(customer, quote.quoteId, signatures);
  expect((await waitUntilFinal(customer.session.client, operationId)).status).toBe("completed");
  expect((await coinsOf(vault)) + (await coinsOf(counter)) - before).toBe(parseEther("0.1"));
});

test("a contract that takes no coins is refused before anything is sent", async () => {
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "10000",
  });
  const { fromWalletId, fromChainId, toChainId, amount } = terms(refuser);
  const body = {
    fromWalletId,
    fromChainId,
    toChainId,
    amount,
    fromToken: "native",
    toToken: "native",
  };
  const answer = await refusalOf(
    client.call(swapAndTransfer, { body: { ...body, recipient: refuser } }),
  );
  expect(answer).toMatchObject({ status: 422, code: "simulation_failed" });
});

test("a payout reaches a forwarding contract too; one that needs more gas than a row has fails, and no retry is offered for it", async () => {
  const { client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "10000",
  });
  const before = await coinsOf(vault);
  const transfers = [forwarder, counter, refuser].map((address) => ({
    address,
    amount: "0.2",
    token: "native",
  }));
  const { payoutId } = await client.call(createWalletsPayout, {
    body: { chainId: ONE, transfers },
  });
  const params = { id: payoutId ?? "" };
  const rows = await vi.waitFor(
    async () => {
      const { data } = await client.call(listPayoutItems, { params, query: {} });
      expect(data.every(({ status }) => status === "paid" || status === "failed")).toBe(true);
      return data;
    },
    { timeout: 60_000, interval: 200 },
  );
  expect(rows.map(({ status, failure }) => [status, failure?.retryable ?? null])).toEqual([
    ["paid", null],
    ["failed", false],
    ["failed", true],
  ]);
  expect((await coinsOf(vault)) - before).toBe(parseEther("0.2"));
}, 120_000);
