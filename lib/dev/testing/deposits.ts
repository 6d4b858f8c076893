/** Money from outside: sends tokens from a local account, and reads the deposits of a project. */
import {
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseAbi,
  parseEther,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { expect, vi } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Token } from "@/lib/core/token";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { newId } from "@/lib/core/ids";
import type { Services } from "@/lib/composition";
import { sqlOf } from "@/lib/platform/db/sql";
import { tell } from "@/lib/money/deposits/apply";
import { depositsByIds } from "@/lib/money/deposits/repository";
import type { DepositsService } from "@/lib/money/deposits/service";
import type { EvmAddress } from "@/lib/core/evm";

const WAIT = { timeout: 60_000, interval: 100 };

/** Funds a local account, and sends a token transfer that the account signs. */
export const sendFromOutside = async (
  registry: ChainRegistry,
  account: PrivateKeyAccount,
  {
    token,
    to,
    amountBase,
  }: { readonly token: Token; readonly to: EvmAddress; readonly amountBase: bigint },
): Promise<Hex> => {
  if (token.address === "native") throw new Error("Coins have no contract.");
  const faucet = createFaucet({ registry });
  await faucet.give(account.address, registry.native(token.chainId), parseEther("1"));
  await faucet.give(account.address, token, amountBase);
  const chain = registry.viemChain(token.chainId);
  const [url] = registry.get(token.chainId).rpcUrls;
  const wallet = createWalletClient({ account, chain, transport: http(url) });
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [to, amountBase],
  });
  const hash = await wallet.sendTransaction({ to: token.address, data });
  const receipt = await registry
    .client(token.chainId)
    .waitForTransactionReceipt({ hash, pollingInterval: 100 });
  expect(receipt.status).toBe("success");
  return hash;
};

const multicallAbi = parseAbi([
  "struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }",
  "function aggregate3Value(Call3Value[] calls) payable",
]);

/** Sends coins through a contract, so that no transaction names the wallet as its recipient. */
export const sendCoinsByContract = async (
  registry: ChainRegistry,
  chainId: number,
  { to, amountBase }: { readonly to: EvmAddress; readonly amountBase: bigint },
): Promise<void> => {
  const account = privateKeyToAccount(generatePrivateKey());
  await createFaucet({ registry }).give(
    account.address,
    registry.native(chainId),
    amountBase + parseEther("1"),
  );
  const { rpcUrls, contracts } = registry.get(chainId);
  const wallet = createWalletClient({
    account,
    chain: registry.viemChain(chainId),
    transport: http(rpcUrls[0]),
  });
  const hash = await wallet.writeContract({
    address: contracts.multicall3,
    abi: multicallAbi,
    functionName: "aggregate3Value",
    args: [[{ target: to, allowFailure: false, value: amountBase, callData: "0x" }]],
    value: amountBase,
  });
  const receipt = await registry
    .client(chainId)
    .waitForTransactionReceipt({ hash, pollingInterval: 100 });
  expect(receipt.status).toBe("success");
};

/** Searches a chain for deposits like a worker, again and again until `isSo` does not throw. */
export const followUntil = (
  deposits: Pick<DepositsService, "follow">,
  chainId: number,
  isSo: () => Promise<void>,
): Promise<void> =>
  vi.waitFor(async () => {
    await deposits.follow(chainId);
    await isSo();
  }, WAIT);

/**
 * Stores a deposit that waits for a person, as the search for deposits would. Call it at most once
 * for each wallet and block.
 * @returns its id
 */
export const quarantinedDeposit = async (
  { database, registry }: Services,
  wallet: { readonly treasury: string; readonly treasuryId: string },
  blockNumber = 0n,
): Promise<string> => {
  const { prisma } = database;
  const [id, now, chainId] = [newId("operation"), new Date(), 31337];
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: wallet.treasuryId },
  });
  const scan = {
    chainId,
    finalNumber: 0n,
    seenNumber: 0n,
    seenHash: "0x",
    nativeNumber: 0n,
    updatedAt: now,
  };
  await prisma.depositScan.createMany({ data: [scan], skipDuplicates: true });
  if (blockNumber > 0n)
    await prisma.depositScan.update({ where: { chainId }, data: { finalNumber: blockNumber } });
  await prisma.deposit.create({
    data: {
      ...{
        id,
        projectId,
        chainId,
        blockNumber,
        walletId: wallet.treasuryId,
        walletAddress: wallet.treasury,
      },
      ...{
        token: "native",
        amountBase: 1,
        state: "quarantined",
        isHeld: false,
        verdict: "not_covered",
      },
      ...{ screenedAt: now, detectedAt: now, updatedAt: now },
    },
  });
  await database.transaction(async (tx) => {
    const sql = sqlOf(tx);
    const [after] = await depositsByIds(sql, projectId, [id]);
    if (after !== undefined)
      await tell(sql, () => registry.native(chainId), [{ after, isNew: true }], now);
  });
  return id;
};
