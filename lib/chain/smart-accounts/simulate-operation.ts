import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  type PublicClient,
} from "viem";
import { encodeCall } from "@/lib/chain/encode-call";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Bundler, UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import { balanceCall, simulatePermittedOperation, type Watched } from "./wallet-calls";
import { nonceKeyOf } from "@/lib/chain/erc4337/user-operation";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Call, EvmAddress } from "@/lib/core/evm";
import type { AccountWork, SmartAccounts } from "@/lib/chain/ports/smart-accounts";
import { type Permit, permittedCalls, type PermittedLeg } from "./permits";

const multicall3 = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
]);

const balanceRead = (multicall: Address, watched: Watched): Call3 => {
  const { to, data } = balanceCall(multicall, watched);
  return call3(to, data);
};

/**
 * For each client, the code of its chain's Multicall3 contract. The code is cached, because a
 * client belongs to one chain and a contract's code does not change.
 */
const multicallCodes = new WeakMap<PublicClient, Hex>();

const multicallCode = async (client: PublicClient, address: Address): Promise<Hex> => {
  const known = multicallCodes.get(client);
  if (known !== undefined) return known;
  const code = (await client.getCode({ address })) ?? "0x";
  if (code !== "0x") multicallCodes.set(client, code);
  return code;
};

interface Call3 {
  readonly target: Address;
  readonly allowFailure: boolean;
  readonly callData: Hex;
}

const call3 = (target: Address, callData: Hex): Call3 => ({
  target,
  allowFailure: false,
  callData,
});
/**
 * The call that deploys the account. It may fail, because another operation may have deployed the
 * account since this one was drafted.
 */
const deploymentCall = (factory: Address, factoryData: Hex): Call3 => ({
  ...call3(factory, factoryData),
  allowFailure: true,
});

/**
 * Reads balances, makes the account's calls, and reads the balances again, in one `eth_call`.
 * Multicall3's code replaces EntryPoint's, because an account accepts calls from EntryPoint's
 * address without a signature. An account that is not deployed yet is deployed first.
 */
const balanceChanges = async (
  client: PublicClient,
  contracts: { multicall3: Address; entryPoint: Address },
  { sender, callData, factory, factoryData }: UserOperation,
  watched: readonly Watched[],
): Promise<bigint[]> => {
  const reads = watched.map((each) => balanceRead(contracts.multicall3, each));
  const deployment = factory && factoryData ? [deploymentCall(factory, factoryData)] : [];
  const calls = [...deployment, ...reads, call3(sender, callData), ...reads];
  const code = await multicallCode(client, contracts.multicall3);
  const { data } = await client.call({
    to: contracts.entryPoint,
    data: encodeCall({ abi: multicall3, functionName: "aggregate3", args: [calls] }),
    stateOverride: [{ address: contracts.entryPoint, code }],
  });
  const results = decodeFunctionResult({
    abi: multicall3,
    functionName: "aggregate3",
    data: data ?? "0x",
  });
  const value = (index: number): bigint => {
    const answer = results[index]?.returnData;
    if (answer === undefined || answer === "0x")
      throw new DomainError(
        "simulation_failed",
        "A token's contract did not answer with its balance. Nothing was sent; try again shortly, or send another token.",
      );
    return BigInt(answer);
  };
  const first = deployment.length;
  return watched.map(
    (_, index) => value(first + reads.length + 1 + index) - value(first + index),
  );
};

/** An address without code and without a known key. */
const NOBODY: EvmAddress = "0x000000000000000000000000000000000000dEaD";
/** A dummy signature of the right size, which estimates do not verify. */
const EMPTY_SIGNATURE: Hex = `0x${"11".repeat(64)}1b`;
/**
 * For each permit standard, the gas for the check of the signature. The simulation has no
 * signature, so this gas is added.
 */
const SIGNATURE_GAS: Readonly<Record<Permit["standard"], bigint>> = {
  // One signature recovery, one new allowance and one nonce.
  eip2612: 120_000n,
  // One signature recovery, and storage reads that are cheap in the simulation because it reads the
  // balances first.
  permit2: 30_000n,
};

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

export type SmartAccount = Pick<ManagedAccount, "address" | "ownerAddress">;

interface LegPlace {
  readonly account: SmartAccount;
  readonly chainId: number;
  /**
   * Determines the nonce key, so that EntryPoint executes at most one operation of a leg, even when
   * several are signed.
   */
  readonly legId: string;
}

