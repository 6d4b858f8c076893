import { LRUCache } from "lru-cache";
import { createDeploymentClaims } from "@/lib/chain/smart-accounts/repository";
import type { ManagedAccount } from "@/lib/chain/smart-accounts/service";
import { createOperationDriver } from "@/lib/money/operations/driver";
import { createScreenAgain, createSigningPermission } from "@/lib/money/operations/parameters";
import { createHeadRepository } from "@/lib/money/operations/head-repository";
import { createGasWaitRepository } from "@/lib/money/operations/state-repository";
import { createHeads } from "@/lib/money/operations/heads";
import { createBatchDriver } from "@/lib/money/payouts/wallets/batches/driver";
import { createPayoutGasWaits } from "@/lib/money/payouts/wallets/batches/gas-wait-repository";
import { createBatchRepository } from "@/lib/money/payouts/wallets/batches/repository";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { Platform } from "./platform";
import type { ChainAccess } from "./chain-access";
import type { Money } from "./money";
import { pausedWhileOff } from "./signing";

export const buildDrivers = (
  { database, registry, clock, errorLog, signing }: Platform,
  { wallets, freezes, transactions }: Pick<ChainAccess, "wallets" | "freezes" | "transactions">,
  {
    smartAccounts,
    routing,
    sponsorship,
    operationsRepository,
    legRepository,
    policyEngine,
    screening,
  }: Money,
) => {
  const heads = createHeads({ registry, repository: createHeadRepository(database) });
  const driving = {
    smartAccounts,
    deployments: createDeploymentClaims(database),
    clock,
    chains: {
      ...heads,
      confirmations: (chainId: number) => registry.get(chainId).confirmations,
      hasFeeCap: (chainId: number) => registry.get(chainId).feeCapGwei !== undefined,
      blockTimeMs: (chainId: number) => registry.get(chainId).blockTimeMs,
      pollIntervalMs: (chainId: number) => registry.get(chainId).pollIntervalMs,
      token: (chainId: number, address: string) => registry.resolveToken(chainId, address),
    },
    isSigningAllowed: createSigningPermission(policyEngine),
    isAllowed: policyEngine.isAllowed,
    managedAccount: keptAccounts((projectId, walletId) =>
      managedAccountOf(wallets, projectId, walletId),
    ),
    log: errorLog,
  };
  const operationDriver = createOperationDriver({
    ...driving,
    lostMoves: signing,
    bundles: transactions,
    screenAgain: createScreenAgain(policyEngine),
    repository: operationsRepository,
    legs: legRepository,
    gasWaits: createGasWaitRepository(database),
    routing,
    pollIntervalMs: driving.chains.pollIntervalMs,
  });
  const batchDriver = createBatchDriver({
    ...driving,
    screenAgain: policyEngine.screenAgain,
    isScreening: screening.isActive,
    freezes,
    lostMoves: signing,
    repository: createBatchRepository(database, sponsorship),
    gasWaits: createPayoutGasWaits(database),
    sponsorship,
  });
  return {
    operationDriver: { drive: pausedWhileOff(signing, operationDriver.drive) },
    batchDriver: { drive: pausedWhileOff(signing, batchDriver.drive) },
  };
};

const ACCOUNTS_MAX = 10_000;

type FindAccount = (projectId: string, walletId: string) => Promise<ManagedAccount | null>;

/**
 * Caches the last `ACCOUNTS_MAX` accounts whose key the service holds. A cached account cannot
 * become outdated: no statement changes its address, owner and key id, and only linked wallets are
 * unlinked. The key itself is read for each signature.
 */
const keptAccounts = (find: FindAccount): FindAccount => {
  const known = new LRUCache<string, ManagedAccount>({ max: ACCOUNTS_MAX });
  return async (projectId, walletId) => {
    const key = `${projectId}:${walletId}`;
    const account = known.get(key) ?? (await find(projectId, walletId));
    if (account !== null) known.set(key, account);
    return account;
  };
};

export type Drivers = ReturnType<typeof buildDrivers>;

const managedAccountOf = async (
  wallets: WalletsService,
  projectId: string,
  walletId: string,
): Promise<ManagedAccount | null> => {
  const wallet = await wallets.findById(projectId, walletId);
  if (!wallet || wallet.keyId === null || wallet.ownerAddress === null) return null;
  return {
    projectId,
    address: wallet.address,
    ownerAddress: wallet.ownerAddress,
    keyId: wallet.keyId,
  };
};
