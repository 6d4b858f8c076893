import type { CappedFees } from "@/lib/core/capped-fees";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress, ReceiptLog } from "@/lib/core/evm";

type Hex = `0x${string}`;

/**
 * An unpacked user operation for EntryPoint v0.7 (ERC-4337). Fees in wei per gas, limits in gas
 * units.
 */
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
  /**
   * The part of `preVerificationGas` that is charged but that no transaction uses, because it
   * corresponds to the fee of a rollup's parent chain. It is part of costs, but not of a
   * transaction's gas limit.
   */
  readonly unusedGas?: bigint | undefined;
}

export interface UserOperationReceipt {
  readonly userOpHash: Hex;
  /** False when the account's calls reverted: the nonce is used, and no call had an effect. */
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** In wei. Paid by the paymaster when there is one. */
  readonly actualGasCost: bigint;
  /** Null when the account paid for itself. */
  readonly paymaster: EvmAddress | null;
  /** Logs of this user operation only, not of others in the same bundle. */
  readonly logs: readonly ReceiptLog[];
}

/**
 * The bundler requires more `preVerificationGas` than the operation offers, and has not stored the
 * operation.
 */
export class PreVerificationGasTooLowError extends DomainError {
  /**
   * @param needed the amount with which it would accept the operation now, with a margin; in gas
   * units
   */
  constructor(
    chainName: string,
    readonly needed: bigint,
    cause: unknown,
  ) {
    super(
      "simulation_failed",
      `The bundler of ${chainName} asks for more gas. Nothing was sent.`,
      {
        cause,
      },
    );
  }
}

/**
 * Earlier operations of the same sender are in progress, and this one is sent after them. Nothing
 * was sent.
 */
export class WaitsForTurnError extends DomainError {
  constructor() {
    super(
      "provider_error",
      "Earlier operations of the account have to be mined first. Nothing was sent.",
    );
  }
}

/**
 * Keeps the order in which a sender's operations go to an external bundler, which stores only a few
 * operations of one sender at a time (ERC-7562).
 */
export interface SenderQueue {
  /**
   * Adds the operation at the end of its sender's queue, unless it is in it. Returns true when the
   * bundler may have it now; the answer stays true until it leaves the queue.
   */
  admit(operation: {
    readonly chainId: number;
    readonly sender: EvmAddress;
    readonly userOpHash: Hex;
    /**
     * After this time the operation can no longer be executed, and leaves the queue some time
     * later.
     */
    readonly validUntil: Date;
  }): Promise<boolean>;
  /** Removes an operation that was mined, or that the bundler does not have, from the queue. */
  leave(chainId: number, userOpHash: Hex): Promise<void>;
}

export interface SubmitOptions {
  /**
   * True when the account's owner is a wallet outside of the service, which also has the signed
   * operation. The owner can invalidate the operation at any time, by executing another operation
   * with the same nonce, or by executing this one when no paymaster pays. EntryPoint reverts a
   * whole bundle that contains an invalid operation, so such an operation gets a separate bundle.
   */
  readonly isHeldElsewhere: boolean;
  /** After this time the operation cannot be executed any more. */
  readonly validUntil?: Date | null;
}

/** Whether a receipt equals the one that was seen before. */
export type ReceiptCheck = (receipt: UserOperationReceipt) => boolean;

/**
 * Submits user operations to a chain (ERC-4337).
 * @example
 * const { userOpHash } = await bundler.submit(chainId, operation);
 * const receipt = await bundler.receipt(chainId, userOpHash, fromBlock); // null while it is not mined
 */
export interface Bundler {
  readonly id: string;
  /**
   * Suggested fees (EIP-1559) up to the chain's cap, in wei per gas.
   * @throws DomainError `chain_unavailable`
   */
  fees(chainId: number): Promise<CappedFees>;
  /**
   * Estimates gas limits with which the operation succeeds at the latest block. The signature may
   * be a dummy of the right form.
   * @throws DomainError `simulation_failed` with the revert reason, `chain_unavailable`
   */
  estimateGas(chainId: number, operation: UserOperation): Promise<UserOperationGas>;
  /**
   * Accepts a signed operation. Submitting the same operation again is safe: at most the same bytes
   * are broadcast again. By default the service assumes that only it has the operation.
   * @throws DomainError `simulation_failed` when the operation would fail validation;
   * `chain_unavailable` when it is unknown whether the operation was accepted
   * @throws PreVerificationGasTooLowError, WaitsForTurnError (only external bundlers)
   */
  submit(
    chainId: number,
    operation: UserOperation,
    options?: SubmitOptions,
  ): Promise<{ userOpHash: Hex }>;
  /**
   * The receipt of a mined operation; null while it is not mined. Searches from `fromBlock` on. The
   * receipt may have no confirmations yet, so a reorganisation can make it null again.
   * With `isExpected` every provider of the chain is asked (a single one twice), and the first
   * expected receipt is returned. Any other answer, null included, is returned only when two
   * providers agree that there is no expected receipt, because a state on which money depends may
   * be undone only then.
   * @throws DomainError `chain_unavailable`, also when too few providers answer to agree
   */
  receipt(
    chainId: number,
    userOpHash: Hex,
    fromBlock: bigint,
    isExpected?: ReceiptCheck,
  ): Promise<UserOperationReceipt | null>;
}
