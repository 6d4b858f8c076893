import {
  BaseError,
  ContractFunctionRevertedError,
  encodeDeployData,
  encodeFunctionData,
  keccak256,
  pad,
  parseAbi,
  parseEther,
  toHex,
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import { MARKED_PAYMASTER_CODE } from "@/lib/chain/solidity/marked-paymaster";
import { creationCode } from "@/lib/dev/devnet/artifacts";
import { startBareAnvil } from "./bare-anvil";

/** ERC-4337 validation result: the paymaster does not consent. */
export const NO_CONSENT = 1n;
/** ERC-4337 validation result: the paymaster consents up to this time, in Unix seconds. */
export const consentUntil = (seconds: number): bigint => BigInt(seconds) << 160n;

export const UNSTAKE_DELAY_S = 86_400;
export const STAKE_WEI = parseEther("1");
const BALANCE_WEI = parseEther("1000");
const GAS = 10_000_000n;

const abi = [
  ...markedPaymasterAbi,
  ...parseAbi([
    "struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }",
    "function validatePaymasterUserOp(PackedUserOperation userOp, bytes32 userOpHash, uint256 maxCost) returns (bytes context, uint256 validationData)",
  ]),
] as const;
type Mutability = "nonpayable" | "payable";
type Name = ContractFunctionName<typeof abi, Mutability>;

export const accountNamed = (name: string): Address => `0x${keccak256(toHex(name)).slice(-40)}`;
export const OWNER = accountNamed("owner");
export const MARKER = accountNamed("marker");
export const OTHER_MARKER = accountNamed("other marker");
export const STRANGER = accountNamed("stranger");

/**
 * The operation with which tests call the paymaster. Its content does not matter, because the
 * paymaster checks only the hash.
 */
const OPERATION = {
  sender: STRANGER,
  nonce: 0n,
  initCode: "0x",
  callData: "0x",
  accountGasLimits: pad("0x"),
  preVerificationGas: 0n,
  gasFees: pad("0x"),
  paymasterAndData: "0x",
  signature: "0x",
} as const;

interface UnsignedTransaction {
  readonly from: Address;
  readonly to?: Address;
  readonly data: Hex;
  readonly value: bigint;
}

interface Call {
  readonly to: Address;
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
  readonly value?: bigint;
}

const errorNameOf = (error: unknown): string => {
  const found =
    error instanceof BaseError
      ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
      : null;
  if (!(found instanceof ContractFunctionRevertedError)) throw error;
  return found.data?.errorName ?? found.reason ?? "revert";
};

/**
 * Starts a chain with EntryPoint and a paymaster. `OWNER` owns the paymaster, and `MARKER` may
 * mark operations for it. Any account can be impersonated.
 */
export const startPaymasterChain = async (chainId: number) => {
  const { client, stop } = await startBareAnvil(chainId);
  await client.request({
    method: "anvil_autoImpersonateAccount" as never,
    params: [true] as never,
  });

  /**
   * Sends with the nonce of the latest block. The node's default also counts its pool, which after
   * a `revert` may contain transactions of removed blocks, so that the transaction would wait for
   * them forever.
   */
  const sendMined = async (sent: UnsignedTransaction): Promise<TransactionReceipt> => {
    const nonce = await client.getTransactionCount({ address: sent.from, blockTag: "latest" });
    const hash = await client.sendUnsignedTransaction({ ...sent, nonce, gas: GAS });
    return client.waitForTransactionReceipt({ hash, pollingInterval: 5 });
  };

  const deploy = async (data: Hex, value = 0n): Promise<Address> => {
    const { contractAddress, status } = await sendMined({ from: STRANGER, data, value });
    if (!contractAddress || status !== "success") throw new Error("Nothing was deployed.");
    return contractAddress;
  };

  /**
   * Sends the call unless it would revert.
   * @returns the return value (`done` for none), or the name of the error
   */
  const send = async (from: Address, { to, value = 0n, ...call }: Call): Promise<unknown> => {
    try {
      const { result }: { result: unknown } = await client.simulateContract({
        address: to,
        account: from,
        value,
        ...call,
      } as never);
      const data = encodeFunctionData(call);
      const { status } = await sendMined({ from, to, data, value });
      if (status !== "success") throw new Error("It reverted only when it was sent.");
      return result ?? "done";
    } catch (error) {
      return errorNameOf(error);
    }
  };

  for (const address of [OWNER, MARKER, OTHER_MARKER, STRANGER])
    await client.setBalance({ address, value: BALANCE_WEI });
  const entryPoint = await deploy(creationCode("entryPoint"));
  await client.setBalance({ address: entryPoint, value: BALANCE_WEI });
  const deployPaymaster = (
    own: { entryPoint: Address; owner?: Address },
    value = 0n,
  ): Promise<Address> => {
    const args = [own.entryPoint, own.owner ?? OWNER, [MARKER], UNSTAKE_DELAY_S] as const;
    return deploy(encodeDeployData({ abi, bytecode: MARKED_PAYMASTER_CODE, args }), value);
  };
  const paymaster = await deployPaymaster({ entryPoint }, STAKE_WEI);

  const as = <N extends Name>(
    from: Address,
    functionName: N,
    args: ContractFunctionArgs<typeof abi, Mutability, N>,
    value = 0n,
  ): Promise<unknown> =>
    send(from, { to: paymaster, abi, functionName, args: args as readonly unknown[], value });

  return {
    client,
    entryPoint,
    stop,
    deploy,
    deployPaymaster,
    send,
    /** Calls the paymaster as this account. */
    as,
    /** `validationData` of ERC-4337, or the name of the error. */
    validate: async (from: Address, userOpHash: Hex): Promise<bigint | string> => {
      const answer = await as(from, "validatePaymasterUserOp", [OPERATION, userOpHash, 0n]);
      return Array.isArray(answer) ? (answer[1] as bigint) : String(answer);
    },
    depositInfo: () =>
      client.readContract({
        address: entryPoint,
        abi: entryPoint07Abi,
        functionName: "getDepositInfo",
        args: [paymaster],
      }),
    now: async (): Promise<number> => Number((await client.getBlock()).timestamp),
  };
};
