/** Money from outside: tokens of a local account, and the deposits that a project sees. */
import { createWalletClient, encodeFunctionData, erc20Abi, http, parseEther, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { expect, vi } from "vitest";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Token } from "@/lib/core/token";
import { createFaucet } from "@/lib/devnet/faucet";
import { newId } from "@/lib/core/ids";
import type { Services } from "@/lib/composition";
import type { DepositsService } from "@/lib/modules/deposits/service";
import type { EvmAddress } from "@/lib/ports/routing";

const WAIT = { timeout: 60_000, interval: 100 };

/** A transfer of tokens that a local account signs. The account gets what it needs first. */
export const sendFromOutside = async (
  registry: ChainRegistry,
  account: PrivateKeyAccount,
  { token, to, amountBase }: { readonly token: Token; readonly to: EvmAddress; readonly amountBase: bigint },
): Promise<Hex> => {
  if (token.address === "native") throw new Error("Coins have no contract.");
  const faucet = createFaucet({ registry });
  await faucet.give(account.address, registry.native(token.chainId), parseEther("1"));
  await faucet.give(account.address, token, amountBase);
  const chain = registry.viemChain(token.chainId);
  const [url] = registry.get(token.chainId).rpcUrls;
  const wallet = createWalletClient({ account, chain, transport: http(url) });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amountBase] });
  const hash = await wallet.sendTransaction({ to: token.address, data });
  const receipt = await registry.client(token.chainId).waitForTransactionReceipt({ hash, pollingInterval: 100 });
  expect(receipt.status).toBe("success");
  return hash;
};

/** Searches a chain until `isSo` holds, as a worker would do. */
export const followUntil = (
  deposits: Pick<DepositsService, "follow">,
  chainId: number,
  isSo: () => Promise<void>,
): Promise<void> =>
  vi.waitFor(async () => {
    await deposits.follow(chainId);
    await isSo();
  }, WAIT);

/** A deposit that waits for a person, as the search for deposits stores one. @returns its id */
export const quarantinedDeposit = async (
  { database: { prisma } }: Services,
  wallet: { readonly treasury: string; readonly treasuryId: string },
): Promise<string> => {
  const [id, now, chainId] = [newId("operation"), new Date(), 31337];
  const { projectId } = await prisma.wallet.findUniqueOrThrow({ where: { id: wallet.treasuryId } });
  const scan = { chainId, finalNumber: 0n, seenNumber: 0n, seenHash: "0x", nativeNumber: 0n, updatedAt: now };
  await prisma.depositScan.createMany({ data: [scan], skipDuplicates: true });
  await prisma.deposit.create({
    data: {
      ...{ id, projectId, chainId, blockNumber: 0n, walletId: wallet.treasuryId, walletAddress: wallet.treasury },
      ...{ token: "native", amountBase: 1, state: "quarantined", isHeld: false, verdict: "not_covered" },
      ...{ screenedAt: now, detectedAt: now, updatedAt: now },
    },
  });
  return id;
};
