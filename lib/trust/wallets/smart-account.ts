import { createFreshCache } from "@/lib/core/fresh-cache";
import { withDeadline } from "@/lib/core/deadline";
import type { EvmAddress } from "@/lib/core/evm";
import { getAddress } from "viem";
import type { Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import {
  convertUnlinkedWallet,
  findProjectKeyId,
  findWalletByAddress,
  insertWallet,
} from "./repository";
import type { Wallet } from "./wallet";

export interface SmartAccounts {
  /**
   * The counterfactual address that an account of this owner has on every chain. Computed, without
   * a network call.
   */
  addressOf(account: { readonly ownerAddress: EvmAddress }): Promise<EvmAddress>;
  /** The factory of the account and its salt, which are the same on every chain. */
  originOf(account: { readonly ownerAddress: EvmAddress }): Promise<SmartAccountOrigin>;
  /**
   * For each address, whether it has code. Uses one batch call.
   * @throws DomainError `chain_unavailable`
   */
  isDeployed(
    chainId: number,
    addresses: readonly EvmAddress[],
  ): Promise<ReadonlyMap<EvmAddress, boolean>>;
}

interface SmartAccountOrigin {
  readonly factory: EvmAddress;
  /** Salt nonce, a decimal integer. */
  readonly salt: string;
}

interface DeploymentsDeps {
  readonly registry: { list(): readonly { readonly id: number }[] };
  readonly smartAccounts: Pick<SmartAccounts, "isDeployed">;
}

/**
 * For each address, whether an account is deployed there; null when the chain did not answer in
 * time.
 */
type Deployed = ReadonlyMap<EvmAddress, boolean> | null;

interface Deployments {
  everywhere(
    addresses: readonly EvmAddress[],
  ): Promise<{ chainId: number; deployed: Deployed }[]>;
  on(chainId: number, address: EvmAddress): Promise<boolean | null>;
}

const CHAIN_TIMEOUT_MS = 2000;
const LATE = { timeoutMs: CHAIN_TIMEOUT_MS, message: "The chain did not answer in time." };
const DEPLOYED_REFRESH_MS = 1000;
const DEPLOYED_EXPIRE_MS = 3000;

/** Queries all chains concurrently for all addresses, and caches the answers briefly. */
export const createDeployments = ({
  registry,
  smartAccounts,
}: DeploymentsDeps): Deployments => {
  const ask = async (chainId: number, addresses: readonly EvmAddress[]): Promise<Deployed> => {
    try {
      return await withDeadline(smartAccounts.isDeployed(chainId, addresses), LATE);
    } catch {
      // Returns null, because an unreachable chain must not hide the wallets. Readiness reports
      // the chain.
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
          deployed:
            addresses.length === 0 ? null : await cache.get([chainId, ...addresses].join(" ")),
        })),
      ),
    on: async (chainId, address) =>
      (await cache.get(`${chainId} ${address}`))?.get(address) ?? null,
  };
};

export interface NewSmartAccount {
  readonly ownerAddress: EvmAddress;
  readonly chainId: number;
  readonly label?: string | undefined;
}

export interface SmartAccountRecord extends SmartAccountOrigin {
  readonly wallet: Wallet;
  readonly ownerAddress: EvmAddress;
  readonly chainId: number;
  /** Null when the chain did not answer. */
  readonly deployed: boolean | null;
}

interface Deps {
  readonly database: Database;
  readonly registry: { list(): readonly { readonly id: number }[] };
  readonly smartAccounts: SmartAccounts;
  readonly clock: Clock;
}

type Make = (actor: Actor, input: NewSmartAccount) => Promise<SmartAccountRecord>;

/**
 * Returns the function that creates smart accounts. It sends no transaction to a chain, because the
 * account's first operation deploys it on each chain.
 */
export const createSmartAccountMaker = (
  deps: Deps,
  deployments: Pick<ReturnType<typeof createDeployments>, "on">,
): Make => {
  const { database, smartAccounts } = deps;
  return async (actor, { ownerAddress, chainId, label }) => {
    checkChain(deps, chainId);
    const { projectId } = actor;
    const keyId = await signingKey(database, projectId, ownerAddress);
    const address = getAddress(await smartAccounts.addressOf({ ownerAddress }));
    const account = { projectId, address, ownerAddress, keyId, label: label ?? null };
    const wallet = await database.transaction((tx) =>
      ensureAccount(tx, account, actor, deps.clock.now()),
    );
    const [origin, deployed] = await Promise.all([
      smartAccounts.originOf({ ownerAddress }),
      deployments.on(chainId, address),
    ]);
    return { ...origin, wallet, ownerAddress, chainId, deployed };
  };
};

const checkChain = ({ registry }: Deps, chainId: number): void => {
  if (registry.list().some(({ id }) => id === chainId)) return;
  const message = `Chain ${chainId} is not used here.`;
  throw new DomainError("unsupported_chain", message, {
    details: [{ path: "chainId", message, code: "unsupported_chain" }],
  });
};

const notAnOwner = (): DomainError => {
  const message =
    "The owner is no wallet of this project. Link it first, or name the owner of the treasury.";
  return new DomainError("unknown_wallet", message, {
    details: [{ path: "ownerAddress", message, code: "unknown_wallet" }],
  });
};

/**
 * The id of the service's key when the owner is a key of this project; null for a linked wallet,
 * which signs without the service. Any other address is refused, because the account of another
 * project's key is that project's wallet.
 * @throws DomainError `unknown_wallet`, `invalid_request` when the owner is a contract
 */
const signingKey = async (
  database: Database,
  projectId: string,
  owner: EvmAddress,
): Promise<string | null> => {
  const keyId = await findProjectKeyId(database, { projectId, address: owner });
  if (keyId !== null) return keyId;
  const wallet = await findWalletByAddress(database.prisma, projectId, owner);
  if (wallet === null) throw notAnOwner();
  if (wallet.kind !== "linked" || wallet.contractChainId !== null) {
    // The account has the same address on every chain, but its owner contract may not exist on all
    // of them.
    const message =
      "The owner is a contract, which cannot sign for an account on every chain. Name a plain account.";
    throw invalidRequest([{ path: "ownerAddress", message }]);
  }
  return null;
};

interface Account {
  readonly projectId: string;
  readonly address: EvmAddress;
  readonly ownerAddress: EvmAddress;
  readonly keyId: string | null;
  readonly label: string | null;
}

const ensureAccount = async (
  tx: Tx,
  account: Account,
  actor: Actor,
  at: Date,
): Promise<Wallet> => {
  const { projectId, address, ownerAddress, keyId, label } = account;
  const candidate = {
    id: newId("wallet"),
    kind: "smart_account",
    ...account,
    createdAt: at,
  } as const;
  const { wallet, created } = await insertWallet(tx, candidate);
  const isConverted =
    wallet.kind === "linked" &&
    (await convertUnlinkedWallet(tx, { id: wallet.id, ownerAddress, keyId, label }));
  if (wallet.kind === "linked" && !isConverted) {
    const message =
      "The account at this address is linked as a wallet of its own. Unlink it first.";
    throw new DomainError("wallet_already_linked", message);
  }
  if (created || isConverted) {
    const entry = { ...doneBy(actor), subject: wallet.id, at };
    await recordAudit(tx, {
      ...entry,
      action: "wallet.created",
      data: { address, ownerAddress },
    });
  }
  if (!isConverted) return wallet;
  const converted = await findWalletByAddress(tx, projectId, address);
  if (!converted) throw new Error("The wallet that was just made is not there.");
  return converted;
};
