/** Creates the services and the runner of payouts from the services that they use. */
import { sqlOn } from "@/lib/platform/db/sql";
import type { OperationsService } from "@/lib/money/operations/service";
import { readWorths } from "@/lib/trust/policies/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import type { SessionMadeService } from "@/lib/trust/session-made/service";
import type { SwapsService } from "@/lib/money/swaps/service";
import { createPayoutActivity } from "./activity";
import { createPayoutActivityRepository } from "./activity-repository";
import { createAccountPayoutRunner } from "./accounts/runner";
import type { PayoutsContext } from "./context";
import { createPayoutsRepository } from "./repository";
import { createPayoutRunner, type WalletBatchesDriver } from "./runner";
import { createSchedulesRepository } from "./schedules/repository";
import { createScheduleRuns } from "./schedules/runs";
import { createSchedulesService } from "./schedules/service";
import { createPayoutsService } from "./service";
import { createFundingStep } from "./wallets/await-funding";
import { createDoubtRepository } from "./wallets/batches/doubt-repository";
import { createPayoutMoney } from "./wallets/money";
import { createWalletPayoutsReader } from "./wallets/read-repository";
import { createWalletPayoutsRepository } from "./wallets/repository";

type Own =
  | "reader"
  | "funding"
  | "worths"
  | "repository"
  | "walletsRepository"
  | "doubts"
  | "rows"
  | "money";

export interface PayoutsParts extends Omit<PayoutsContext, Own> {
  readonly projects: ProjectsService;
  readonly operations: OperationsService;
  readonly swaps: SwapsService;
  readonly sessionMade: SessionMadeService;
  readonly walletBatches: WalletBatchesDriver;
  readonly log: { warn(fields: object, message: string): void };
}

const contextOf = (parts: PayoutsParts): PayoutsContext => {
  const { database } = parts;
  const reader = sqlOn(database.pool);
  const walletsRepository = createWalletPayoutsRepository(parts);
  return {
    ...parts,
    reader,
    funding: parts.swaps.funding,
    worths: (projectId, evaluationIds) => readWorths(reader, projectId, evaluationIds),
    repository: createPayoutsRepository(database),
    walletsRepository,
    doubts: createDoubtRepository(database),
    rows: createWalletPayoutsReader(database),
    money: createPayoutMoney({ ...parts, repository: walletsRepository }),
  };
};

export const createPayouts = (parts: PayoutsParts) => {
  const context = contextOf(parts);
  const { database, repository, policyEngine } = context;
  const { isAllowed } = policyEngine;
  const payouts = createPayoutsService(context);
  const schedules = createSchedulesRepository(database);
  return {
    payouts,
    payoutActivity: createPayoutActivity({
      ...context,
      repository: createPayoutActivityRepository(database),
    }),
    payoutRunner: createPayoutRunner({
      repository,
      accounts: createAccountPayoutRunner({ ...context, payouts: repository, isAllowed }),
      funding: createFundingStep({ ...context, operations: parts.operations }),
      walletBatches: parts.walletBatches,
      clock: parts.clock,
    }),
    payoutSchedules: createSchedulesService({ ...parts, repository: schedules }),
    scheduleRuns: createScheduleRuns({ ...parts, repository: schedules, payouts }),
  };
};
