/**
 * Coins from several senders: each sender has a separate deposit, and only coins that contracts
 * sent stay without a sender.
 */
import {
  createWalletClient,
  encodeAbiParameters,
  getAddress,
  http,
  pad,
  parseAbi,
  type Address,
  type Hex,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { COIN_LOG_ADDRESS } from "@/lib/chain/coin-sends";
import { CHAIN, depositScans } from "@/lib/dev/testing/deposit-scans";
import { testAccount } from "@/lib/dev/testing/factories";
import { compileContract } from "@/lib/dev/testing/solidity";

const ETHER = 10n ** 18n;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Contract code that logs the fourth word of its input under the first three as topics. */
const LOGGER: Hex = "0x602060605f376040356020355f3560205fa300";
const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract Splitter {
  function pay(address payable to) external payable { (bool paid, ) = to.call{value: msg.value}(""); require(paid); }
}`;

const scans = await depositScans();
const { chain, registry, deposits, source, newWallet, rowsOf, settle } = scans;

const sender = async (): Promise<PrivateKeyAccount> => {
  const account = testAccount();
  await chain.client.setBalance({ address: account.address, value: 100n * ETHER });
  return account;
};
const clientOf = (account: PrivateKeyAccount) =>
  createWalletClient({
    account,
    chain: registry.viemChain(CHAIN),
    transport: http(chain.rpcUrl),
  });
const send = (from: PrivateKeyAccount, to: Address, value: bigint): Promise<Hex> =>
  clientOf(from).sendTransaction({ to, value, gas: 100_000n });

/** Mines one block with all of these transactions. */
const inOneBlock = async (sends: () => Promise<readonly Hex[]>): Promise<readonly Hex[]> => {
  await chain.client.setAutomine(false);
  const hashes = await sends();
  await chain.mine(1);
  await chain.client.setAutomine(true);
  return hashes;
};

const deploy = async (): Promise<Address> => {
  const account = await sender();
  const hash = await clientOf(account).deployContract({
    ...compileContract("Splitter", SOURCE),
    args: [],
  });
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("Nothing was deployed.");
  return getAddress(contractAddress);
};

const throughContract = async (
  from: PrivateKeyAccount,
  splitter: Address,
  to: Address,
  value: bigint,
): Promise<Hex> =>
  clientOf(from).writeContract({
    address: splitter,
    abi: parseAbi(["function pay(address to) payable"]),
    functionName: "pay",
    args: [to],
    value,
    gas: 200_000n,
  });

/** The deposits of a wallet, with their states once everything is final. */
const depositsOf = async (walletId: string) => {
  await settle();
  await deposits.compareCoins(CHAIN);
  await deposits.follow(CHAIN);
  const rows = await rowsOf(walletId);
  return rows
    .map(({ sender: from, txHash, amountBase, state }) => ({
      from,
      txHash,
      amount: BigInt(amountBase.toFixed()),
      state,
    }))
    .sort((a, b) => (a.amount < b.amount ? -1 : 1));
};

test("two senders in one block, and in neighbouring blocks, are two deposits with their senders and hashes", async () => {
  const [one, two] = [await sender(), await sender()];
  for (const together of [true, false]) {
    const wallet = await newWallet();
    const both = () =>
      Promise.all([send(one, wallet.address, ETHER), send(two, wallet.address, 2n * ETHER)]);
    const apart = async () => [
      await send(one, wallet.address, ETHER),
      await send(two, wallet.address, 2n * ETHER),
    ];
    const [first, second] = together ? await inOneBlock(both) : await apart();
    expect(await depositsOf(wallet.id)).toEqual([
      { from: one.address, txHash: first, amount: ETHER, state: "credited" },
      { from: two.address, txHash: second, amount: 2n * ETHER, state: "credited" },
    ]);
  }
});

test("coins that a contract sent have no sender, and what was sent directly beside them has", async () => {
  const [wallet, other, person, splitter] = [
    await newWallet(),
    await newWallet(),
    await sender(),
    await deploy(),
  ];
  await throughContract(person, splitter, other.address, 3n * ETHER);
  await throughContract(person, splitter, wallet.address, 5n * ETHER);
  const direct = await send(person, wallet.address, ETHER);
  expect(await depositsOf(other.id)).toEqual([
    { from: null, txHash: null, amount: 3n * ETHER, state: "credited" },
  ]);
  expect(await depositsOf(wallet.id)).toEqual([
    { from: person.address, txHash: direct, amount: ETHER, state: "credited" },
    { from: null, txHash: null, amount: 5n * ETHER, state: "credited" },
  ]);
});

test("a transaction that failed, and one of nothing, bring no deposit", async () => {
  const [wallet, person] = [await newWallet(), await sender()];
  await chain.client.setCode({ address: wallet.address, bytecode: "0x5f5ffd" });
  const failed = await send(person, wallet.address, ETHER);
  expect(await chain.client.waitForTransactionReceipt({ hash: failed })).toMatchObject({
    status: "reverted",
  });
  await chain.client.setCode({ address: wallet.address, bytecode: "0x" });
  await send(person, wallet.address, 0n);
  expect(await depositsOf(wallet.id)).toEqual([]);
});

test("a direct sender is screened: a listed one is kept back, and the clear one beside it is credited", async () => {
  const [wallet, bad, good] = [await newWallet(), await sender(), await sender()];
  source.set(bad.address, "hit");
  await inOneBlock(() =>
    Promise.all([send(bad, wallet.address, ETHER), send(good, wallet.address, 2n * ETHER)]),
  );
  expect(await depositsOf(wallet.id)).toMatchObject([
    { from: bad.address, state: "quarantined" },
    { from: good.address, state: "credited" },
  ]);
});

test("on a chain that logs transfers of coins, what a contract sent has its sender, transaction and log too", async () => {
  const [wallet, person, splitter] = [await newWallet(), await sender(), await deploy()];
  // Simulates a chain with EIP-7708, whose nodes write these logs themselves.
  await chain.client.setCode({ address: COIN_LOG_ADDRESS, bytecode: LOGGER });
  const word = (value: bigint): Hex => encodeAbiParameters([{ type: "uint256" }], [value]);
  const log = (from: Address, value: bigint): Promise<Hex> =>
    clientOf(person).sendTransaction({
      to: COIN_LOG_ADDRESS,
      data: `${TRANSFER}${pad(from).slice(2)}${pad(wallet.address).slice(2)}${word(value).slice(2)}`,
      gas: 100_000n,
    });
  await throughContract(person, splitter, wallet.address, 5n * ETHER);
  const logged = await log(splitter, 5n * ETHER);
  expect(await depositsOf(wallet.id)).toEqual([
    { from: splitter, txHash: logged, amount: 5n * ETHER, state: "credited" },
  ]);
  expect((await rowsOf(wallet.id))[0]?.logIndex).not.toBeNull();
  await chain.client.setCode({ address: COIN_LOG_ADDRESS, bytecode: "0x" });
});
