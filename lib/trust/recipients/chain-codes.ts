/**
 * Finds which addresses are contracts, and which contracts are tokens, with few calls to each
 * chain.
 */
import { LRUCache } from "lru-cache";
import { erc20Abi, type Hex } from "viem";
import { decodeAggregate, encodeAggregate } from "@/lib/chain/aggregate3";
import { contractsAmong } from "@/lib/chain/contract-probe";
import { encodeCall } from "@/lib/chain/encode-call";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { EvmAddress } from "@/lib/core/evm";
import type { CodeKind } from "./rules";

const KNOWN_MAX = 50_000;
const CONTRACT_MS = 600_000;
/**
 * How long an address without code is cached. The time is short, because the address may get code
 * at any time.
 */
const NONE_MS = 30_000;
/** Maximum number of contracts in one request that are checked for being tokens. */
const TOKENS_ASKED_MAX = 1000;
const WORD = "0x".length + 64;

const DECIMALS = encodeCall({ abi: erc20Abi, functionName: "decimals", args: [] });
const SUPPLY = encodeCall({ abi: erc20Abi, functionName: "totalSupply", args: [] });
/**
 * Whether the answer can be a number of decimals, which is at most 255. A contract that is not a
 * token but has a fallback function may return anything.
 */
const isDecimals = (answer: Hex | undefined): boolean =>
  answer?.length === WORD && BigInt(answer) <= 255n;

const tokensAmong = async (
  registry: ChainRegistry,
  chainId: number,
  contracts: readonly EvmAddress[],
): Promise<ReadonlySet<EvmAddress>> => {
  const asked = contracts.slice(0, TOKENS_ASKED_MAX);
  if (asked.length === 0) return new Set();
  const calls = asked.flatMap((target) => [
    { target, callData: DECIMALS },
    { target, callData: SUPPLY },
  ]);
  const to = registry.get(chainId).contracts.multicall3;
  const { data } = await registry.client(chainId).call({ to, data: encodeAggregate(calls) });
  const answers = decodeAggregate(data ?? "0x");
  return new Set(
    asked.filter(
      (_, index) =>
        isDecimals(answers[2 * index] ?? undefined) && answers[2 * index + 1]?.length === WORD,
    ),
  );
};

/**
 * Returns a function that reads the kind of code at addresses of a chain. Contracts are cached for
 * ten minutes, and addresses without code for half a minute.
 */
export const createChainCodes = (registry: ChainRegistry) => {
  const kept = new LRUCache<string, CodeKind>({ max: KNOWN_MAX, ttl: CONTRACT_MS });
  const keyOf = (chainId: number, address: EvmAddress): string =>
    `${String(chainId)}:${address}`;

  return async (
    chainId: number,
    addresses: readonly EvmAddress[],
  ): Promise<ReadonlyMap<EvmAddress, CodeKind>> => {
    const missing = addresses.filter((address) => !kept.has(keyOf(chainId, address)));
    const found = new Map<EvmAddress, CodeKind>();
    if (missing.length > 0) {
      const has = await contractsAmong(registry.client(chainId), missing);
      const contracts = missing.filter((_, index) => has[index] === true);
      // A contract that burns all gas makes the token check fail for all contracts of the call.
      // They are then returned as contracts, but not cached.
      const tokens = await tokensAmong(registry, chainId, contracts).catch(() => null);
      missing.forEach((address, index) => {
        const isContract = has[index] === true;
        const kind = tokens?.has(address) === true ? "token" : isContract ? "contract" : "none";
        found.set(address, kind);
        if (isContract && tokens === null) return;
        kept.set(keyOf(chainId, address), kind, kind === "none" ? { ttl: NONE_MS } : {});
      });
    }
    return new Map(
      addresses.map((address) => [
        address,
        found.get(address) ?? kept.get(keyOf(chainId, address)) ?? "none",
      ]),
    );
  };
};
