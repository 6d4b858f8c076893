import { decodeFunctionData, erc20Abi, parseAbi, size, type Address, type Hex } from "viem";
import { contractsAmong } from "@/lib/chain/contract-probe";
import { encodeCall } from "@/lib/chain/encode-call";
import { revertReasonOf } from "@/lib/chain/erc4337/marked-paymaster";
import { parentGasOf } from "@/lib/chain/fees";
import {
  asProbe,
  probe,
  probeInput,
  type ProbeCall,
  type ProbeResult,
} from "@/lib/chain/probe";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { Call, EvmAddress } from "@/lib/core/evm";

export interface Watched {
  readonly owner: EvmAddress;
  readonly token: Token;
}

const TRANSACTION_BASE_GAS = 21_000n;
const GAS_PER_BYTE = 16n;
/**
 * Gas that is added for each call: in one simulated sequence, later calls find warm storage that is
 * cold in separate transactions.
 */
const COLD_GAS = 60_000n;
/**
 * Gas limit in percent of the measured gas. Pools do more work in the first swap of a block than
 * the simulation shows.
 */
const MARGIN_PERCENT = 135n;

const multicall3Abi = parseAbi([
  "function getEthBalance(address addr) view returns (uint256 balance)",
]);

export const balanceCall = (multicall3: Address, { owner, token }: Watched): ProbeCall =>
  token.address === "native"
    ? {
        to: multicall3,
        data: encodeCall({ abi: multicall3Abi, functionName: "getEthBalance", args: [owner] }),
      }
    : {
        to: token.address,
        data: encodeCall({ abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
      };

const balanceOf = (result: ProbeResult | undefined): bigint => {
  if (result?.success !== true || result.returnData === "0x")
    throw new DomainError(
      "simulation_failed",
      "A token's contract did not answer with its balance. Nothing was sent; try again shortly, or send another token.",
    );
  return BigInt(result.returnData);
};

const refused = (registry: ChainRegistry, chainId: number, returnData: Hex): DomainError => {
  const reason = revertReasonOf(returnData).text;
  return new DomainError(
    "simulation_failed",
    `${registry.get(chainId).name} would not execute this: ${reason}. Nothing was sent.`,
    { extra: { reason } },
  );
};

export interface WalletCalls {
  readonly chainId: number;
  readonly wallet: EvmAddress;
  readonly calls: readonly Call[];
}

export interface WalletSimulation {
  /** A gas limit for each call as a separate transaction. */
  readonly gas: readonly bigint[];
  /** Change of each watched balance in base units, without network fees. */
  readonly changes: readonly bigint[];
  /**
   * The approximate gas of all calls. Includes the gas that corresponds to a rollup's fee for their
   * data on the parent chain.
   */
  readonly expectedGas: bigint;
  /** The wallet's coin balance before the calls, in wei. */
  readonly coins: bigint;
}

/**
 * The gas that corresponds to the parent chain's fee for each call's data, because each call is a
 * separate transaction.
 */
const parentGasOfCalls = (
  registry: ChainRegistry,
  chainId: number,
  calls: readonly Call[],
): Promise<bigint[]> => {
  const { rollup } = registry.get(chainId);
  const client = registry.client(chainId);
  return Promise.all(
    calls.map(({ to, data }) => parentGasOf(client, { chainId, rollup, to, data })),
  );
};

/**
 * Simulates calls of an external wallet one after another on the chain's latest state. Needs no
 * signature: in one `eth_call`, the wallet's address temporarily has code that makes the calls.
 * @throws DomainError `simulation_failed` with the reason, `chain_unavailable`
 */
export const simulateWalletCalls = async (
  registry: ChainRegistry,
  { chainId, wallet, calls }: WalletCalls,
  watched: readonly Watched[],
): Promise<WalletSimulation> => {
  const { multicall3 } = registry.get(chainId).contracts;
  const coin = { owner: wallet, token: registry.native(chainId) };
  const reads = [coin, ...watched].map((each) => balanceCall(multicall3, each));
  const results = await chainCall(chainId, () =>
    probe(registry.client(chainId), wallet, [...reads, ...calls, ...reads]),
  );
  const made = results.slice(reads.length, reads.length + calls.length);
  const failed = made.find((result) => !result.success);
  if (failed !== undefined) throw refused(registry, chainId, failed.returnData);
  const after = reads.length + calls.length;
  const client = registry.client(chainId);
  const [parentGas, isContract] = await chainCall(chainId, () =>
    Promise.all([
      parentGasOfCalls(registry, chainId, calls),
      contractsAmong(
        client,
        calls.map(({ to }) => to),
      ),
    ]),
  );
  const used = made.map(
    ({ gasUsed }, index) =>
      TRANSACTION_BASE_GAS + BigInt(size(calls[index]?.data ?? "0x")) * GAS_PER_BYTE + gasUsed,
  );
  const isUsed = registry.get(chainId).rollup === "arbitrum";
  const limits = used.map((gas, index) =>
    // A transfer of coins to an externally owned account always uses the same gas. A transfer to a
    // contract runs the contract's code, so it needs the margin.
    calls[index]?.data === "0x" && isContract[index] !== true
      ? gas
      : ((gas + COLD_GAS) * MARGIN_PERCENT) / 100n,
  );
  return {
    gas: limits.map((gas, index) => gas + (isUsed ? (parentGas[index] ?? 0n) : 0n)),
    expectedGas: [...used, ...parentGas].reduce((sum, gas) => sum + gas, 0n),
    changes: watched.map(
      (_, index) => balanceOf(results[after + 1 + index]) - balanceOf(results[1 + index]),
    ),
    coins: balanceOf(results[0]),
  };
};

/** Code that answers every call with 0x1626ba7e, which means "valid signature" (ERC-1271). */
const SIGNS_ANYTHING: Hex = "0x631626ba7e60e01b60005260206000f3";

/**
 * Simulates a smart account's operation that takes tokens from a wallet before the wallet has
 * signed, in one `eth_call` that gives the wallet temporary code. With `approve`, the wallet first
 * makes that approval, as its permit would. Without it, the wallet's code accepts every signature,
 * because Permit2 asks that code to check the permit's signature.
 * @throws DomainError `simulation_failed`, `chain_unavailable`
 */
export const simulatePermittedOperation = async (
  registry: ChainRegistry,
  input: {
    chainId: number;
    operation: UserOperation;
    wallet: EvmAddress;
    approve: Call | null;
  },
  watched: readonly Watched[],
): Promise<{ callGas: bigint; changes: readonly bigint[] }> => {
  const { chainId, operation, wallet, approve } = input;
  const { multicall3, entryPoint } = registry.get(chainId).contracts;
  const { sender, callData, factory, factoryData } = operation;
  const deployment = factory && factoryData ? [{ to: factory, data: factoryData }] : [];
  const approval = approve === null ? [] : [{ to: wallet, data: probeInput([approve]) }];
  const standIn =
    approve === null ? { address: wallet, code: SIGNS_ANYTHING } : asProbe(wallet);
  const reads = watched.map((each) => balanceCall(multicall3, each));
  const calls = [
    ...deployment,
    ...approval,
    ...reads,
    { to: sender, data: callData },
    ...reads,
  ];
  const results = await chainCall(chainId, () =>
    probe(registry.client(chainId), entryPoint, calls, [standIn]),
  );
  const before = deployment.length + approval.length;
  const execution = results[before + reads.length];
  if (execution?.success !== true)
    throw refused(registry, chainId, execution?.returnData ?? "0x");
  const after = before + reads.length + 1;
  return {
    callGas: execution.gasUsed,
    changes: watched.map(
      (_, index) => balanceOf(results[after + index]) - balanceOf(results[before + index]),
    ),
  };
};

/**
 * Whether the token's `transferFrom` reverts when the holder's balance is too low, and when the
 * allowance is too low. If a token returned false instead, the following calls would not stop and
 * would spend the spender's own tokens. Also false when the holder has no tokens, because the test
 * is then inconclusive.
 * @throws DomainError `chain_unavailable`
 */
export const revertsOverdraft = async (
  registry: ChainRegistry,
  {
    chainId,
    token,
    holder,
    taker,
  }: { chainId: number; token: EvmAddress; holder: EvmAddress; taker: EvmAddress },
): Promise<boolean> => {
  const client = registry.client(chainId);
  const at = { abi: erc20Abi, address: token } as const;
  const balance = await chainCall(chainId, () =>
    client.readContract({ ...at, functionName: "balanceOf", args: [holder] }),
  );
  // In the second attempt, the balance is sufficient and only the allowance is missing.
  const attempts = [
    { allowed: balance + 1n, taken: balance + 1n },
    { allowed: 0n, taken: 1n },
  ];
  const calls = attempts.flatMap(({ allowed, taken }) => {
    const approve = encodeCall({
      abi: erc20Abi,
      functionName: "approve",
      args: [taker, allowed],
    });
    const take = encodeCall({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [holder, taker, taken],
    });
    return [
      { to: holder, data: probeInput([{ to: token, data: approve }]) },
      { to: token, data: take },
    ];
  });
  const results = await chainCall(chainId, () =>
    probe(client, taker, calls, [asProbe(holder)]),
  );
  const wasStopped = attempts.every((_, index) => {
    const [approval, taking] = [results[2 * index], results[2 * index + 1]];
    return approval?.success === true && taking?.success === false;
  });
  return balance > 0n && wasStopped;
};

interface Approval {
  readonly token: EvmAddress;
  readonly spender: EvmAddress;
  readonly amount: bigint;
}

/** The spender and amount of an ERC-20 `approve`; null for any other call. */
export const approvalOf = ({ to, data }: Pick<Call, "to" | "data">): Approval | null => {
  try {
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
    return functionName === "approve" ? { token: to, spender: args[0], amount: args[1] } : null;
  } catch {
    return null;
  }
};

/**
 * Removes approvals that exist already. Also removes needless revocations of old allowances,
 * because only calls of the wallet itself can make the spender use such an allowance.
 */
export const withoutNeedlessApprovals = async (
  registry: ChainRegistry,
  { chainId, wallet, calls }: WalletCalls,
): Promise<readonly Call[]> => {
  const wanted = calls.map(approvalOf);
  const allowances = await chainCall(chainId, () =>
    Promise.all(
      wanted.map((approval) =>
        approval === null
          ? Promise.resolve(0n)
          : registry.client(chainId).readContract({
              address: approval.token,
              abi: erc20Abi,
              functionName: "allowance",
              args: [wallet, approval.spender],
            }),
      ),
    ),
  );
  const isNeeded = (index: number): boolean => {
    const approval = wanted[index];
    if (approval === null || approval === undefined) return true;
    if (approval.amount > 0n) return (allowances[index] ?? 0n) < approval.amount;
    // A reset to zero is needed before a new approval, because tokens like USDT refuse to change an
    // allowance that is not zero.
    const next = wanted[index + 1];
    return (
      next?.token === approval.token && next.spender === approval.spender && isNeeded(index + 1)
    );
  };
  return calls.filter((_, index) => isNeeded(index));
};
