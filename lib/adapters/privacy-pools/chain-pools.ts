import { z } from "zod";
import { DomainError } from "@/lib/core/errors";
import type { Address } from "viem";
import { finalBlockNumber } from "@/lib/chain/blocks";
import { entrypointAbi, poolAsset, poolScope, privacyPoolAbi } from "@/lib/chain/privacy-pools";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { ChainConfig } from "@/lib/platform/config/chains";
import type { Token } from "@/lib/core/token";
import type { PrivacyPool } from "@/lib/money/ports/privacy";
import type { PoolLogStore } from "@/lib/money/ports/privacy-history";
import { createPoolEvents, type PoolEvents } from "./pool-events";

const TIMEOUT_MS = 10_000;
const decimal = z.string().regex(/^\d+$/).transform(BigInt);

const rootsAnswer = z.object({ mtRoot: decimal, onchainMtRoot: decimal.nullable() });
const leavesAnswer = z.object({ aspLeaves: z.array(decimal) });
const depositsAnswer = z.array(
  z.object({ label: z.coerce.string(), reviewStatus: z.string() }),
);

interface AssociationSet {
  readonly root: bigint;
  /**
   * The root in the contract. Withdrawals are possible only while it equals the provider's root.
   */
  readonly onchainRoot: bigint | null;
  /** Approved labels of all pools of the entrypoint, in the order of the tree. */
  readonly labels: readonly bigint[];
}

interface AssociationSource {
  /** Reads the association set of a pool. @throws DomainError `provider_error` */
  read(chainId: number, scope: bigint, signal: AbortSignal): Promise<AssociationSet | null>;
  /**
   * The declined labels among `labels`.
   * @throws DomainError `provider_error`
   */
  declined(
    chainId: number,
    scope: bigint,
    labels: readonly bigint[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<bigint>>;
}

/** Reads association sets from a provider with 0xbow's public API. */
export const createAssociationSource = (baseUrl: string): AssociationSource => {
  let known: { root: bigint; labels: readonly bigint[] } | null = null;

  const ask = async <T>(
    schema: z.ZodType<T>,
    path: string,
    own: { headers: Record<string, string>; signal: AbortSignal },
  ): Promise<T | null> => {
    try {
      const signal = AbortSignal.any([own.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const response = await fetch(`${baseUrl.replace(/\/$/, "")}${path}`, {
        headers: own.headers,
        signal,
      });
      // The provider has not published anything yet.
      if (response.status === 404) return null;
      if (!response.ok) throw new Error(`It answered ${String(response.status)}.`);
      return schema.parse(await response.json());
    } catch (cause) {
      own.signal.throwIfAborted();
      throw new DomainError(
        "provider_error",
        "The provider of association sets does not answer. Nothing was lost; try again shortly.",
        { cause },
      );
    }
  };

  return {
    read: async (chainId, scope, signal) => {
      const own = { headers: { "X-Pool-Scope": scope.toString() }, signal };
      const roots = await ask(rootsAnswer, `/${String(chainId)}/public/mt-roots`, own);
      if (roots === null) return null;
      if (known?.root !== roots.mtRoot) {
        const leaves = await ask(leavesAnswer, `/${String(chainId)}/public/mt-leaves`, own);
        if (leaves === null) return null;
        known = { root: roots.mtRoot, labels: leaves.aspLeaves };
      }
      return { ...known, onchainRoot: roots.onchainMtRoot };
    },
    declined: async (chainId, scope, labels, signal) => {
      if (labels.length === 0) return new Set();
      const headers = { "X-Pool-Scope": scope.toString(), "X-Labels": labels.join(",") };
      const deposits = await ask(
        depositsAnswer,
        `/${String(chainId)}/public/deposits-by-label`,
        {
          headers,
          signal,
        },
      );
      return new Set(
        (deposits ?? [])
          .filter(({ reviewStatus }) => reviewStatus === "declined")
          .map(({ label }) => BigInt(label)),
      );
    },
  };
};

export interface ChainPool extends PrivacyPool {
  readonly scope: bigint;
  readonly asset: Address;
}

type PrivacyConfig = NonNullable<ChainConfig["privacyPools"]>;

export interface PrivacyChain {
  readonly chainId: number;
  readonly config: PrivacyConfig;
  readonly association: AssociationSource;
  readonly events: PoolEvents;
  /**
   * Reads the pools from the chain once.
   * @throws DomainError `chain_unavailable`
   */
  pools(): Promise<readonly ChainPool[]>;
}

const poolOf = async (
  registry: ChainRegistry,
  chainId: number,
  own: { config: PrivacyConfig; token: Token; pool: Address },
): Promise<ChainPool> => {
  const { config, token, pool } = own;
  const client = registry.client(chainId);
  const asset = poolAsset(token.address);
  const [scope, [known, minimumBase, shieldFeeBps, relayFeeMax]] = await chainCall(
    chainId,
    () =>
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
  // GET /chains shows the computed scope without reading the chain, so the computed scope must
  // equal the contract's scope.
  if (scope !== poolScope({ chainId, pool, asset }))
    throw new DomainError(
      "provider_error",
      `The pool of ${token.symbol} on chain ${String(chainId)} has another scope than pools of the protocol have.`,
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
            poolOf(registry, chainId, {
              config,
              token: registry.resolveToken(chainId, asset),
              pool,
            }),
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
      return [
        [
          chainId,
          {
            chainId,
            config,
            events,
            pools,
            association: createAssociationSource(config.aspSource),
          },
        ],
      ];
    }),
  );
