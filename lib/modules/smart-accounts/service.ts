import { encodeFunctionData, erc20Abi, type Hex, type TypedDataDefinition } from "viem";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import { balanceChangesIn, probePayout, type PayoutProbe } from "@/lib/chains/payout-probe";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { isDomainError } from "@/lib/core/errors";
import type {
  Bundler,
  SubmitOptions,
  UserOperation,
  UserOperationGas,
  UserOperationReceipt,
} from "@/lib/ports/bundler";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import type { AccountPayout, AccountWork, SmartAccounts } from "@/lib/ports/smart-accounts";
import { balanceChanges } from "./balance-changes";
import { createPermit2 } from "./permit2";
import { createPermits } from "./permits";
import { permittedCalls, type Permit, type PermittedLeg } from "./permitted";
import {
  revertsOverdraft,
  simulatePermittedOperation,
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
export type { DeploymentClaims } from "./repository";
export { approvalOf, type Watched } from "./wallet-calls";
export type { SeenTransaction, TransactionReceipt } from "./wallet-transactions";

/** Nobody has its key, and no code is there. */
const NOBODY: EvmAddress = "0x000000000000000000000000000000000000dEaD";
/** Of the right size; an estimate looks at nothing else. */
const EMPTY_SIGNATURE: Hex = `0x${"11".repeat(64)}1b`;
/** What a signature adds to what a simulation without it uses. */
const SIGNATURE_GAS: Readonly<Record<Permit["standard"], bigint>> = {
  // One recovery, one new allowance, one nonce.
  eip2612: 120_000n,
  // A recovery; and storage is cold of which the simulation has read balances first.
  permit2: 30_000n,
};

/** How the code of an account begins that lets a contract act for it (EIP-7702). */
const DELEGATION = "0xef0100";

const CALL_GAS_MARGIN_PERCENT = 135n;

/** A smart account for which the service holds the owner's key. */
export interface ManagedAccount {
  readonly projectId: string;
  readonly address: EvmAddress;
  readonly ownerAddress: EvmAddress;
  readonly keyId: string;
}

export interface AccountsDeps {
  registry: ChainRegistry;
  smartAccounts: SmartAccounts;
  bundler: Bundler;
}

/** A smart account, whoever signs for it. */
export type SmartAccount = Pick<ManagedAccount, "address" | "ownerAddress">;

interface LegPlace {
  readonly account: SmartAccount;
  readonly chainId: number;
  /** Names the nonce: whatever is signed for a leg, the entry point executes one operation of it at most. */
  readonly legId: string;
}

export interface LegCalls extends LegPlace {
  readonly calls: readonly Call[];
}

/** Calls of a leg, or the payout of one attempt at a batch. */
export type LegWork = LegPlace & AccountWork;

export interface Simulation {
  readonly gas: UserOperationGas;
  /** How each watched balance changes, in base units; negative for what leaves. */
  readonly changes: readonly bigint[];
}

/** Pools do more work in the first swap of a block than in later ones, so what was enough in the simulation may not be later. */
const withCallMargin = (gas: UserOperationGas): UserOperationGas => ({
  ...gas,
  callGasLimit: (gas.callGasLimit * CALL_GAS_MARGIN_PERCENT) / 100n,
});

/** After the price lock ends, a signed operation has this long to be mined: in seconds. */
const VALIDITY_SECONDS_MIN = 120;
const VALIDITY_BLOCKS = 40;

/** How long a signed operation may take to be mined, in seconds. */
export const validitySeconds = (blockTimeMs: number): number =>
  Math.max(VALIDITY_SECONDS_MIN, Math.ceil((VALIDITY_BLOCKS * blockTimeMs) / 1000));

/** A reorganisation may bring what was signed into an earlier block than the one that was the head then. */
const REORG_BLOCKS = 64n;

/** The block from which on what is signed at `head` may be found. */
export const searchFrom = (head: bigint): bigint => (head > REORG_BLOCKS ? head - REORG_BLOCKS : 0n);

/** What the spender of a permit that is still to be signed would do. */
export interface PermittedCalls extends Omit<LegCalls, "calls"> {
  readonly permit: Permit;
  readonly leg: PermittedLeg;
}

export interface OwnerOperation {
  readonly operation: UserOperation;
  readonly userOpHash: Hex;
  /** What the account's owner signs. */
  readonly typedData: TypedDataDefinition;
}

/** EntryPoint's word for an operation that would deploy an account which is there by now (ERC-4337, "AA10"). */
const wasDeployedMeanwhile = (error: unknown): boolean =>
  isDomainError(error) && error.code === "simulation_failed" && String(error.extra.reason).startsWith("AA10");

/** Another operation of the account may deploy it between draft and estimate: the next draft knows. */
const evenIfDeployedMeanwhile = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (!wasDeployedMeanwhile(error)) throw error;
    return work();
  });

