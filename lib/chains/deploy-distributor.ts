import {
  concatHex,
  createPublicClient,
  createWalletClient,
  getContractAddress,
  http,
  zeroHash,
  type Account,
  type Address,
} from "viem";
import { distributorFault } from "./distributor-code";
import { DISTRIBUTOR_CODE } from "./solidity/distributor";

/** Nick's CREATE2 deployer, at the same address on every public chain. */
const CREATE2_DEPLOYER: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** The address of the distributor on every chain; it follows from the code alone (CREATE2). */
export const DISTRIBUTOR_ADDRESS: Address = getContractAddress({
  opcode: "CREATE2",
  from: CREATE2_DEPLOYER,
  salt: zeroHash,
  bytecode: DISTRIBUTOR_CODE,
});

interface DistributorDeployment {
  readonly chain: { readonly id: number; readonly name: string; readonly rpcUrl: string };
  /** Pays for the transaction. Neither this account nor any other has rights over the contract. */
  readonly executor: Account;
}

/**
 * Deploys the distributor on a chain, unless it is there already.
 * @returns whether a transaction was sent
 * @throws Error naming the contract or funds that the chain lacks
 */
export const deployDistributor = async ({ chain, executor }: DistributorDeployment): Promise<boolean> => {
  const transport = http(chain.rpcUrl);
  const reader = createPublicClient({ transport });
  const chainId = await reader.getChainId();
  if (chainId !== chain.id) throw new Error(`${chain.rpcUrl} is chain ${String(chainId)}, not ${String(chain.id)}.`);
  if ((await distributorFault(reader, DISTRIBUTOR_ADDRESS)) === null) return false;
  if (((await reader.getCode({ address: CREATE2_DEPLOYER })) ?? "0x") === "0x")
    throw new Error(`${chain.name} has no CREATE2 deployer at ${CREATE2_DEPLOYER}.`);
  const wallet = createWalletClient({ account: executor, transport });
  const data = concatHex([zeroHash, DISTRIBUTOR_CODE]);
  const hash = await wallet.sendTransaction({ to: CREATE2_DEPLOYER, data, chain: null });
  const { status } = await reader.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`The deployment reverted (${hash}).`);
  const fault = await distributorFault(reader, DISTRIBUTOR_ADDRESS);
  if (fault !== null) throw new Error(`${chain.name}: ${fault}`);
  return true;
};
