import { createFreshCache } from "@/lib/core/fresh-cache";
import { withDeadline } from "@/lib/core/deadline";
import type { EvmAddress } from "@/lib/ports/routing";

/** Smart accounts on the chains; the adapter is outside. */
export interface SmartAccounts {
  /** The counterfactual address that an account of this owner has on every chain. Computed, without a network call. */
  addressOf(account: { readonly ownerAddress: EvmAddress }): Promise<EvmAddress>;
  /** The factory of the account and its salt, which are the same on every chain. */
  originOf(account: { readonly ownerAddress: EvmAddress }): Promise<SmartAccountOrigin>;
  /** Which addresses have code, by one batch call. @throws DomainError `chain_unavailable` */
  isDeployed(chainId: number, addresses: readonly EvmAddress[]): Promise<ReadonlyMap<EvmAddress, boolean>>;
}

export interface SmartAccountOrigin {
  readonly factory: EvmAddress;
  /** Salt nonce, a decimal integer. */
  readonly salt: string;
}

interface DeploymentsDeps {
  readonly registry: { list(): readonly { readonly id: number }[] };
  readonly smartAccounts: Pick<SmartAccounts, "isDeployed">;
}

/** null: the chain did not answer in time. */
type Deployed = ReadonlyMap<EvmAddress, boolean> | null;

interface Deployments {
  /** The deployment state of the addresses on every chain. */
  everywhere(addresses: readonly EvmAddress[]): Promise<{ chainId: number; deployed: Deployed }[]>;
  on(chainId: number, address: EvmAddress): Promise<boolean | null>;
}

const CHAIN_TIMEOUT_MS = 2000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "The chain did not answer in time." };
const DEPLOYED_REFRESH_MS = 1000;
const DEPLOYED_EXPIRE_MS = 3000;

/** Queries all chains concurrently for all addresses, and caches the answers briefly. */
export const createDeployments = ({ registry, smartAccounts }: DeploymentsDeps): Deployments => {
  const ask = async (chainId: number, addresses: readonly EvmAddress[]): Promise<Deployed> => {
    try {
      return await withDeadline(smartAccounts.isDeployed(chainId, addresses), LATE);
    } catch {
      // An unreachable chain must not hide the wallets: the answer is null, and readiness reports the chain.
      return null;
    }
  };
  const cache = createFreshCache<Deployed>({
    load: (key) => {
      const [chainId, ...addresses] = key.split(" ");
      return ask(Number(chainId), addresses as EvmAddress[]);
    },
    keep: (answer) => answer !== null,
    refreshAfterMs: DEPLOYED_REFRESH_MS,
    expireAfterMs: DEPLOYED_EXPIRE_MS,
    entriesMax: 1000,
  });
  return {
    everywhere: (addresses) =>
      Promise.all(
        registry.list().map(async ({ id: chainId }) => ({
          chainId,
          deployed: addresses.length === 0 ? null : await cache.get([chainId, ...addresses].join(" ")),
        })),
      ),
    on: async (chainId, address) => (await cache.get(`${chainId} ${address}`))?.get(address) ?? null,
  };
};
