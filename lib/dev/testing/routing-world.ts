import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createTestClient,
  erc20Abi,
  http,
  numberToHex,
  parseEther,
  publicActions,
  walletActions,
  type Hex,
} from "viem";
import { vi } from "vitest";
import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createChainRegistry, type ChainRegistry } from "@/lib/chain/registry";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { systemClock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import { startDevnet } from "@/lib/dev/devnet/devnet";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { localChains } from "@/lib/dev/devnet/local-chains";
import { startSolver, type Solver } from "@/lib/dev/devnet/solver";
import type { Call, EvmAddress, ReceiptLog } from "@/lib/core/evm";
import type { RouteLeg, RoutingProvider, SourceReceipt } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";

/** A configured token that no pool and no bridge supports. */
const ODD: EvmAddress = "0x00000000000000000000000000000000000000dd";

export interface LocalRouting {
  readonly registry: ChainRegistry;
  readonly provider: RoutingProvider;
  readonly solver: Solver;
  /** Returns a registry and a provider for the same chains with a changed configuration. */
  variant(change: (chain: ChainConfig) => ChainConfig): {
    registry: ChainRegistry;
    provider: RoutingProvider;
  };
  give(owner: EvmAddress, token: Token, amountBase: bigint): Promise<void>;
  balanceOf(token: Token, owner: EvmAddress): Promise<bigint>;
  /** Sends the calls one by one as that account. `gasWei` is their gas cost. */
  send(
    chainId: number,
    from: EvmAddress,
    calls: readonly Call[],
  ): Promise<SourceReceipt & { readonly gasWei: bigint }>;
  execute(
    request: RouteRequest,
    leg: RouteLeg,
    calls: readonly Call[],
  ): Promise<SourceReceipt & { readonly gasWei: bigint }>;
  /** Moves the clocks of all chains past this time, in Unix seconds. */
  passTime(unixSeconds: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Gas limit of each call, instead of an estimate. A pool writes its oracle once per block, so the
 * first swap in a block needs more gas than estimated. With estimates, one swap in thirty ran out
 * of gas.
 */
const GAS_LIMIT = 5_000_000n;

const withOdd = (chain: ChainConfig): ChainConfig => ({
  ...chain,
  tokens: [
    ...chain.tokens,
    {
      symbol: "ODD",
      name: "Odd",
      address: ODD,
      decimals: 18,
      assetId: "odd",
      usdPegged: false,
    },
  ],
});

const testClient = (registry: ChainRegistry, chainId: number, url: string | undefined) =>
  createTestClient({
    mode: "anvil",
    chain: registry.viemChain(chainId),
    transport: http(url),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);

/** Sends the calls one by one, and waits for each. @throws Error when one reverts */
const sendAs = async (
  client: ReturnType<typeof testClient>,
  chainId: number,
  { from, calls }: { from: EvmAddress; calls: readonly Call[] },
): Promise<SourceReceipt & { readonly gasWei: bigint }> => {
  const logs: Omit<ReceiptLog, "logIndex">[] = [];
  let [txHash, blockNumber, gasWei]: [Hex, bigint, bigint] = ["0x", 0n, 0n];
  await client.impersonateAccount({ address: from });
  for (const { to, data, value } of calls) {
    txHash = await client.sendTransaction({ account: from, to, data, value, gas: GAS_LIMIT });
    const receipt = await client.waitForTransactionReceipt({ hash: txHash, timeout: 20_000 });
    if (receipt.status !== "success") {
      const { gas } = await client.getTransaction({ hash: txHash });
      throw new Error(`The call to ${to} reverted after ${receipt.gasUsed} of ${gas} gas.`);
    }
    logs.push(...receipt.logs);
    ({ blockNumber } = receipt);
    gasWei += receipt.gasUsed * receipt.effectiveGasPrice;
  }
  return {
    chainId,
    txHash,
    blockNumber,
    gasWei,
    logs: logs.map((log, logIndex) => ({ ...log, logIndex })),
  };
};

/** Three separate local chains (whose time moves), the solver, and the provider for them. */
export const startLocalRouting = async (): Promise<LocalRouting> => {
  const dataDir = await mkdtemp(join(tmpdir(), "causeway-routing-"));
  const devnet = await startDevnet({ dataDir, persist: false, log: () => undefined });
  const solver = startSolver({ chains: devnet.chains, log: () => undefined });
  const urls = new Map(devnet.chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]));
  const chains = localChains().chains.map((chain) =>
    withOdd({ ...chain, rpcUrls: [urls.get(chain.id) ?? ""] }),
  );
  const variant: LocalRouting["variant"] = (change) => {
    const registry = createChainRegistry(chains.map(change));
    return { registry, provider: createOnchainRouting({ registry, clock: systemClock }) };
  };
  const { registry, provider } = variant((chain) => chain);
  const faucet = createFaucet({ registry });
  const clientOf = (chainId: number) => testClient(registry, chainId, urls.get(chainId));
  const send: LocalRouting["send"] = (chainId, from, calls) =>
    sendAs(clientOf(chainId), chainId, { from, calls });

  return {
    registry,
    provider,
    solver,
    variant,
    send,
    give: async (owner, token, amountBase) => {
      const client = clientOf(token.chainId);
      const coins = await client.getBalance({ address: owner });
      // The owner also needs coins for gas.
      if (coins < parseEther("1"))
        await client.setBalance({ address: owner, value: parseEther("10") });
      // The faucet gives at most a million at a time.
      const portion = 1_000_000n * 10n ** BigInt(token.decimals);
      for (let left = amountBase; left > 0n; left -= portion) {
        await faucet.give(owner, token, left < portion ? left : portion);
      }
    },
    balanceOf: ({ chainId, address }, owner) =>
      // Retries, because the node keeps only the latest state, and refuses a read when a new block
      // arrives during the read.
      vi.waitFor(
        () =>
          address === "native"
            ? clientOf(chainId).getBalance({ address: owner })
            : clientOf(chainId).readContract({
                address,
                abi: erc20Abi,
                functionName: "balanceOf",
                args: [owner],
              }),
        { timeout: 20_000, interval: 20 },
      ),
    execute: (request, leg, calls) => {
      const source = request.sources[leg.sourceIndex];
      if (source === undefined) throw new RangeError("There is no such source.");
      return send(source.token.chainId, source.owner, calls);
    },
    passTime: async (unixSeconds) => {
      await Promise.all(
        chains.map(async ({ id }) => {
          const client = clientOf(id);
          const { timestamp } = await client.getBlock();
          const ahead = Math.max(0, unixSeconds + 1 - Number(timestamp));
          await client.request({ method: "evm_increaseTime", params: [numberToHex(ahead)] });
          await client.mine({ blocks: 1 });
        }),
      );
    },
    stop: async () => {
      await solver.stop();
      await devnet.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
