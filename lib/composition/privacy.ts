import { zeroAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { createPrivacyPools } from "@/lib/adapters/privacy-pools/engine";
import { createProver } from "@/lib/adapters/privacy-pools/prover";
import { feesWithinCap } from "@/lib/chain/fees";
import { createEnvelopes } from "@/lib/platform/encryption/service";
import { createExportWallet } from "@/lib/money/privacy/export-wallet";
import { createGasWaitRepository } from "@/lib/money/operations/state-repository";
import {
  createPoolLogRepository,
  createPrivacyWalletRepository,
} from "@/lib/money/privacy/wallet-repository";
import { createPrivacyRepository } from "@/lib/money/privacy/repository";
import { createPrivacyRunner } from "@/lib/money/privacy/runner";
import { createPrivacyService } from "@/lib/money/privacy/service";
import { createPrivateWallets } from "@/lib/money/privacy/private-wallets";
import { measuredProver } from "@/lib/composition/metrics/call-metrics";
import type { Platform } from "./platform";
import type { ChainAccess } from "./chain-access";
import type { Identity } from "./identity";
import type { Money } from "./money";
import { pausedWhileOff } from "./signing";

/**
 * Private balances: the engine that makes proofs, the service that accepts requests, and the runner
 * that drives their operations.
 */
export const buildPrivacy = (
  platform: Platform,
  { wallets, transactions, freezes }: Pick<ChainAccess, "wallets" | "transactions" | "freezes">,
  { otp, policies, approvals, decisions, projects, people }: Identity,
  {
    smartAccounts,
    operations,
    sponsorship,
    prices,
    policyEngine,
    policyDocuments,
    recipients,
  }: Money,
) => {
  const { config, overrides, database, keyring, registry, clock, errorLog, signing } = platform;
  const relayer =
    config.executorPrivateKey === null
      ? zeroAddress
      : privateKeyToAddress(config.executorPrivateKey);
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
    recipients,
    anonymitySetMin: config.privacyAnonymitySetMin,
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
    exportWallet: createExportWallet({
      wallets: walletRepository,
      privateWallets,
      approvals,
      decisions,
      boundsOf: policyDocuments.boundsOf,
      projects,
      people,
      publicUrl: config.publicUrl,
      clock,
    }),
    close: () => engine.close(),
  };
};
