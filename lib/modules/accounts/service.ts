import {
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  type Address,
  type Hex,
  type PublicClient,
} from "viem";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { Bundler, UserOperation, UserOperationGas, UserOperationReceipt } from "@/lib/ports/bundler";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import type { SmartAccounts } from "@/lib/ports/smart-accounts";

const CALL_GAS_MARGIN_PERCENT = 135n;

const multicall3 = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
  "function getEthBalance(address addr) view returns (uint256 balance)",
]);

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

export interface LegCalls {
  readonly account: ManagedAccount;
  readonly chainId: number;
  /** Names the nonce: whatever is signed for a leg, the entry point executes one operation of it at most. */
  readonly legId: string;
  readonly calls: readonly Call[];
}

export interface Watched {
  readonly owner: EvmAddress;
  readonly token: Token;
}

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

/** User operations of managed accounts: simulate, sign, submit, and ask how they went. */
export const createAccountsService = ({ registry, smartAccounts, bundler }: AccountsDeps) => {
  const draft = async ({ account, chainId, legId, calls }: LegCalls): Promise<UserOperation> =>
    smartAccounts.draft({
      chainId,
      ownerAddress: account.ownerAddress,
      calls,
      nonceKey: nonceKeyOf(legId),
      fees: await bundler.fees(chainId),
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

  return {
    simulate,

    /** A signed user operation, not sent yet. The account's deployment is part of it where that is still to be done. */
    sign: async (
      input: LegCalls & { gas: UserOperationGas; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` }> => {
      const { account, chainId, gas, validUntil } = input;
      const prepared = await smartAccounts.prepare({ chainId, draft: await draft(input), gas, validUntil });
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

    submit: async (chainId: number, operation: UserOperation): Promise<void> => {
      await bundler.submit(chainId, operation);
    },

    receipt: (chainId: number, userOpHash: `0x${string}`, fromBlock: bigint): Promise<UserOperationReceipt | null> =>
      bundler.receipt(chainId, userOpHash, fromBlock),
  };
};

export type AccountsService = ReturnType<typeof createAccountsService>;

const balanceRead = (multicall: Address, { owner, token }: Watched): Call3 =>
  token.address === "native"
    ? call3(multicall, encodeFunctionData({ abi: multicall3, functionName: "getEthBalance", args: [owner] }))
    : call3(token.address, encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }));

interface Call3 {
  readonly target: Address;
  readonly allowFailure: boolean;
  readonly callData: Hex;
}

const call3 = (target: Address, callData: Hex): Call3 => ({ target, allowFailure: false, callData });

/**
 * Balances, the account's calls, and the balances again in one `eth_call`. Multicall3's code stands in for the entry point's, which is
 * whom an account obeys without a signature; its deployment goes first where it is still to be done.
 */
const balanceChanges = async (
  client: PublicClient,
  contracts: { multicall3: Address; entryPoint: Address },
  { sender, callData, factory, factoryData }: UserOperation,
  watched: readonly Watched[],
): Promise<bigint[]> => {
  const reads = watched.map((each) => balanceRead(contracts.multicall3, each));
  const deployment = factory && factoryData ? [call3(factory, factoryData)] : [];
  const calls = [...deployment, ...reads, call3(sender, callData), ...reads];
  const code = await client.getCode({ address: contracts.multicall3 });
  const { data } = await client.call({
    to: contracts.entryPoint,
    data: encodeFunctionData({ abi: multicall3, functionName: "aggregate3", args: [calls] }),
    stateOverride: [{ address: contracts.entryPoint, code: code ?? "0x" }],
  });
  const results = decodeFunctionResult({ abi: multicall3, functionName: "aggregate3", data: data ?? "0x" });
  const value = (index: number): bigint => {
    const answer = results[index]?.returnData;
    if (answer === undefined || answer === "0x")
      throw new DomainError("simulation_failed", "A token did not tell its balance.");
    return BigInt(answer);
  };
  const first = deployment.length;
  return watched.map((_, index) => value(first + reads.length + 1 + index) - value(first + index));
};
