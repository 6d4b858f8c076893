import type { Hex, TypedDataDefinition } from "viem";
import { balanceChangesIn, probePayout, type PayoutProbe } from "@/lib/chains/payout-probe";
import { chainCall } from "@/lib/chains/registry";
import type {
  ReceiptCheck,
  SubmitOptions,
  UserOperation,
  UserOperationGas,
  UserOperationReceipt,
} from "@/lib/ports/bundler";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import type { AccountPayout } from "@/lib/ports/smart-accounts";
import { createAccountQuestions } from "./account-questions";
import { createExecutedAttempts, createSponsoredGas } from "./executed-attempts";
import { createPermit2 } from "./permit2";
import { createPermits } from "./permits";
import {
  draftOperation,
  evenIfDeployedMeanwhile,
  simulate,
  simulatePermitted,
  type AccountsDeps,
  type LegCalls,
  type LegWork,
  type ManagedAccount,
  type PermittedCalls,
} from "./simulate-operation";
import {
  revertsOverdraft,
  simulateWalletCalls,
  withoutNeedlessApprovals,
  type WalletCalls,
  type WalletSimulation,
  type Watched,
} from "./wallet-calls";
import { createWalletTransactions } from "./wallet-transactions";

export { permit2NonceOf, permit2TypedData } from "./permit2";
export { permitTypedData, type Eip2612Permit } from "./permits";
export { permittedCalls, storedPermit, storedSignedPermit, type Permit, type SignedPermit } from "./permitted";
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

/** After the price lock ends, a signed operation has this long to be mined: in seconds. */
const VALIDITY_SECONDS_MIN = 120;
const VALIDITY_BLOCKS = 40;

/** How long a signed operation may take to be mined, in seconds. */
export const validitySeconds = (blockTimeMs: number): number =>
  Math.max(VALIDITY_SECONDS_MIN, Math.ceil((VALIDITY_BLOCKS * blockTimeMs) / 1000));

/** A reorganisation may put an operation into an earlier block than the head at the time of signing. */
const REORG_BLOCKS = 64n;

/** The first block that may contain an operation that was signed at `head`. */
export const searchFrom = (head: bigint): bigint => (head > REORG_BLOCKS ? head - REORG_BLOCKS : 0n);

export interface OwnerOperation {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  /** The typed data that the account's owner signs (EIP-712). */
  readonly typedData: TypedDataDefinition;
}

