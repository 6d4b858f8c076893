import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { createExecutorBundler } from "@/lib/adapters/executor/executor-bundler";
import { executeSwap } from "@/lib/contracts/swap";
import { PreVerificationGasTooLowError, type Bundler } from "@/lib/chain/ports/bundler";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";

const CHAIN = 31337;
const MORE_GAS = 5_000n;
/** The preVerificationGas of each operation that the bundler received. */
const offered: bigint[] = [];
const executor: { bundler: Bundler | null } = { bundler: null };
const real = (): Bundler => {
  if (executor.bundler === null) throw new Error("The executor is not built yet.");
  return executor.bundler;
};

/**
 * An external bundler that twice requires more gas than it estimated. The service's executor does
 * its work.
 */
const bundler: Bundler = {
  id: "greedy",
  fees: (chainId) => real().fees(chainId),
  estimateGas: (chainId, operation) => real().estimateGas(chainId, operation),
  receipt: (chainId, hash, fromBlock) => real().receipt(chainId, hash, fromBlock),
  submit: (chainId, operation, options) => {
    offered.push(operation.preVerificationGas);
    if (offered.length <= 2)
      return Promise.reject(
        new PreVerificationGasTooLowError(
          "the chain",
          operation.preVerificationGas + MORE_GAS,
          null,
        ),
      );
    return real().submit(chainId, operation, options);
  },
};
const api = await testApi({ worker: true, overrides: { bundler } });
const { registry, transactions, config, database } = api.services;
executor.bundler = createExecutorBundler({
  registry,
  transactions,
  executorAddress: privateKeyToAddress(config.executorPrivateKey ?? "0x"),
});

test("an operation that is refused for its preVerificationGas is signed again with more, and moves the money once", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "40" }],
    toChainId: CHAIN,
    toToken: "USDC",
    toAddress: recipient,
  });
  const { operationId } = await client.call(executeSwap, { body: { quoteId } });
  expect(await waitUntilFinal(client, operationId)).toMatchObject({
    status: "completed",
    failure: null,
  });
  const [first = 0n] = offered;
  expect(offered.slice(0, 3)).toEqual([first, first + MORE_GAS, first + 2n * MORE_GAS]);
  const leg = await database.prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  expect(new Set([...leg.earlierUserOpHashes, leg.userOpHash]).size).toBe(3);
  const { address } = registry.resolveToken(CHAIN, "USDC");
  expect(await balanceOnChain(registry.get(CHAIN).rpcUrls[0] ?? "", address, recipient)).toBe(
    40_000_000n,
  );
  await expectBudgetsToFitLegs(database);
});