/** User operations of smart accounts: simulate, sign, submit, and ask how they went; and what plain wallets send. */
export const createSmartAccountsService = ({ registry, smartAccounts, bundler }: AccountsDeps) => {
  const draft = async (input: LegWork): Promise<UserOperation> =>
    smartAccounts.draft({
      ...("payout" in input ? { payout: input.payout } : { calls: input.calls }),
      chainId: input.chainId,
      ownerAddress: input.account.ownerAddress,
      nonceKey: nonceKeyOf(input.legId),
      fees: await bundler.fees(input.chainId),
    });

  /**
   * Runs the calls against the chain's latest state. Nothing is signed for it, so that no node ever holds an operation that it
   * could send before `execute` was called.
   * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
   */
  const simulate = async (input: LegCalls, watched: readonly Watched[]): Promise<Simulation> => {
    const operation = await draft(input);
    const gas = withCallMargin(await bundler.estimateGas(input.chainId, operation));
    const { contracts } = registry.get(input.chainId);
    const changes = await chainCall(input.chainId, () =>
      balanceChanges(registry.client(input.chainId), contracts, operation, watched),
    );
    return { gas, changes };
  };

  /** Operations of the same size that do nothing: what the real calls cost is measured by themselves. */
  const withoutEffect = (calls: readonly Call[]): Call[] => calls.map(({ data }) => ({ to: NOBODY, data, value: 0n }));

  /**
   * As `simulate`, for calls that begin with taking tokens by a permit that is not signed yet.
   * @throws DomainError `simulation_failed`, `chain_unavailable`
   */
  const simulatePermitted = async (input: PermittedCalls, watched: readonly Watched[]): Promise<Simulation> => {
    const { permit, chainId, leg } = input;
    const { standard, token, owner, spender, value } = permit;
    const unsigned = { ...permit, signature: EMPTY_SIGNATURE };
    const [operation, idle] = await Promise.all([
      draft({ ...input, calls: permittedCalls(unsigned, { ...leg, isAllowed: true }) }),
      draft({ ...input, calls: withoutEffect(permittedCalls(unsigned, { ...leg, isAllowed: false })) }),
    ]);
    const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, value] });
    const approve = standard === "eip2612" ? { to: token, value: 0n, data } : null;
    const [gas, { callGas, changes }] = await Promise.all([
      bundler.estimateGas(chainId, idle),
      simulatePermittedOperation(registry, { chainId, operation, wallet: owner, approve }, watched),
    ]);
    const callGasLimit = gas.callGasLimit + callGas + SIGNATURE_GAS[standard];
    return { gas: withCallMargin({ ...gas, callGasLimit }), changes };
  };

  return {
    simulate: (input: LegCalls, watched: readonly Watched[]) => evenIfDeployedMeanwhile(() => simulate(input, watched)),
    simulatePermitted: (input: PermittedCalls, watched: readonly Watched[]) =>
      evenIfDeployedMeanwhile(() => simulatePermitted(input, watched)),

    /**
     * Gas with which the work succeeds now. Nothing is added to it: unlike a swap's, the cost of a payout hardly changes.
     * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
     */
    estimate: (input: LegWork): Promise<UserOperationGas> =>
      evenIfDeployedMeanwhile(async () => bundler.estimateGas(input.chainId, await draft(input))),

    /** Tries each row of a payout by itself. @throws DomainError `chain_unavailable` */
    probePayout: (chainId: number, account: EvmAddress, payout: AccountPayout): Promise<PayoutProbe> =>
      chainCall(chainId, () => probePayout(registry.client(chainId), account, payout)),

    /** @throws DomainError `chain_unavailable`; what the node answers when it no longer knows the state of that block */
    balanceChangesIn: (chainId: number, token: EvmAddress, owners: readonly EvmAddress[], blockNumber: bigint) =>
      chainCall(chainId, () => balanceChangesIn(registry.client(chainId), token, owners, blockNumber)),

    /** What a plain wallet has to send for these calls, each call in a transaction of its own. */
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

    /** Whether code is there that decides by itself. A plain account that has delegated (EIP-7702) still signs. */
    isContract: async (chainId: number, address: EvmAddress): Promise<boolean> => {
      const code = (await chainCall(chainId, () => registry.client(chainId).getCode({ address }))) ?? "0x";
      return code !== "0x" && !code.startsWith(DELEGATION);
    },

    /** In wei per gas. */
    maxFeePerGas: async (chainId: number): Promise<bigint> => (await bundler.fees(chainId)).maxFeePerGas,

    head: (chainId: number): Promise<{ number: bigint; timestamp: bigint }> =>
      chainCall(chainId, () => registry.client(chainId).getBlock({ blockTag: "latest" })),

    /** How much of the holder's tokens the spender may take now. */
    allowance: (chainId: number, token: EvmAddress, owner: EvmAddress, spender: EvmAddress): Promise<bigint> =>
      chainCall(chainId, () =>
        registry
          .client(chainId)
          .readContract({ address: token, abi: erc20Abi, functionName: "allowance", args: [owner, spender] }),
      ),

    /** An operation for the account's owner to sign. `deploys`: whether it may deploy the account where that is to be done. */
    prepareForOwner: async (
      input: LegCalls & { gas: UserOperationGas; validUntil: Date; deploys: boolean },
    ): Promise<OwnerOperation> => {
      const { factory, factoryData, ...rest } = await draft(input);
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

    /** @throws DomainError `invalid_signature` for what is no signature at all; who signed is for the caller to check */
    withSignature: (operation: UserOperation, validUntil: Date, signature: Hex): UserOperation =>
      smartAccounts.withSignature({ operation, validUntil }, signature),

    /** A signed user operation, not sent yet. The account's deployment is part of it where that is still to be done. */
    sign: async (
      input: LegWork & { account: ManagedAccount; gas: UserOperationGas; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` }> => {
      const { account, chainId, gas, validUntil } = input;
      const prepared = smartAccounts.prepare({ chainId, draft: await draft(input), gas, validUntil });
      const operation = await smartAccounts.sign({ keyId: account.keyId, projectId: account.projectId }, prepared);
      return { operation, userOpHash: prepared.userOpHash };
    },

    isDeployed: async (chainId: number, address: EvmAddress): Promise<boolean> => {
      const [deployed] = await smartAccounts.isDeployed(chainId, [address]);
      return deployed === true;
    },

    /** Whether an operation of the leg was executed, whatever its outcome. */
    wasExecuted: (
      chainId: number,
      address: EvmAddress,
      legId: string,
      at?: { readonly blockNumber: bigint },
    ): Promise<boolean> => smartAccounts.nonceUsed(chainId, address, nonceKeyOf(legId), at),

    submit: async (chainId: number, operation: UserOperation, options: SubmitOptions): Promise<void> => {
      await bundler.submit(chainId, operation, options);
    },

    receipt: (chainId: number, userOpHash: `0x${string}`, fromBlock: bigint): Promise<UserOperationReceipt | null> =>
      bundler.receipt(chainId, userOpHash, fromBlock),
  };
};

export type SmartAccountsService = ReturnType<typeof createSmartAccountsService>;
