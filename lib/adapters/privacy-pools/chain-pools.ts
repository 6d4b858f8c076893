import type { Address } from "viem";
import { finalBlockNumber } from "@/lib/chains/finality";
import { entrypointAbi, NATIVE_ASSET, privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { ChainConfig } from "@/lib/config/chains";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { PrivacyPool } from "@/lib/ports/privacy";
import type { PoolLogStore } from "@/lib/ports/privacy-history";
import { createAssociationSource, type AssociationSource } from "./association-set";
import { createPoolEvents, type PoolEvents } from "./pool-events";

/** A pool with the values that proofs need. */
export interface ChainPool extends PrivacyPool {
  readonly scope: bigint;
  /** The asset's address at the entrypoint. */
  readonly asset: Address;
}

type PrivacyConfig = NonNullable<ChainConfig["privacyPools"]>;

/** The pools of one chain. */
export interface PrivacyChain {
  readonly chainId: number;
  readonly config: PrivacyConfig;
  readonly association: AssociationSource;
  readonly events: PoolEvents;
  /** Read once from the chain. @throws DomainError `chain_unavailable` */
  pools(): Promise<readonly ChainPool[]>;
}

const poolOf = async (
  registry: ChainRegistry,
  chainId: number,
  own: { config: PrivacyConfig; token: Token; pool: Address },
): Promise<ChainPool> => {
  const { config, token, pool } = own;
  const client = registry.client(chainId);
  const asset = token.address === "native" ? NATIVE_ASSET : token.address;
  const [scope, [known, minimumBase, shieldFeeBps, relayFeeMax]] = await chainCall(chainId, () =>
    Promise.all([
      client.readContract({ address: pool, abi: privacyPoolAbi, functionName: "SCOPE" }),
      client.readContract({
        address: config.entrypoint,
        abi: entrypointAbi,
        functionName: "assetConfig",
        args: [asset],
      }),
    ]),
  );
  if (known.toLowerCase() !== pool.toLowerCase())
    throw new DomainError(
      "provider_error",
      `The entrypoint of chain ${String(chainId)} names another pool for ${token.symbol}.`,
    );
  const feeBps = Math.min(config.relayer.feeBps, Number(relayFeeMax));
  return {
    chainId,
    token,
    address: pool,
    asset,
    scope,
    minimumBase,
    shieldFeeBps: Number(shieldFeeBps),
    relayFeeBps: feeBps,
    mayProcess: config.processor !== undefined,
  };
};

/** By chain id; chains without pools are missing. */
export const createPrivacyChains = (
  registry: ChainRegistry,
  store: PoolLogStore | null,
): ReadonlyMap<number, PrivacyChain> =>
  new Map(
    registry.list().flatMap((chain): [number, PrivacyChain][] => {
      const config = chain.privacyPools;
      if (config === undefined) return [];
      const chainId = chain.id;
      let known: Promise<readonly ChainPool[]> | null = null;
      const load = (): Promise<readonly ChainPool[]> =>
        Promise.all(
          config.pools.map(({ asset, pool }) =>
            poolOf(registry, chainId, { config, token: registry.resolveToken(chainId, asset), pool }),
          ),
        );
      const pools = (): Promise<readonly ChainPool[]> => {
        known ??= load().catch((error: unknown) => {
          known = null;
          throw error;
        });
        return known;
      };
      const events = createPoolEvents({
        chainId,
        client: registry.client(chainId),
        pools: config.pools.map(({ pool }) => pool),
        startBlock: BigInt(config.startBlock),
        finalNumber: (latest) => finalBlockNumber(registry, chainId, latest),
        rangeBlocks: () => registry.logRangeBlocks(chainId),
        store,
      });
      return [[chainId, { chainId, config, events, pools, association: createAssociationSource(config.aspSource) }]];
    }),
  );
