import {
  createPublicClient,
  createWalletClient,
  http,
  type Account,
  type Address,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { MARKED_PAYMASTER_CODE } from "@/lib/chain/solidity/marked-paymaster";
import { markedPaymasterAbi } from "./marked-paymaster";

interface PaymasterDeployment {
  readonly chain: {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly entryPoint: Address;
  };
  /** Sends and pays for the transactions. It becomes a marker of the paymaster. */
  readonly executor: Account;
  /** May withdraw deposit and stake, and appoint markers. */
  readonly owner: Address;
  /** In wei. ERC-4337 bundlers require a stake; the service's executor does not. */
  readonly stakeWei: bigint;
  readonly depositWei: bigint;
  /** Called after the deployment, before the deposit is paid. */
  readonly deployed: (address: Address) => void;
}

/**
 * Delay in seconds before the stake can be withdrawn. ERC-4337 bundlers require at least a day.
 */
const UNSTAKE_DELAY_S = 86_400;
/**
 * Code that stores a transient value: PUSH1 1 PUSH1 0 TSTORE STOP. It fails on a chain without
 * transient storage (EIP-1153, Cancun).
 */
const TRANSIENT_STORE: Hex = "0x600160005d00";

/**
 * Deploys the project's paymaster on a chain, and pays its stake and deposit at EntryPoint.
 * @throws Error naming the contract that the chain lacks, or the step that reverted
 */
export const deployPaymaster = async (deployment: PaymasterDeployment): Promise<Address> => {
  const { chain, executor, owner, stakeWei, depositWei, deployed } = deployment;
  const transport = http(chain.rpcUrl);
  const reader = createPublicClient({ transport });
  const wallet = createWalletClient({ account: executor, transport });
  const chainId = await reader.getChainId();
  if (chainId !== chain.id)
    throw new Error(`${chain.rpcUrl} is chain ${String(chainId)}, not ${String(chain.id)}.`);
  if (((await reader.getCode({ address: chain.entryPoint })) ?? "0x") === "0x")
    throw new Error(`${chain.name} has no EntryPoint at ${chain.entryPoint}.`);
  await reader.call({ data: TRANSIENT_STORE }).catch((cause: unknown) => {
    throw new Error(
      `${chain.name} does not have transient storage (EIP-1153), which the paymaster needs.`,
      { cause },
    );
  });

  const mined = async (what: string, hash: Hex): Promise<TransactionReceipt> => {
    const receipt = await reader.waitForTransactionReceipt({ hash });
    if (receipt.status !== "success") throw new Error(`${what} reverted (${hash}).`);
    return receipt;
  };
  const args = [chain.entryPoint, owner, [executor.address], UNSTAKE_DELAY_S] as const;
  const creation = await wallet.deployContract({
    abi: markedPaymasterAbi,
    bytecode: MARKED_PAYMASTER_CODE,
    args,
    value: stakeWei,
    chain: null,
  });
  const { contractAddress } = await mined("The deployment", creation);
  if (!contractAddress) throw new Error(`The deployment left no contract (${creation}).`);
  deployed(contractAddress);
  if (depositWei > 0n) {
    const call = {
      address: contractAddress,
      abi: markedPaymasterAbi,
      functionName: "deposit",
    } as const;
    await mined(
      "The deposit",
      await wallet.writeContract({ ...call, value: depositWei, chain: null }),
    );
  }
  return contractAddress;
};
