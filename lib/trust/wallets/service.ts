import { getAddress, isAddress } from "viem";
import type { Clock } from "@/lib/core/clock";
import type { Actor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { pageOf, type ListPage, type ListQuery } from "@/lib/core/list-place";
import type { Database } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { Signer } from "@/lib/chain/ports/signer";
import {
  createDeployments,
  createSmartAccountMaker,
  type NewSmartAccount,
  type SmartAccountRecord,
  type SmartAccounts,
} from "./smart-account";
import {
  findTreasury,
  findWalletByAddress,
  findWalletById,
  insertWallet,
  labelWallet,
  listWallets,
  walletAddresses,
} from "./repository";
import type { Wallet } from "./wallet";

export type { SmartAccounts } from "./smart-account";
export type { Wallet, WalletKind } from "./wallet";

export interface WalletsDeps {
  readonly database: Database;
  readonly signer: Pick<Signer, "create">;
  readonly registry: { list(): readonly { readonly id: number }[] };
  readonly smartAccounts: SmartAccounts;
  readonly clock: Clock;
}

export interface WalletDeployment {
  readonly chainId: number;
  /** Null when the chain did not answer in time. */
  readonly deployed: boolean | null;
}

export interface WalletWithChains extends Wallet {
  readonly chains: readonly WalletDeployment[];
}

export interface WalletQuery extends ListQuery {
  readonly address?: EvmAddress | undefined;
  readonly kind?: readonly Wallet["kind"][] | undefined;
}

export type WalletPage = ListPage<WalletWithChains>;

export interface WalletsService {
  /**
   * Creates the project's treasury: a smart account whose owner is a managed key. Idempotent, also
   * for concurrent calls.
   */
  createTreasury(projectId: string): Promise<Wallet>;
  /**
   * Creates the smart account of an owner. The owner is a linked wallet of the project or a key
   * that the service holds for the project, and signs for the account. Repeated requests, for any
   * chain, return the same account. For the treasury's owner, that account is the treasury.
   * @throws DomainError `unsupported_chain`, `unknown_wallet`, `invalid_request` (the owner is a
   * contract), `wallet_already_linked`
   */
  createSmartAccount(actor: Actor, input: NewSmartAccount): Promise<SmartAccountRecord>;
  /**
   * Sets the wallet's label; null removes it.
   * @throws DomainError `not_found`
   */
  label(actor: Actor, walletId: string, label: string | null): Promise<WalletWithChains>;
  /**
   * Every wallet of the project that may be a source, oldest first. A project may have 100,000
   * wallets, so use `page` or `addresses` when they suffice.
   */
  list(projectId: string): Promise<Wallet[]>;
  /** Ids and addresses of every wallet in `list`, in the order of the ids. */
  addresses(
    projectId: string,
  ): Promise<readonly { readonly id: string; readonly address: EvmAddress }[]>;
  /**
   * A page of `list`, with the deployment state on each chain; with `address`, only that wallet.
   */
  page(projectId: string, query: WalletQuery): Promise<WalletPage>;
  /**
   * Finds a wallet by address in any case; null when the project has no such wallet, or it was
   * unlinked.
   */
  find(projectId: string, address: string): Promise<Wallet | null>;
  /** Like `find`, by id. */
  findById(projectId: string, walletId: string): Promise<Wallet | null>;
  /** The project's treasury; null only before the project's first wallet was made. */
  treasury(projectId: string): Promise<Wallet | null>;
}

/** Number of wallets that `list` reads with one query. */
const LIST_PAGE = 1000;
const TREASURY_LABEL = "Treasury";

/** The service of a project's wallets: linked wallets, smart accounts and the treasury. */
export const createWalletsService = (deps: WalletsDeps): WalletsService => {
  const { database } = deps;
  const deployments = createDeployments(deps);

  const createTreasury = async (projectId: string): Promise<Wallet> => {
    const existing = await findTreasury(database.prisma, projectId);
    if (existing) return existing;
    // Derived from the project, so that a second attempt finds the same key and so the same
    // address.
    const keyId = `treasury_${projectId}`;
    const { address: ownerAddress } = await deps.signer.create({ keyId, projectId });
    const address = getAddress(await deps.smartAccounts.addressOf({ ownerAddress }));
    const createdAt = deps.clock.now();
    const treasury = {
      projectId,
      kind: "treasury",
      address,
      ownerAddress,
      keyId,
      label: TREASURY_LABEL,
    } as const;
    return database.transaction(async (tx) => {
      const { wallet, created } = await insertWallet(tx, {
        id: newId("wallet"),
        ...treasury,
        createdAt,
      });
      const entry = {
        projectId,
        actor: "system",
        subject: wallet.id,
        data: { address },
        request: null,
        at: createdAt,
      };
      if (created) await recordAudit(tx, { ...entry, action: "wallet.created" });
      return wallet;
    });
  };

  const list = async (projectId: string): Promise<Wallet[]> => {
    const wallets: Wallet[] = [];
    let page: Wallet[];
    do {
      page = await listWallets(database.prisma, projectId, {
        limit: LIST_PAGE,
        after: wallets.at(-1)?.id,
      });
      wallets.push(...page);
    } while (page.length === LIST_PAGE);
    return wallets;
  };

  const withChains = async (wallets: readonly Wallet[]): Promise<WalletWithChains[]> => {
    const chains = await deployments.everywhere(wallets.map(({ address }) => address));
    return wallets.map((wallet) => ({
      ...wallet,
      chains: chains.map(({ chainId, deployed }) => ({
        chainId,
        deployed: deployed?.get(wallet.address) ?? null,
      })),
    }));
  };

  const label = async (
    actor: Actor,
    walletId: string,
    text: string | null,
  ): Promise<WalletWithChains> => {
    const { projectId } = actor;
    const labelled = await database.transaction(async (tx) => {
      const before = isId("wallet", walletId)
        ? await findWalletById(tx, projectId, walletId)
        : null;
      const wallet =
        before && (await labelWallet(tx, { projectId, id: walletId, label: text }));
      if (!wallet) throw notFound();
      const entry = { ...doneBy(actor), subject: wallet.id, at: deps.clock.now() };
      await recordAudit(tx, {
        ...entry,
        action: "wallet.labelled",
        data: { label: text, before: before.label },
      });
      return wallet;
    });
    const [wallet] = await withChains([labelled]);
    if (!wallet) throw notFound();
    return wallet;
  };

  return {
    createTreasury,
    createSmartAccount: createSmartAccountMaker(deps, deployments),
    label,
    list,
    addresses: (projectId) => walletAddresses(database.prisma, projectId),
    page: async (projectId, { limit, cursor, address, kind }) => {
      const found = await listWallets(database.prisma, projectId, {
        limit: limit + 1,
        after: cursor,
        address,
        kind,
      });
      const { data, nextCursor } = pageOf(found, limit, ({ id }) => id);
      return { data: await withChains(data), nextCursor };
    },
    find: async (projectId, address) =>
      isAddress(address, { strict: false })
        ? findWalletByAddress(database.prisma, projectId, getAddress(address))
        : null,
    treasury: (projectId) => findTreasury(database.prisma, projectId),
    findById: (projectId, walletId) => findWalletById(database.prisma, projectId, walletId),
  };
};
