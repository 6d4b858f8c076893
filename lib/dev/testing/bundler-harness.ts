import { encodeFunctionData, erc20Abi, parseAbi, parseEther, type Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSafeAccounts } from "@/lib/adapters/safe-account/safe-accounts";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { MULTICALL3, planDeployments } from "@/lib/dev/devnet/contracts";
import { deployAll } from "@/lib/dev/devnet/deploy/deploy";
import { allowMarker } from "@/lib/dev/devnet/marker";
import type { Bundler } from "@/lib/chain/ports/bundler";
import type { BundlerHarness } from "@/lib/chain/ports/bundler.contract";
import type { Signer } from "@/lib/chain/ports/signer";
import { startBareAnvil, type BareAnvil } from "./bare-anvil";
import { createMemorySigner } from "./memory-signer";

/**
 * Options with which the chain behaves like the local chains of `npm start`: a transaction is mined
 * immediately, and there is also one block a second.
 */
const ANVIL_ARGS = [
  "--block-time",
  "1",
  "--mixed-mining",
  "--gas-limit",
  "60000000",
  "--balance",
  "10000000",
];

export interface OperationChain {
  readonly anvil: BareAnvil;
  readonly registry: ChainRegistry;
  readonly signer: Signer;
  readonly entryPoint: Address;
  readonly paymaster: Address;
  readonly executor: Address;
  readonly token: Address;
  harness(bundler: Bundler): BundlerHarness;
}

const mintAbi = parseAbi(["function mint(address to, uint256 amount) returns (bool)"]);

/**
 * A separate chain with every contract of the local chains, and an executor that only this test
 * uses.
 */
export const startOperationChain = async (chainId: number): Promise<OperationChain> => {
  const anvil = await startBareAnvil(chainId, ANVIL_ARGS);
  await deployAll(anvil.url, 0);
  const { contracts } = planDeployments();
  const config = {
    ...anvil.config,
    contracts: {
      ...anvil.config.contracts,
      multicall3: MULTICALL3,
      entryPoint: contracts.entryPoint,
      paymaster: contracts.paymaster,
    },
  };
  const executorKey = generatePrivateKey();
  const executor = privateKeyToAccount(executorKey).address;
  const signer = createMemorySigner({ executor: executorKey });
  await anvil.client.setBalance({ address: executor, value: parseEther("1000") });
  await allowMarker(anvil.url, executor);
  const registry = createChainRegistry([config]);
  const { client } = anvil;
  let owners = 0;

  const harness = (bundler: Bundler): BundlerHarness => ({
    chainId,
    bundler,
    accounts: createSafeAccounts({ registry, signer }),
    token: contracts.usdc,
    hasPaymaster: true,
    newOwner: async () => {
      const scope = { keyId: `owner${String((owners += 1))}`, projectId: "prj_test" };
      return { scope, ...(await signer.create(scope)) };
    },
    giveToken: async (to, amountBase) => {
      const data = encodeFunctionData({
        abi: mintAbi,
        functionName: "mint",
        args: [to, amountBase],
      });
      const hash = await client.sendUnsignedTransaction({
        from: devAddress("deployer"),
        to: contracts.usdc,
        data,
      });
      await client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    },
    giveNative: (to, wei) => client.setBalance({ address: to, value: wei }),
    tokenBalance: (of) =>
      client.readContract({
        address: contracts.usdc,
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [of],
      }),
    nativeBalance: (of) => client.getBalance({ address: of }),
    blockNumber: () => client.getBlockNumber({ cacheTime: 0 }),
    chainTime: async () => new Date(Number((await client.getBlock()).timestamp) * 1000),
  });

  return {
    anvil,
    registry,
    signer,
    entryPoint: contracts.entryPoint,
    paymaster: contracts.paymaster,
    executor,
    token: contracts.usdc,
    harness,
  };
};
