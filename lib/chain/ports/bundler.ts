import type { CappedFees } from "@/lib/core/capped-fees";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress, ReceiptLog } from "@/lib/core/evm";

type Hex = `0x${string}`;

/**
 * An unpacked user operation for EntryPoint v0.7 (ERC-4337). Fees in wei per gas, limits in gas.
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
   * The part of `preVerificationGas` that pays the fee of a rollup's parent chain. This gas is
   * charged, but no transaction uses it, so it is part of the costs and not of a transaction's gas
   * limit.
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
  /** Cost of the gas in wei. The paymaster pays it when there is one. */
  readonly actualGasCost: bigint;
  /** Null when the account paid for its gas. */
  readonly paymaster: EvmAddress | null;
  /** Logs of this operation only, without the logs of other operations in the bundle. */
  readonly logs: readonly ReceiptLog[];
}

/**
 * The bundler requires more `preVerificationGas` than the operation offers. It has not stored the
 * operation.
 */
export class PreVerificationGasTooLowError extends DomainError {
  /** @param needed the amount that the bundler would accept now, with a margin; in gas units */
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
 * Earlier operations of the sender are in progress, and this one must wait for them. Nothing was
 * sent.
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
 * Keeps the order in which a sender's operations go to an external bundler. Such a bundler stores
 * only a few operations of one sender at a time (ERC-7562).
 */
export interface SenderQueue {
  /**
   * Adds the operation at the end of its sender's queue, unless it is queued already. Returns
   * whether it may be sent to the bundler now. Once true, the result stays true until the operation
   * leaves the queue.
   */
  admit(operation: {
    readonly chainId: number;
    readonly sender: EvmAddress;
    readonly userOpHash: Hex;
    readonly validUntil: Date;
  }): Promise<boolean>;
  /** Removes an operation that was mined, or that the bundler no longer has. */
  leave(chainId: number, userOpHash: Hex): Promise<void>;
}

export interface SubmitOptions {
  /**
   * True when the account's owner is an external wallet, which also has the signed operation. The
   * owner can invalidate the operation at any time: by executing another operation with the same
   * nonce, or by executing this one when no paymaster pays. EntryPoint reverts a whole bundle with
   * an invalid operation, so such an operation is sent in a bundle of its own.
   */
  readonly isHeldElsewhere: boolean;
  readonly validUntil?: Date | null;
}

/** Whether a receipt equals the one that was seen earlier. */
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
   * Accepts a signed operation. Submitting it again is safe: at most the same bytes are broadcast
   * again. Without `isHeldElsewhere`, the service assumes that nobody else has the operation.
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
   * receipt may have no confirmations yet, so a reorganisation can make it null again. With
   * `isExpected`, every provider of the chain is asked (a single one twice), and the first expected
   * receipt is returned. Any other answer, null included, is returned only when two providers agree
   * that there is no expected receipt, because only then may a status on which money depends be
   * undone.
   * @throws DomainError `chain_unavailable`, also when too few providers answer to agree
   */
  receipt(
    chainId: number,
    userOpHash: Hex,
    fromBlock: bigint,
    isExpected?: ReceiptCheck,
  ): Promise<UserOperationReceipt | null>;
}
