import type { EvmAddress, ReceiptLog } from "./routing";

type Hex = `0x${string}`;

/** A user operation of EntryPoint v0.7 (ERC-4337), unpacked. Quantities in wei and gas units. */
export interface UserOperation {
  readonly sender: EvmAddress;
  /** 192-bit key (2D nonce) and 64-bit sequence. */
  readonly nonce: bigint;
  readonly factory?: EvmAddress;
  readonly factoryData?: Hex;
  readonly callData: Hex;
  readonly callGasLimit: bigint;
  readonly verificationGasLimit: bigint;
  readonly preVerificationGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly paymaster?: EvmAddress;
  readonly paymasterVerificationGasLimit?: bigint;
  readonly paymasterPostOpGasLimit?: bigint;
  readonly paymasterData?: Hex;
  readonly signature: Hex;
}

export interface UserOperationGas {
  readonly callGasLimit: bigint;
  readonly verificationGasLimit: bigint;
  readonly preVerificationGas: bigint;
  readonly paymasterVerificationGasLimit: bigint;
  readonly paymasterPostOpGasLimit: bigint;
}

export interface UserOperationReceipt {
  readonly userOpHash: Hex;
  /** False: the account's calls reverted; the nonce is spent and no call had an effect. */
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** In wei; borne by the paymaster where there is one. */
  readonly actualGasCost: bigint;
  /** Null: the account paid itself. */
  readonly paymaster: EvmAddress | null;
  /** Logs of this user operation alone, not of others in the same bundle. */
  readonly logs: readonly ReceiptLog[];
}

export interface SubmitOptions {
  /**
   * The owner of the account is outside of the service and has the signed operation. The owner can make the operation invalid at any
   * moment: by executing another one under the same nonce, or this one itself when no paymaster pays. EntryPoint reverts a whole bundle
   * that contains an invalid operation, so this operation is bundled with no other.
   */
  readonly isHeldElsewhere: boolean;
}

/**
 * Brings user operations on chain (ERC-4337).
 * @example
 * const { userOpHash } = await bundler.submit(chainId, operation);
 * const receipt = await bundler.receipt(chainId, userOpHash, fromBlock); // null while it is not mined
 */
export interface Bundler {
  readonly id: string;
  /** Suggested fees, in wei per gas. */
  fees(chainId: number): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }>;
  /**
   * Gas limits with which the operation succeeds now. Its signature may be a dummy of the right form.
   * @throws DomainError `simulation_failed` with the revert reason, `chain_unavailable`
   */
  estimateGas(chainId: number, operation: UserOperation): Promise<UserOperationGas>;
  /**
   * Accepts a signed operation. Submitting the same again has no further effect (it may broadcast the same bytes again). Without
   * `options` only the service holds the operation.
   * @throws DomainError `simulation_failed` when it would revert at validation; `chain_unavailable` when the answer is unknown
   */
  submit(chainId: number, operation: UserOperation, options?: SubmitOptions): Promise<{ userOpHash: Hex }>;
  /**
   * Null while it is not mined. Looks no further back than `fromBlock`. Says nothing about confirmations, and a reorg
   * may turn an answer into null again.
   */
  receipt(chainId: number, userOpHash: Hex, fromBlock: bigint): Promise<UserOperationReceipt | null>;
}
