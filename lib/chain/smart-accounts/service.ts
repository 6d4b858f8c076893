import {
  concatHex,
  erc20Abi,
  type Hex,
  keccak256,
  numberToHex,
  type TypedDataDefinition,
} from "viem";
import { nonceKeyOf } from "@/lib/chain/erc4337/user-operation";
import type { FeeExcess } from "@/lib/core/capped-fees";
import { parentGasOf } from "@/lib/chain/fees";
import { chainCall } from "@/lib/chain/registry";
import type { Call, EvmAddress } from "@/lib/core/evm";
import {
  type AccountsDeps,
  draftOperation,
  evenIfDeployedMeanwhile,
  type LegCalls,
  type LegWork,
  type ManagedAccount,
  type PermittedCalls,
  simulate,
  simulatePermitted,
} from "./simulate-operation";
import { balanceChangesIn, type PayoutProbe, probePayout } from "@/lib/chain/payout-probe";
import type {
  ReceiptCheck,
  SubmitOptions,
  UserOperation,
  UserOperationGas,
  UserOperationReceipt,
} from "@/lib/chain/ports/bundler";
import type { AccountPayout } from "@/lib/chain/ports/smart-accounts";
import { createExecutedAttempts, createSponsoredGas } from "./executed-attempts";
import { createPermit2, createPermits } from "./permits";
import {
  revertsOverdraft,
  simulateWalletCalls,
  type WalletCalls,
  type WalletSimulation,
  type Watched,
  withoutNeedlessApprovals,
} from "./wallet-calls";
import { createWalletTransactions } from "./wallet-transactions";

const WORD_BYTES = 32;

/** Prefix of the code of an externally owned account with a delegation to a contract (EIP-7702). */
const DELEGATION = "0xef0100";

/**
 * Reads about accounts and chains. Each throws DomainError `chain_unavailable` when the chain does
 * not answer.
 */
const createAccountQuestions = ({ registry, smartAccounts, bundler }: AccountsDeps) => ({
  /**
   * Whether the address has contract code. An externally owned account with a delegation (EIP-7702)
   * does not count, because its key still signs.
   */
  isContract: async (chainId: number, address: EvmAddress): Promise<boolean> => {
    const code =
      (await chainCall(chainId, () => registry.client(chainId).getCode({ address }))) ?? "0x";
    return code !== "0x" && !code.startsWith(DELEGATION);
  },

  /** The maximum fee that the bundler suggests now, in wei per gas. */
  maxFeePerGas: async (chainId: number): Promise<bigint> =>
    (await bundler.fees(chainId)).maxFeePerGas,

  /**
   * The gas that corresponds to the parent chain's fee for this many bytes at the current price; 0
   * unless the chain is a configured rollup. Hashes are used as the bytes, because rollups cannot
   * compress them.
   */
  parentGas: (chainId: number, bytes: number): Promise<bigint> => {
    const { rollup, contracts } = registry.get(chainId);
    const words = Array.from({ length: Math.ceil(bytes / WORD_BYTES) }, (_, index) =>
      keccak256(numberToHex(index)),
    );
    const data = concatHex(words);
    const call = { chainId, rollup, to: contracts.entryPoint, data };
    return chainCall(chainId, () => parentGasOf(registry.client(chainId), call));
  },

  /** The current price and the cap, while the price is above the chain's cap; null otherwise. */
  feeExcess: async (chainId: number): Promise<FeeExcess | null> =>
    registry.get(chainId).feeCapGwei === undefined
      ? null
      : (await bundler.fees(chainId)).aboveCap,

  head: (chainId: number): Promise<{ number: bigint; timestamp: bigint }> =>
    chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" })),

  /** The amount that the spender may take from the owner, in base units. */
  allowance: (
    chainId: number,
    token: EvmAddress,
    owner: EvmAddress,
    spender: EvmAddress,
  ): Promise<bigint> =>
    chainCall(chainId, () =>
      registry.client(chainId).readContract({
        address: token,
        abi: erc20Abi,
        functionName: "allowance",
        args: [owner, spender],
      }),
    ),

  isDeployed: async (chainId: number, address: EvmAddress): Promise<boolean> => {
    const [deployed] = await smartAccounts.isDeployed(chainId, [address]);
    return deployed === true;
  },

  /** Whether an operation of the leg was executed, successfully or not. */
  wasExecuted: (
    chainId: number,
    address: EvmAddress,
    legId: string,
    at?: { readonly blockNumber: bigint },
  ): Promise<boolean> => smartAccounts.nonceUsed(chainId, address, nonceKeyOf(legId), at),
});