export interface LegCalls extends LegPlace {
  readonly calls: readonly Call[];
}

/** Calls of a leg, or the payout of one attempt at a batch. */
export type LegWork = LegPlace & AccountWork;

export interface Simulation {
  readonly gas: UserOperationGas;
  /** Change of each watched balance in base units; negative for outgoing amounts. */
  readonly changes: readonly bigint[];
}

/**
 * Adds a margin, because a pool does more work in the first swap of a block than the simulation may
 * show.
 */
const withCallMargin = (gas: UserOperationGas): UserOperationGas => ({
  ...gas,
  callGasLimit: (gas.callGasLimit * CALL_GAS_MARGIN_PERCENT) / 100n,
});

export interface PermittedCalls extends Omit<LegCalls, "calls"> {
  readonly permit: Permit;
  readonly leg: PermittedLeg;
}

/**
 * Recognises the error with which EntryPoint rejects the deployment of an existing account
 * (ERC-4337, error "AA10").
 */
const wasDeployedMeanwhile = (error: unknown): boolean =>
  isDomainError(error) &&
  error.code === "simulation_failed" &&
  String(error.extra.reason).startsWith("AA10");

/** Repeats the work once when the account was deployed between draft and estimate. */
export const evenIfDeployedMeanwhile = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (!wasDeployedMeanwhile(error)) throw error;
    return work();
  });

/** An unsigned operation without gas limits. @throws DomainError `chain_unavailable` */
export const draftOperation = async (
  { smartAccounts, bundler }: AccountsDeps,
  input: LegWork,
): Promise<UserOperation> =>
  smartAccounts.draft({
    ...("payout" in input ? { payout: input.payout } : { calls: input.calls }),
    chainId: input.chainId,
    ownerAddress: input.account.ownerAddress,
    nonceKey: nonceKeyOf(input.legId),
    fees: await bundler.fees(input.chainId),
  });

/**
 * Simulates the calls on the chain's latest state. Nothing is signed, so no node gets an operation
 * that it could send before `execute`.
 * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
 */
export const simulate = async (
  deps: AccountsDeps,
  input: LegCalls,
  watched: readonly Watched[],
): Promise<Simulation> => {
  const { registry, bundler } = deps;
  const operation = await draftOperation(deps, input);
  const gas = withCallMargin(await bundler.estimateGas(input.chainId, operation));
  const { contracts } = registry.get(input.chainId);
  const changes = await chainCall(input.chainId, () =>
    balanceChanges(registry.client(input.chainId), contracts, operation, watched),
  );
  return { gas, changes };
};

/**
 * Calls of the same size without effect. They measure the operation's overhead; the gas of the real
 * calls is measured separately.
 */
const withoutEffect = (calls: readonly Call[]): Call[] =>
  calls.map(({ data }) => ({ to: NOBODY, data, value: 0n }));

/**
 * Like `simulate`, for calls that first take tokens by a permit that is not signed yet.
 * @throws DomainError `simulation_failed`, `chain_unavailable`
 */
export const simulatePermitted = async (
  deps: AccountsDeps,
  input: PermittedCalls,
  watched: readonly Watched[],
): Promise<Simulation> => {
  const { registry, bundler } = deps;
  const { permit, chainId, leg } = input;
  const { standard, token, owner, spender, value } = permit;
  const unsigned = { ...permit, signature: EMPTY_SIGNATURE };
  const [operation, idle] = await Promise.all([
    draftOperation(deps, {
      ...input,
      calls: permittedCalls(unsigned, { ...leg, isAllowed: true }),
    }),
    draftOperation(deps, {
      ...input,
      calls: withoutEffect(permittedCalls(unsigned, { ...leg, isAllowed: false })),
    }),
  ]);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [spender, value],
  });
  const approve = standard === "eip2612" ? { to: token, value: 0n, data } : null;
  const [gas, { callGas, changes }] = await Promise.all([
    bundler.estimateGas(chainId, idle),
    simulatePermittedOperation(
      registry,
      { chainId, operation, wallet: owner, approve },
      watched,
    ),
  ]);
  const callGasLimit = gas.callGasLimit + callGas + SIGNATURE_GAS[standard];
  return { gas: withCallMargin({ ...gas, callGasLimit }), changes };
};
