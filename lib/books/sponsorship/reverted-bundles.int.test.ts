/**
 * Bundles that revert as a whole, because of an operation whose owner is outside of the service and
 * can make it invalid.
 */
import { createPublicClient, encodeFunctionData, http, parseAbi, type Hex } from "viem";
import { expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer, waitUntilFinal } from "@/lib/dev/testing/journey";
import {
  doActions,
  linkedWallet,
  ownSmartAccount,
  prepareOwn,
} from "@/lib/dev/testing/own-wallets";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { walletBalances } from "@/lib/dev/testing/wallet-balances";
import { startWorker } from "@/lib/workers/runner";

const CHAIN = 31337;
const WAIT = { timeout: 30_000, interval: 50 };
const api = await testApi();
const { services } = api;
const { prisma } = services.database;
const { give, rpcUrl } = walletBalances(api);
const client = createPublicClient({ transport: http(rpcUrl(CHAIN)) });

/** Sends a bundle with the operation that reverts as a whole. @returns its cost in wei */
const revertBundle = async (userOpHash: Hex): Promise<bigint> => {
  const purpose = `test:${userOpHash}`;
  await services.transactions.send({
    ...{
      chainId: CHAIN,
      keyId: "executor",
      purpose,
      carries: [{ userOpHash, after: null }],
      value: 0n,
      gas: 100_000n,
    },
    to: services.registry.get(CHAIN).contracts.entryPoint,
    data: encodeFunctionData({
      abi: parseAbi(["function missing()"]),
      functionName: "missing",
    }),
    fees: { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
  });
  const hash = await vi.waitFor(async () => {
    await services.transactions.reconcile(CHAIN);
    const sent = await services.transactions.find(CHAIN, purpose);
    expect(sent?.status).toBe("final");
    return sent?.minedHash ?? "0x";
  }, WAIT);
  const { status, gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash });
  expect(status).toBe("reverted");
  return gasUsed * effectiveGasPrice;
};

test("what a reverted bundle cost the executor counts to the budget of the project whose owner can make its operation invalid", async () => {
  const customer = await newCustomer(api);
  const owner = await linkedWallet(customer);
  const account = await ownSmartAccount(customer, owner.address, CHAIN);
  await give(customer, account, CHAIN, "USDC", "5");
  const { quote, prepared } = await prepareOwn(api, customer, {
    from: [{ address: account, chainId: CHAIN, token: "USDC", amount: "5" }],
    ...{ toChainId: CHAIN, toToken: "DAI", toAddress: testAccount().address },
  });
  const signatures = await doActions(api, [owner], prepared.actions);
  const body = { quoteId: quote.quoteId, signatures };
  const { operationId } = await customer.session.client.call(executeSwap, { body });
  const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  const costWei = await revertBundle(leg.userOpHash as Hex);
  await prisma.operationLeg.update({
    where: { id: leg.id },
    data: { validUntil: new Date(Date.now() - 600_000), version: { increment: 1 } },
  });
  const worker = startWorker(services);
  expect(await waitUntilFinal(customer.session.client, operationId)).toMatchObject({
    ...{ status: "failed", failure: { code: "source_expired" } },
    fees: expect.arrayContaining([
      expect.objectContaining({ kind: "network", paidBy: "sponsor" }),
    ]) as unknown,
  });
  await worker.stop();
  const { reservedWei, usedWei } = await prisma.sponsorUsage.findFirstOrThrow({
    where: { projectId: leg.projectId, chainId: CHAIN },
  });
  expect([reservedWei.toFixed(0), usedWei.toFixed(0)]).toEqual(["0", String(costWei)]);
  await expectBudgetsToFitLegs(services.database);
}, 120_000);