export { permit2NonceOf, permit2TypedData } from "./permits";
export { permitTypedData, type Eip2612Permit } from "./permits";
export {
  permittedCalls,
  storedPermit,
  storedSignedPermit,
  type Permit,
  type SignedPermit,
} from "./permits";
export { gasOfReplaced, type ExecutedAttempt } from "./executed-attempts";
export type { DeploymentClaims } from "./repository";
export { approvalOf, type Watched } from "./wallet-calls";
export type { SeenTransaction, TransactionReceipt } from "./wallet-transactions";
export type {
  AccountsDeps,
  LegCalls,
  LegWork,
  ManagedAccount,
  PermittedCalls,
  Simulation,
  SmartAccount,
} from "./simulate-operation";

/** The lowest result of `validitySeconds`, for chains with short block times. */
const VALIDITY_SECONDS_MIN = 120;
const VALIDITY_BLOCKS = 40;

/** How long a signed operation may take to be mined, in seconds. */
export const validitySeconds = (blockTimeMs: number): number =>
  Math.max(VALIDITY_SECONDS_MIN, Math.ceil((VALIDITY_BLOCKS * blockTimeMs) / 1000));

/**
 * Number of blocks, at the configured block time, before the head at which a search begins. A
 * reorganisation may move an operation into a block before the head at the time of signing.
 */
const REORG_BLOCKS = 64;

interface OwnerOperation {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  /** The typed data that the account's owner signs (EIP-712). */
  readonly typedData: TypedDataDefinition;
}

/**
 * Simulates, signs, submits and follows user operations of smart accounts, and simulates calls that
 * external wallets send.
 */