/** User operations of smart accounts: simulate, sign, submit, and follow them; and calls that plain wallets send. */
export const createSmartAccountsService = (deps: AccountsDeps) => {
  const { registry, smartAccounts, bundler } = deps;
  return {
    /** @throws DomainError `simulation_failed` with the reason, `chain_unavailable` */
    simulate: (input: LegCalls, watched: readonly Watched[]) =>
      evenIfDeployedMeanwhile(() => simulate(deps, input, watched)),
    /** Like `simulate`, for calls that take tokens by a permit that is not signed yet. */
    simulatePermitted: (input: PermittedCalls, watched: readonly Watched[]) =>
      evenIfDeployedMeanwhile(() => simulatePermitted(deps, input, watched)),

    /**
     * Gas with which the work succeeds now, without a margin: unlike a swap's, the gas of a payout hardly changes.
     * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
     */
    estimate: (input: LegWork): Promise<UserOperationGas> =>
      evenIfDeployedMeanwhile(async () => bundler.estimateGas(input.chainId, await draftOperation(deps, input))),

    /**
     * Simulates each row of a payout on its own.
     * @throws DomainError `chain_unavailable`
     */
    probePayout: (chainId: number, account: EvmAddress, payout: AccountPayout): Promise<PayoutProbe> =>
      chainCall(chainId, () => probePayout(registry.client(chainId), account, payout)),

    /** @throws DomainError `chain_unavailable`; the node's error when it no longer has the state of that block */
    balanceChangesIn: (chainId: number, token: EvmAddress, owners: readonly EvmAddress[], blockNumber: bigint) =>
      chainCall(chainId, () => balanceChangesIn(registry.client(chainId), token, owners, blockNumber)),

    /** The calls that a plain wallet has to send, each in its own transaction; needless approvals are left out. */
    neededCalls: (input: WalletCalls): Promise<readonly Call[]> => withoutNeedlessApprovals(registry, input),

    /** @throws DomainError `simulation_failed`, `chain_unavailable` */
    simulateWallet: (input: WalletCalls, watched: readonly Watched[]): Promise<WalletSimulation> =>
      simulateWalletCalls(registry, input, watched),

    permits: createPermits(registry),
    permit2: createPermit2(registry),
    sent: createWalletTransactions(registry),

    /** @throws DomainError `chain_unavailable` */
    revertsOverdraft: (input: Parameters<typeof revertsOverdraft>[1]): Promise<boolean> =>
      revertsOverdraft(registry, input),

    ...createAccountQuestions(deps),
    executedAttempts: createExecutedAttempts(deps),
    sponsoredGas: createSponsoredGas(deps),

    /**
     * Prepares an operation for the account's owner to sign. `deploys`: whether it may deploy the account if needed.
     */
    prepareForOwner: async (
      input: LegCalls & { gas: UserOperationGas; validUntil: Date; deploys: boolean },
    ): Promise<OwnerOperation> => {
      const { factory, factoryData, ...rest } = await draftOperation(deps, input);
      const deployment = input.deploys && factory && factoryData ? { factory, factoryData } : {};
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
     * Adds the owner's signature. The caller checks who signed.
     * @throws DomainError `invalid_signature` for bytes that are not a signature
     */
    withSignature: (operation: UserOperation, validUntil: Date, signature: Hex): UserOperation =>
      smartAccounts.withSignature({ operation, validUntil }, signature),

    /** Signs a user operation without sending it. It includes the account's deployment if that is still needed. */
    sign: async (
      input: LegWork & { account: ManagedAccount; gas: UserOperationGas; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` }> => {
      const { account, chainId, gas, validUntil } = input;
      const prepared = smartAccounts.prepare({ chainId, draft: await draftOperation(deps, input), gas, validUntil });
      const operation = await smartAccounts.sign({ keyId: account.keyId, projectId: account.projectId }, prepared);
      return { operation, userOpHash: prepared.userOpHash };
    },

    /**
     * Signs the operation again with more `preVerificationGas`. Its nonce, calls, fees and validity stay, so the chain executes at most
     * one of the two, to the same effect.
     * @returns null when the operation does not bear the account's own signature: it is not what was signed first
     */
    signAgain: async (
      account: ManagedAccount,
      chainId: number,
      input: { operation: UserOperation; preVerificationGas: bigint; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` } | null> => {
      const { operation: draft, preVerificationGas, validUntil } = input;
      if (!(await smartAccounts.isSigned(account.ownerAddress, { chainId, operation: draft, validUntil }))) return null;
      const { paymasterVerificationGasLimit = 0n, paymasterPostOpGasLimit = 0n, ...limits } = draft;
      const gas = { ...limits, paymasterVerificationGasLimit, paymasterPostOpGasLimit, preVerificationGas };
      const prepared = smartAccounts.prepare({ chainId, draft, gas, validUntil });
      const operation = await smartAccounts.sign({ keyId: account.keyId, projectId: account.projectId }, prepared);
      return { operation, userOpHash: prepared.userOpHash };
    },

    /** Hands a signed operation to the bundler. Its acceptance is no receipt; ask `receipt`. @throws as `Bundler.submit` does */
    submit: async (chainId: number, operation: UserOperation, options: SubmitOptions): Promise<void> => {
      await bundler.submit(chainId, operation, options);
    },

    /** As the port says: with `isExpected`, providers have to agree before the answer is another receipt or null. */
    receipt: (
      chainId: number,
      userOpHash: `0x${string}`,
      fromBlock: bigint,
      isExpected?: ReceiptCheck,
    ): Promise<UserOperationReceipt | null> => bundler.receipt(chainId, userOpHash, fromBlock, isExpected),
  };
};

export type SmartAccountsService = ReturnType<typeof createSmartAccountsService>;
