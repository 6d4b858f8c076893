import type { Assets } from "@/lib/chains/assets";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { TokenFreezes } from "@/lib/chains/token-freezes";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";
import type { ApprovalsService } from "@/lib/modules/approvals/service";
import type { SmartAccountsService } from "@/lib/modules/smart-accounts/service";
import type { ContactsService } from "@/lib/modules/contacts/service";
import type { DecisionsService } from "@/lib/modules/decisions/service";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { LedgerService } from "@/lib/modules/ledger/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { OtpService } from "@/lib/modules/otp/service";
import { readWorths, type PolicyEngine, type PoliciesService } from "@/lib/modules/policies/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { SwapsService } from "@/lib/modules/swaps/service";
import type { ReservesService } from "@/lib/modules/reserves/service";
import type { SigningGate } from "@/lib/modules/signing/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { WalletsService } from "@/lib/modules/wallets/service";
import { createPayoutActivity } from "./activity";
import { createPayoutActivityRepository } from "./activity-repository";
import { createAccountPayoutsRepository } from "./accounts/repository";
import { createAccountPayoutRunner } from "./accounts/runner";
import { indexKeysOf, indexNewKeys } from "./duplicate-repository";
import { createKeyFilters } from "./key-filters";
import type { Prices } from "./prices";
import { createUnreadNotes } from "./readable";
import { createPayoutsRepository } from "./repository";
import { createPayoutRunner, type WalletBatchesDriver } from "./runner";
import { createSchedulesRepository } from "./schedules/repository";
import { createScheduleRuns } from "./schedules/runs";
import { createSchedulesService } from "./schedules/service";
import { createPayoutsService } from "./service";
import { createFundingStep } from "./wallets/await-funding";
import { createPayoutMoney } from "./wallets/money";
import { createDoubtRepository } from "./wallets/batches/doubt-repository";
import { createWalletPayoutsReader } from "./wallets/read-repository";
import { createWalletPayoutsRepository } from "./wallets/repository";

export interface PayoutsParts {
  readonly database: Database;
  readonly registry: ChainRegistry;
  readonly assets: Assets;
  readonly ledger: LedgerService;
  readonly wallets: WalletsService;
  readonly contacts: ContactsService;
  readonly projects: ProjectsService;
  readonly operations: OperationsService;
  readonly smartAccounts: SmartAccountsService;
  readonly holds: HoldsService;
  readonly swaps: SwapsService;
  readonly reserves: ReservesService;
  readonly sponsorship: SponsorshipService;
  readonly policies: PoliciesService;
  readonly policyEngine: PolicyEngine;
  readonly decisions: DecisionsService;
  readonly approvals: ApprovalsService;
  readonly otp: OtpService;
  readonly prices: Prices;
  readonly clock: Clock;
  readonly freezes: TokenFreezes;
  readonly walletBatches: WalletBatchesDriver;
  readonly lostMoves: SigningGate;
  readonly log: { warn(fields: object, message: string): void };
}

/** Creates the service and the runner of payouts from the services that they use. */
export const createPayouts = (parts: PayoutsParts) => {
  const { database, registry, assets, otp, clock, ledger, walletBatches } = parts;
  const note = createUnreadNotes(parts.log);
  const repository = createPayoutsRepository(database, note);
  const reader = sqlOn(database.pool);
  const keyFilters = createKeyFilters({
    sql: reader,
    onFault: (error) => parts.log.warn({ err: error }, "the filter of a project's payments was not built"),
  });
  const accountsRepository = createAccountPayoutsRepository({ database, keyFilters });
  const walletsRepository = createWalletPayoutsRepository({ database, sponsorship: parts.sponsorship, keyFilters });
  const rows = createWalletPayoutsReader(database, note);
  const money = createPayoutMoney({ ...parts, repository: walletsRepository });
  const payouts = createPayoutsService({
    repository,
    accounts: { ...parts, repository: accountsRepository, reader },
    wallets: {
      ...parts,
      repository: walletsRepository,
      doubts: createDoubtRepository(database),
      rows,
      funding: parts.swaps.funding,
      money,
      reader,
    },
    assets,
    registry,
    policies: parts.policies,
    decisions: parts.decisions,
    otp,
    worths: (projectId, evaluationIds) => readWorths(reader, projectId, evaluationIds),
    clock,
  });
  const accounts = createAccountPayoutRunner({
    database,
    payouts: repository,
    repository: accountsRepository,
    ledger,
    isAllowed: parts.policyEngine.isAllowed,
    indexKeys: ({ projectId, id }) =>
      indexKeysOf(reader, projectId, id).catch((error: unknown) =>
        parts.log.warn(
          { err: error, payoutId: id },
          "the keys of a payout were not moved to their index; trying again",
        ),
      ),
    clock,
  });
  const schedules = createSchedulesRepository(database);
  return {
    payouts,
    payoutActivity: createPayoutActivity({ repository: createPayoutActivityRepository(database, note), rows, assets }),
    payoutRunner: createPayoutRunner({
      repository,
      accounts,
      funding: createFundingStep({ ...parts, repository: walletsRepository, rows, money }),
      walletBatches,
      clock,
    }),
    payoutSchedules: createSchedulesService({ ...parts, repository: schedules }),
    scheduleRuns: createScheduleRuns({ ...parts, repository: schedules, payouts }),
    /** Puts the keys of payouts that were accepted a moment ago where they are found by an index. */
    indexPayoutKeys: () => indexNewKeys(reader),
  };
};