export const createSmartAccountsService = (deps: AccountsDeps) => {
  const { registry, smartAccounts, bundler } = deps;
  return {
    /**
     * Simulates a leg's calls.
     * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
     */
    simulate: (input: LegCalls, watched: readonly Watched[]) =>
      evenIfDeployedMeanwhile(() => simulate(deps, input, watched)),
    /** Like `simulate`, for calls that take tokens by a permit that is not signed yet. */
    simulatePermitted: (input: PermittedCalls, watched: readonly Watched[]) =>
      evenIfDeployedMeanwhile(() => simulatePermitted(deps, input, watched)),

    /**
     * The gas with which the work succeeds now. It has no margin, because the gas of a payout
     * hardly changes, unlike the gas of a swap.
     * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
     */
    estimate: (input: LegWork): Promise<UserOperationGas> =>
      evenIfDeployedMeanwhile(async () =>
        bundler.estimateGas(input.chainId, await draftOperation(deps, input)),
      ),

    /**
     * Simulates each row of a payout separately.
     * @throws DomainError `chain_unavailable`
     */
    probePayout: (
      chainId: number,
      account: EvmAddress,
      payout: AccountPayout,
    ): Promise<PayoutProbe> =>
      chainCall(chainId, () => probePayout(registry.client(chainId), account, payout)),

    /**
     * The change of each owner's token balance in a block.
     * @throws DomainError `chain_unavailable`; the node's error when it no longer has the state of
     * that block
     */
    balanceChangesIn: (
      chainId: number,
      token: EvmAddress,
      owners: readonly EvmAddress[],
      blockNumber: bigint,
    ) =>
      chainCall(chainId, () =>
        balanceChangesIn(registry.client(chainId), token, owners, blockNumber),
      ),

    /**
     * The calls that an external wallet must send, each in a separate transaction. Leaves out
     * needless approvals.
     */
    neededCalls: (input: WalletCalls): Promise<readonly Call[]> =>
      withoutNeedlessApprovals(registry, input),

    /**
     * Simulates the calls of an external wallet.
     * @throws DomainError `simulation_failed`, `chain_unavailable`
     */
    simulateWallet: (
      input: WalletCalls,
      watched: readonly Watched[],
    ): Promise<WalletSimulation> => simulateWalletCalls(registry, input, watched),

    /** The first block that may contain an operation that is signed at block `head`. */
    searchFrom: (chainId: number, head: bigint): bigint => {
      const blocks = BigInt(registry.atPace(chainId, REORG_BLOCKS));
      return head > blocks ? head - blocks : 0n;
    },

    permits: createPermits(registry),
    permit2: createPermit2(registry),
    sent: createWalletTransactions(registry),

    /**
     * See `revertsOverdraft`.
     * @throws DomainError `chain_unavailable`
     */
    revertsOverdraft: (input: Parameters<typeof revertsOverdraft>[1]): Promise<boolean> =>
      revertsOverdraft(registry, input),

    ...createAccountQuestions(deps),
    executedAttempts: createExecutedAttempts(deps),
    sponsoredGas: createSponsoredGas(deps),

    /**
     * Prepares an operation for the account's owner to sign. `deploys`: whether the operation
     * deploys the account if needed.
     */
    prepareForOwner: async (
      input: LegCalls & { gas: UserOperationGas; validUntil: Date; deploys: boolean },
    ): Promise<OwnerOperation> => {
      const { factory, factoryData, ...rest } = await draftOperation(deps, input);
      const deployment =
        input.deploys && factory && factoryData ? { factory, factoryData } : {};
      const { chainId, gas, validUntil } = input;
      const { operation, userOpHash, typedData } = smartAccounts.prepare({
        chainId,
        draft: { ...rest, ...deployment },
        gas,
        validUntil,
      });
      return { operation, userOpHash, typedData };
    },

    /**
     * Adds the owner's signature. The caller must check who signed.
     * @throws DomainError `invalid_signature` for bytes that are not a signature
     */
    withSignature: (
      operation: UserOperation,
      validUntil: Date,
      signature: Hex,
    ): UserOperation => smartAccounts.withSignature({ operation, validUntil }, signature),

    /**
     * Signs a user operation without sending it. The operation includes the account's deployment if
     * needed.
     */
    sign: async (
      input: LegWork & { account: ManagedAccount; gas: UserOperationGas; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` }> => {
      const { account, chainId, gas, validUntil } = input;
      const prepared = smartAccounts.prepare({
        chainId,
        draft: await draftOperation(deps, input),
        gas,
        validUntil,
      });
      const operation = await smartAccounts.sign(
        { keyId: account.keyId, projectId: account.projectId },
        prepared,
      );
      return { operation, userOpHash: prepared.userOpHash };
    },

    /**
     * Signs the operation again with more `preVerificationGas`. Its nonce, calls, fees and
     * validity stay the same, so the chain executes at most one of the two operations, with the
     * same effect.
     * @returns null when the passed operation lacks the signature of the account's owner, because
     * it is then not the operation that was signed first
     */
    signAgain: async (
      account: ManagedAccount,
      chainId: number,
      input: { operation: UserOperation; preVerificationGas: bigint; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` } | null> => {
      const { operation: draft, preVerificationGas, validUntil } = input;
      if (
        !(await smartAccounts.isSigned(account.ownerAddress, {
          chainId,
          operation: draft,
          validUntil,
        }))
      )
        return null;
      const {
        paymasterVerificationGasLimit = 0n,
        paymasterPostOpGasLimit = 0n,
        ...limits
      } = draft;
      const gas = {
        ...limits,
        paymasterVerificationGasLimit,
        paymasterPostOpGasLimit,
        preVerificationGas,
      };
      const prepared = smartAccounts.prepare({ chainId, draft, gas, validUntil });
      const operation = await smartAccounts.sign(
        { keyId: account.keyId, projectId: account.projectId },
        prepared,
      );
      return { operation, userOpHash: prepared.userOpHash };
    },

    /**
     * Submits a signed operation to the bundler. Acceptance does not mean execution; see `receipt`.
     * @throws the errors of `Bundler.submit`
     */
    submit: async (
      chainId: number,
      operation: UserOperation,
      options: SubmitOptions,
    ): Promise<void> => {
      await bundler.submit(chainId, operation, options);
    },

    /**
     * See `Bundler.receipt`. With `isExpected`, providers must agree before an unexpected receipt
     * or null is returned.
     */
    receipt: (
      chainId: number,
      userOpHash: `0x${string}`,
      fromBlock: bigint,
      isExpected?: ReceiptCheck,
    ): Promise<UserOperationReceipt | null> =>
      bundler.receipt(chainId, userOpHash, fromBlock, isExpected),
  };
};

export type SmartAccountsService = ReturnType<typeof createSmartAccountsService>;
