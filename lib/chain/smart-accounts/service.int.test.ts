import { pino } from "pino";
import { encodeFunctionData, erc20Abi } from "viem";
import { afterAll, expect, test } from "vitest";
import { createExecutorBundler } from "@/lib/adapters/executor/executor-bundler";
import { systemClock } from "@/lib/core/clock";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import { startOperationChain } from "@/lib/dev/testing/bundler-harness";
import { testDatabase } from "@/lib/dev/testing/database";
import { createSmartAccountsService } from "./service";

const CHAIN = 41_341;
const RECIPIENT = "0x00000000000000000000000000000000000a11ce";

const { database } = await testDatabase();
const chain = await startOperationChain(CHAIN);
afterAll(() => chain.anvil.stop());
const transactions = createChainTransactionsService({
  database,
  registry: chain.registry,
  signer: chain.signer,
  clock: systemClock,
  log: pino({ level: "silent" }),
});
const bundler = createExecutorBundler({
  registry: chain.registry,
  transactions,
  executorAddress: chain.executor,
});
const { accounts: smartAccounts, newOwner, giveToken } = chain.harness(bundler);

test.each(["before its gas is estimated", "before its effect is measured"])(
  "an account that another operation deploys %s is simulated as it is then",
  async (moment) => {
    const owner = await newOwner();
    const address = await smartAccounts.addressOf(owner.address);
    await giveToken(address, 100n);
    const deployment = await smartAccounts.deployment(owner.address);
    let estimates = 0;
    const deploy = async (): Promise<void> => {
      const { client } = chain.anvil;
      const hash = await client.sendUnsignedTransaction({
        from: chain.executor,
        ...deployment,
      });
      await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    };
    const early = moment === "before its gas is estimated";
    const service = createSmartAccountsService({
      registry: chain.registry,
      smartAccounts,
      bundler: {
        ...bundler,
        estimateGas: async (chainId, operation) => {
          estimates += 1;
          if (estimates === 1 && early) await deploy();
          const gas = await bundler.estimateGas(chainId, operation);
          if (estimates === 1 && !early) await deploy();
          return gas;
        },
      },
    });
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [RECIPIENT, 40n],
    });
    const token = {
      chainId: CHAIN,
      address: chain.token,
      symbol: "USDC",
      decimals: 6,
      assetId: "usdc",
      name: "USD Coin",
      usdPegged: true,
    };
    const { changes } = await service.simulate(
      {
        account: { address, ownerAddress: owner.address },
        chainId: CHAIN,
        legId: `leg_${moment}`,
        calls: [{ to: chain.token, data, value: 0n }],
      },
      [{ owner: address, token }],
    );
    expect(changes).toEqual([-40n]);
    expect(await smartAccounts.isDeployed(CHAIN, [address])).toEqual([true]);
    expect(estimates).toBe(early ? 2 : 1);
  },
);
