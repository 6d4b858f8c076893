import { zeroAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { createPrivacyPools } from "@/lib/adapters/privacy-pools/engine";
import { createProver } from "@/lib/adapters/privacy-pools/prover";
import { feesWithinCap } from "@/lib/chains/fee-cap";
import { createEnvelopes } from "@/lib/modules/encryption/service";
import { createExportWallet } from "@/lib/modules/privacy/export-wallet";
import { createGasWaitRepository } from "@/lib/modules/operations/gas-wait-repository";
import { createPoolLogRepository } from "@/lib/modules/privacy/pool-log-repository";
import { createPrivacyRepository } from "@/lib/modules/privacy/repository";
import { createPrivacyRunner } from "@/lib/modules/privacy/runner";
import { createPrivacyService } from "@/lib/modules/privacy/service";
import { createPrivacyWalletRepository } from "@/lib/modules/privacy/wallet-repository";
import { createPrivateWallets } from "@/lib/modules/privacy/private-wallets";
import { measuredProver } from "@/lib/telemetry/call-metrics";
import type { Platform } from "./platform";
import type { ChainAccess } from "./chain-access";
import type { Identity } from "./identity";
import { spendDigest } from "@/lib/modules/privacy/spend-parameters";
import type { Money } from "./money";
import { pausedWhileOff } from "./signing";

/** Private balances: the engine that proves, the service that accepts requests, and the runner that carries them on. */
export const buildPrivacy = (
  platform: Platform,
  { wallets, transactions, freezes }: Pick<ChainAccess, "wallets" | "transactions" | "freezes">,
  { otp, policies, approvals, decisions }: Identity,
  { smartAccounts, operations, sponsorship, prices, policyEngine, policyDocuments }: Money,
) => {
  const { config, overrides, database, keyring, registry, clock, errorLog, signing } = platform;
  const relayer = config.executorPrivateKey === null ? zeroAddress : privateKeyToAddress(config.executorPrivateKey);
  const prover = measuredProver(overrides.prover ?? createProver());
  const engine =
    overrides.privacyEngine ??
    createPrivacyPools({
      registry,
      relayer,
      logStore: createPoolLogRepository(database),
      prover,
    });
  const repository = createPrivacyRepository(database);
  const walletRepository = createPrivacyWalletRepository(database);
  const privateWallets = createPrivateWallets({
    wallets: walletRepository,
    envelopes: createEnvelopes(keyring),
    newMnemonic: engine.newMnemonic,
    clock,
  });
  const anonymitySetMin = config.privacyAnonymitySetMin;
  const service = createPrivacyService({
    wallets,
    smartAccounts,
    operations,
    sponsorship,
    otp,
    decisions,
    freezes,
    policies,
    policyEngine,
    prices,
    registry,
    clock,
    repository,
    privateWallets,
    engine,
    anonymitySetMin,
  });
  const runner = createPrivacyRunner({
    repository,
    privateWallets,
    engine,
    transactions,
    wallets,
    isAllowed: policyEngine.isAllowed,
    screenAgain: policyEngine.screenAgain,
    gasWaits: createGasWaitRepository(database),
    lostMoves: signing,
    fees: (chainId) => feesWithinCap(registry, chainId),
    pollIntervalMs: (chainId) => registry.get(chainId).pollIntervalMs,
    log: errorLog,
    clock,
  });
  return {
    service,
    runner: { run: pausedWhileOff(signing, runner.run) },
    /** The digest of the parameters of an operation that spends notes, as it is stored; null when there is no such operation. */
    spendDigest: async (projectId: string, operationId: string) => {
      const transfer = await repository.findByOperation(projectId, operationId);
      return transfer === null ? null : spendDigest(transfer, await repository.steps(projectId, operationId));
    },
    exportWallet: createExportWallet({
      ...{ wallets: walletRepository, privateWallets, approvals, clock },
      demandsVotes: async (projectId) =>
        (await decisions.requirementOf(projectId)) !== null ||
        (await policyDocuments.list(projectId)).some(
          ({ scope, rules }) => scope === "project" && rules.approvals !== undefined,
        ),
    }),
    close: () => engine.close(),
  };
};
