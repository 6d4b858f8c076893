import type { TypedDataDefinition } from "viem";
import type { UserOperation, UserOperationGas } from "./bundler";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { SignerScope } from "./signer";

type Hex = `0x${string}`;

/** Fees of EIP-1559, in wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Payments of one token from the account. All succeed or none. */
export interface AccountPayout {
  /** Address of the token, or `native` for the chain's coin. */
  readonly token: EvmAddress | "native";
  /** At least one row. Amounts are in base units and above zero. */
  readonly rows: readonly { readonly recipient: EvmAddress; readonly amountBase: bigint }[];
}

/**
 * The work of one user operation: calls, executed atomically in this order, or a payout. For a
 * payout, the account delegates to the chain's configured distributor contract, and never to
 * another contract.
 */
export type AccountWork =
  | { readonly calls: readonly Call[] }
  | { readonly payout: AccountPayout };

export type DraftRequest = AccountWork & DraftOptions;

interface DraftOptions {
  readonly chainId: number;
  readonly ownerAddress: EvmAddress;
  /**
   * The 192-bit key of the nonce (ERC-4337). The sequence is always 0, so each key is used for at
   * most one executed operation.
   * @see nonceKeyOf
   */
  readonly nonceKey: bigint;
  readonly fees: Fees;
  /** Whether the chain's paymaster pays the fees. Default: true when the chain has a paymaster. */
  readonly sponsored?: boolean;
}

export interface PrepareRequest {
  readonly chainId: number;
  readonly draft: UserOperation;
  readonly gas: UserOperationGas;
  /** The operation cannot be executed after this time. Rounded down to whole seconds. */
  readonly validUntil: Date;
}

export interface PreparedUserOperation {
  readonly chainId: number;
  readonly operation: UserOperation;
  readonly validUntil: Date;
  /** The EIP-712 message `SafeOp` that the owner signs. Its numbers are bigints. */
  readonly typedData: TypedDataDefinition;
  /** The hash of the operation (ERC-4337). It does not depend on the signature. */
  readonly userOpHash: Hex;
}

/**
 * Smart accounts (ERC-4337). Each has one owner, and the same address on every chain, before and
 * after its deployment. An operation passes through `draft`, `Bundler.estimateGas`, `prepare`,
 * `sign` (or a signature by the owner's own wallet and `withSignature`) and `Bundler.submit`.
 * @example
 * const draft = await accounts.draft({ chainId, ownerAddress, calls, nonceKey, fees: await bundler.fees(chainId) });
 * const gas = await bundler.estimateGas(chainId, draft);
 * const prepared = accounts.prepare({ chainId, draft, gas, validUntil });
 * await bundler.submit(chainId, await accounts.sign({ keyId, projectId }, prepared));
 */
export interface SmartAccounts {
  /**
   * Salt nonce of every account. With the owner and the account's contracts, it determines the
   * address.
   */
  readonly saltNonce: bigint;
  /** The checksummed address (EIP-55) of the owner's account, before or after its deployment. */
  addressOf(ownerAddress: EvmAddress): Promise<EvmAddress>;
  /**
   * Whether each account is deployed, in the order of `addresses`.
   * @throws DomainError `chain_unavailable`
   */
  isDeployed(chainId: number, addresses: readonly EvmAddress[]): Promise<readonly boolean[]>;
  /** The call that deploys the account. Any address may send it, but a second such call reverts. */
  deployment(ownerAddress: EvmAddress): Promise<Call>;
  /**
   * Builds an operation with zero gas limits and a dummy signature, for `Bundler.estimateGas`.
   * @throws DomainError `chain_unavailable`; `provider_error` when the configured distributor
   * contract has other code than this release expects
   */
  draft(request: DraftRequest): Promise<UserOperation>;
  /** Sets the gas limits and the validity of a draft. Makes no network call. */
  prepare(request: PrepareRequest): PreparedUserOperation;
  /**
   * Signs with a managed key, which must be the account's owner.
   * @throws DomainError `not_found` for an unknown key
   */
  sign(scope: SignerScope, prepared: PreparedUserOperation): Promise<UserOperation>;
  /**
   * Adds the owner's signature of `typedData` (65 bytes).
   * @throws DomainError `invalid_signature`
   */
  withSignature(
    prepared: Pick<PreparedUserOperation, "operation" | "validUntil">,
    signature: Hex,
  ): UserOperation;
  /**
   * Whether the operation has its owner's signature over exactly these fields and this validity.
   * Makes no network call.
   */
  isSigned(
    ownerAddress: EvmAddress,
    input: {
      readonly chainId: number;
      readonly operation: UserOperation;
      readonly validUntil: Date;
    },
  ): Promise<boolean>;
  /**
   * Whether the only operation of a nonce key was executed, successfully or not, up to
   * `at.blockNumber` (default: the latest block).
   * @throws DomainError `chain_unavailable`
   */
  nonceUsed(
    chainId: number,
    sender: EvmAddress,
    nonceKey: bigint,
    at?: { readonly blockNumber: bigint },
  ): Promise<boolean>;
}
