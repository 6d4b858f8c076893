import type { TypedDataDefinition } from "viem";
import type { UserOperation, UserOperationGas } from "./bundler";
import type { Call, EvmAddress } from "./routing";
import type { SignerScope } from "./signer";

type Hex = `0x${string}`;

/** In wei per gas (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Payments out of the account, all or none. */
export interface AccountPayout {
  /** Address of the token, or `native` for the chain's coin. */
  readonly token: EvmAddress | "native";
  /** At least one; amounts in base units, above zero. */
  readonly rows: readonly { readonly recipient: EvmAddress; readonly amountBase: bigint }[];
}

/**
 * The work of an account: at least one call, made in this order, all or none; or a payout. The account delegates only payouts, and only
 * to the distributor of the chain's configuration.
 */
export type AccountWork = { readonly calls: readonly Call[] } | { readonly payout: AccountPayout };

export type DraftRequest = AccountWork & DraftOptions;

interface DraftOptions {
  readonly chainId: number;
  readonly ownerAddress: EvmAddress;
  /** 192 bits. The operation gets sequence 0 of it, so that one key is spent at most once. @see nonceKeyOf */
  readonly nonceKey: bigint;
  readonly fees: Fees;
  /** Whether the chain's paymaster bears the fees. Default: wherever the chain has one. */
  readonly sponsored?: boolean;
}

export interface PrepareRequest {
  readonly chainId: number;
  /** The result of `draft`. */
  readonly draft: UserOperation;
  /** The result of `Bundler.estimateGas` for the draft. */
  readonly gas: UserOperationGas;
  /** After this the operation can never be executed. Whole seconds; the rest is cut off. */
  readonly validUntil: Date;
}

/** An operation that only lacks its owner's signature. */
export interface PreparedUserOperation {
  readonly chainId: number;
  /** Carries a dummy signature. */
  readonly operation: UserOperation;
  readonly validUntil: Date;
  /** The EIP-712 message `SafeOp` for the owner to sign. Its numbers are bigints. */
  readonly typedData: TypedDataDefinition;
  /** Identifies the operation (ERC-4337); it does not depend on the signature. */
  readonly userOpHash: Hex;
}

/**
 * Smart accounts of one owner each, at the same address on every chain, whether deployed or not.
 * An operation goes through `draft`, `Bundler.estimateGas`, `prepare`, `sign` (or the owner's own wallet and `withSignature`) and
 * `Bundler.submit`.
 * @example
 * const draft = await accounts.draft({ chainId, ownerAddress, calls, nonceKey, fees: await bundler.fees(chainId) });
 * const gas = await bundler.estimateGas(chainId, draft);
 * const prepared = accounts.prepare({ chainId, draft, gas, validUntil });
 * await bundler.submit(chainId, await accounts.sign({ keyId, projectId }, prepared));
 */
export interface SmartAccounts {
  /** Salt nonce of every account: with the owner and the contracts it makes the address. */
  readonly saltNonce: bigint;
  addressOf(ownerAddress: EvmAddress): Promise<EvmAddress>;
  /** In the order of `addresses`. @throws DomainError `chain_unavailable` */
  isDeployed(chainId: number, addresses: readonly EvmAddress[]): Promise<readonly boolean[]>;
  /** The call that deploys the account. Anybody may make it; a second one reverts. */
  deployment(ownerAddress: EvmAddress): Promise<Call>;
  /**
   * Operation with zero gas and a stub signature, for the estimate.
   * @throws DomainError `chain_unavailable`, `provider_error` when the code of the configured distributor is another one than this release expects
   */
  draft(request: DraftRequest): Promise<UserOperation>;
  /** Sets the gas, after which only the owner's signature is missing. No network call. */
  prepare(request: PrepareRequest): PreparedUserOperation;
  /** Signs with a managed key, which must be the account's owner. */
  sign(scope: SignerScope, prepared: PreparedUserOperation): Promise<UserOperation>;
  /** Puts in the owner's signature over `typedData` (65 bytes). @throws DomainError `invalid_signature` */
  withSignature(prepared: Pick<PreparedUserOperation, "operation" | "validUntil">, signature: Hex): UserOperation;
  /**
   * Whether the key's only operation was executed (with whatever outcome), as of `at.blockNumber` or the latest block.
   * @throws DomainError `chain_unavailable`
   */
  nonceUsed(
    chainId: number,
    sender: EvmAddress,
    nonceKey: bigint,
    at?: { readonly blockNumber: bigint },
  ): Promise<boolean>;
}
