/** Compares the database with the chains, for the command `npm run reconcile`. */
import { privateKeyToAddress } from "viem/accounts";
import { createAdoptLeg } from "@/lib/money/operations/driver";
import { createAdoptBatch } from "@/lib/money/payouts/wallets/batches/adopt-operation";
import { attemptName } from "@/lib/money/payouts/wallets/batches/payout-batch";
import { createBatchRepository } from "@/lib/money/payouts/wallets/batches/repository";
import { createKnownRepository } from "@/lib/money/signing/known-repository";
import { createSigningRepository } from "@/lib/money/signing/repository";
import {
  reconcile,
  type ReconcileReport,
  type ReconcileRequest,
} from "@/lib/money/signing/reconcile";
import type { Money } from "./money";
import type { Platform } from "./platform";

export const buildReconcile = (
  { config, database, registry, clock }: Platform,
  {
    smartAccounts,
    operationsRepository,
    legRepository,
    sponsorship,
  }: Pick<Money, "smartAccounts" | "operationsRepository" | "legRepository" | "sponsorship">,
) => {
  const repository = createSigningRepository(database);
  const deps = {
    ...{ repository, registry, clock, attemptName },
    known: createKnownRepository(database),
    findByNonce: smartAccounts.sent.findByNonce,
    executors: config.executorPrivateKeys.map((key) => privateKeyToAddress(key)),
    adoptLeg: createAdoptLeg({ repository: operationsRepository, legs: legRepository, clock }),
    adoptBatch: createAdoptBatch({
      repository: createBatchRepository(database, sponsorship),
      clock,
    }),
  };
  return {
    /** Compares every chain, and allows signing when nothing remains for a person to check. */
    reconcile: (request: ReconcileRequest): Promise<ReconcileReport> =>
      reconcile(deps, request),
    /** Turns signing off on every instance within a second. */
    stopSigning: (by: string, reason: string): Promise<void> =>
      repository.stop({ by, reason, at: clock.now() }),
    /**
     * Allows the recipients of the accepted movements with these hashes to be paid again.
     * @returns the released hashes
     */
    releaseMoves: (
      hashes: readonly string[],
      by: string,
      reason: string,
    ): Promise<readonly string[]> =>
      repository.release(hashes, { by, reason, at: clock.now() }),
  };
};
