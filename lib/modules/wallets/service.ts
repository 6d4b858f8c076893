import { getAddress, isAddress } from "viem";
import type { Clock } from "@/lib/core/clock";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Signer } from "@/lib/ports/signer";
import {
  findTreasury,
  findWalletByAddress,
  findWalletById,
  insertWallet,
  listWallets,
  type Wallet,
} from "./repository";

export type { Wallet, WalletKind } from "./repository";

/** Smart accounts on the chains; the adapter is outside. */
export interface SmartAccounts {
  /** The counterfactual address that an account of this owner has on every chain. Computed, without a network call. */
  addressOf(account: { readonly ownerAddress: EvmAddress }): Promise<EvmAddress>;
  /** Which addresses have code, by one batch call. @throws DomainError `chain_unavailable` */
  isDeployed(chainId: number, addresses: readonly EvmAddress[]): Promise<ReadonlyMap<EvmAddress, boolean>>;
}

export interface WalletsDeps {
  readonly database: Database;
  readonly signer: Pick<Signer, "create">;
  readonly registry: { list(): readonly { readonly id: number }[] };
  readonly smartAccounts: SmartAccounts;
  readonly clock: Clock;
}

export interface WalletDeployment {
  readonly chainId: number;
  /** null: the chain did not answer in time. */
  readonly deployed: boolean | null;
}

export interface WalletWithChains extends Wallet {
  readonly chains: readonly WalletDeployment[];
}

export interface WalletsService {
  /**
   * The project's treasury: a smart account whose owner is a managed key. Makes what is missing and answers with what is there,
   * however often and by however many it is called at once.
   */
  createTreasury(projectId: string): Promise<Wallet>;
  /** Every wallet of the project, oldest first (1,000 at most). */
  list(projectId: string): Promise<Wallet[]>;
  /** As `list`, with what each chain says of it. */
  listWithChains(projectId: string): Promise<WalletWithChains[]>;
  /** By address in any case; null where the project has no such wallet. */
  find(projectId: string, address: string): Promise<Wallet | null>;
  findById(projectId: string, walletId: string): Promise<Wallet | null>;
}

const WALLETS_MAX = 1000;
const CHAIN_TIMEOUT_MS = 2000;
const DEPLOYED_REFRESH_MS = 1000;
const DEPLOYED_EXPIRE_MS = 3000;
const TREASURY_LABEL = "Treasury";

export const createWalletsService = (deps: WalletsDeps): WalletsService => {
  const { database } = deps;
  const deployments = createDeployments(deps);

  const createTreasury = async (projectId: string): Promise<Wallet> => {
    const existing = await findTreasury(database.prisma, projectId);
    if (existing) return existing;
    // The key's id follows from the project, so that a second attempt finds the first one's key and so the same address.
    const keyId = `treasury_${projectId}`;
    const { address: ownerAddress } = await deps.signer.create({ keyId, projectId });
    const address = getAddress(await deps.smartAccounts.addressOf({ ownerAddress }));
    const createdAt = deps.clock.now();
    const treasury = { projectId, kind: "treasury", address, ownerAddress, keyId, label: TREASURY_LABEL } as const;
    return database.transaction(async (tx) => {
      const { wallet, created } = await insertWallet(tx, { id: newId("wallet"), ...treasury, createdAt });
      const entry = { projectId, actor: "system", subject: wallet.id, data: { address }, at: createdAt };
      if (created) await recordAudit(tx, { ...entry, action: "wallet.created" });
      return wallet;
    });
  };

  const list = (projectId: string): Promise<Wallet[]> => listWallets(database.prisma, projectId, WALLETS_MAX);

  return {
    createTreasury,
    list,
    listWithChains: async (projectId) => {
      const wallets = await list(projectId);
      const chains = await deployments(wallets.map(({ address }) => address));
      return wallets.map((wallet) => ({
        ...wallet,
        chains: chains.map(({ chainId, deployed }) => ({ chainId, deployed: deployed?.get(wallet.address) ?? null })),
      }));
    },
    find: async (projectId, address) =>
      isAddress(address, { strict: false })
        ? findWalletByAddress(database.prisma, projectId, getAddress(address))
        : null,
    findById: (projectId, walletId) => findWalletById(database.prisma, projectId, walletId),
  };
};

type Deployed = ReadonlyMap<EvmAddress, boolean> | null;

/** Asks all chains at once for all addresses, and remembers for a moment what they said. */
const createDeployments = ({ registry, smartAccounts }: WalletsDeps) => {
  const ask = async (chainId: number, addresses: readonly EvmAddress[]): Promise<Deployed> => {
    try {
      return await within(smartAccounts.isDeployed(chainId, addresses), CHAIN_TIMEOUT_MS);
    } catch {
      // A chain that is away does not hide the wallets; the answer says null, and readiness tells of the chain.
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
  return (addresses: readonly EvmAddress[]): Promise<{ chainId: number; deployed: Deployed }[]> =>
    Promise.all(
      registry.list().map(async ({ id: chainId }) => ({
        chainId,
        deployed: addresses.length === 0 ? null : await cache.get([chainId, ...addresses].join(" ")),
      })),
    );
};

const within = async <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("The chain did not answer in time.")), timeoutMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};
