import { encodeFunctionData, erc20Abi, parseAbi, type Address, type PublicClient } from "viem";
import { entryPoint07Abi, toPackedUserOperation } from "viem/account-abstraction";
import { nonceKeyOf } from "@/lib/chains/erc4337/nonce";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { Bundler, UserOperation, UserOperationGas, UserOperationReceipt } from "@/lib/ports/bundler";
import type { Call, EvmAddress } from "@/lib/ports/routing";
import type { SmartAccounts } from "@/lib/ports/smart-accounts";

const SIMULATION_VALID_SECONDS = 120;
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
  clock: Clock;
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
export const createAccountsService = ({ registry, smartAccounts, bundler, clock }: AccountsDeps) => {
  const signWith = async (input: LegCalls & { gas: UserOperationGas; validUntil: Date; draft: UserOperation }) => {
    const prepared = await smartAccounts.prepare({
      chainId: input.chainId,
      draft: input.draft,
      gas: input.gas,
      validUntil: input.validUntil,
    });
    const operation = await smartAccounts.sign(
      { keyId: input.account.keyId, projectId: input.account.projectId },
      prepared,
    );
    return { operation, userOpHash: prepared.userOpHash };
  };

  const draft = async ({ account, chainId, legId, calls }: LegCalls): Promise<UserOperation> =>
    smartAccounts.draft({
      chainId,
      ownerAddress: account.ownerAddress,
      calls,
      nonceKey: nonceKeyOf(legId),
      fees: await bundler.fees(chainId),
    });

  /**
   * Runs the calls against the chain's latest state without sending them.
   * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
   */
  const simulate = async (input: LegCalls, watched: readonly Watched[]): Promise<Simulation> => {
    const unsigned = await draft(input);
    const gas = withCallMargin(await bundler.estimateGas(input.chainId, unsigned));
    const validUntil = addSeconds(clock.now(), SIMULATION_VALID_SECONDS);
    const { operation } = await signWith({ ...input, gas, validUntil, draft: unsigned });
    const { contracts } = registry.get(input.chainId);
    const changes = await chainCall(input.chainId, () =>
      balanceChanges(
        registry.client(input.chainId),
        contracts,
        { operation, beneficiary: input.account.ownerAddress },
        watched,
      ),
    );
    return { gas, changes };
  };

  return {
    simulate,

    /** A signed user operation, not sent yet. The account's deployment is part of it where that is still to be done. */
    sign: async (
      input: LegCalls & { gas: UserOperationGas; validUntil: Date },
    ): Promise<{ operation: UserOperation; userOpHash: `0x${string}` }> =>
      signWith({ ...input, draft: await draft(input) }),

    isDeployed: async (chainId: number, address: EvmAddress): Promise<boolean> => {
      const [deployed] = await smartAccounts.isDeployed(chainId, [address]);
      return deployed === true;
    },

    /** Whether an operation of the leg was executed, whatever its outcome. */
    wasExecuted: (chainId: number, address: EvmAddress, legId: string): Promise<boolean> =>
      smartAccounts.nonceUsed(chainId, address, nonceKeyOf(legId)),

    submit: async (chainId: number, operation: UserOperation): Promise<void> => {
      await bundler.submit(chainId, operation);
    },

    receipt: (chainId: number, userOpHash: `0x${string}`, fromBlock: bigint): Promise<UserOperationReceipt | null> =>
      bundler.receipt(chainId, userOpHash, fromBlock),
  };
};

export type AccountsService = ReturnType<typeof createAccountsService>;

/** Balances, the operation, and the balances again in one `eth_call`, so that every node can simulate it. */
const balanceChanges = async (
  client: PublicClient,
  contracts: { multicall3: Address; entryPoint: Address },
  { operation, beneficiary }: { operation: UserOperation; beneficiary: Address },
  watched: readonly Watched[],
): Promise<bigint[]> => {
  const reads = watched.map(({ owner, token }) =>
    token.address === "native"
      ? {
          target: contracts.multicall3,
          allowFailure: false,
          callData: encodeFunctionData({ abi: multicall3, functionName: "getEthBalance", args: [owner] }),
        }
      : {
          target: token.address,
          allowFailure: false,
          callData: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
        },
  );
  const execute = {
    target: contracts.entryPoint,
    allowFailure: false,
    callData: encodeFunctionData({
      abi: entryPoint07Abi,
      functionName: "handleOps",
      // Whom the entry point pays its fees does not matter here, as long as it can take coins.
      args: [[toPackedUserOperation(operation)], beneficiary],
    }),
  };
  const { result } = await client.simulateContract({
    address: contracts.multicall3,
    abi: multicall3,
    functionName: "aggregate3",
    args: [[...reads, execute, ...reads]],
  });
  const value = (index: number): bigint => {
    const data = result[index]?.returnData;
    if (data === undefined || data === "0x")
      throw new DomainError("simulation_failed", "A token did not tell its balance.");
    return BigInt(data);
  };
  return watched.map((_, index) => value(index + reads.length + 1) - value(index));
};
