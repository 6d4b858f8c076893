import { createBatcher } from "@/lib/core/batch";
import { bindDeps } from "@/lib/core/bind-deps";
import {
  gasTotalOf,
  TRANSACTION_GAS_MAX,
  transactionGasAlone,
} from "@/lib/chain/erc4337/user-operation";
import type { Tx } from "@/lib/platform/db/client";
import { recordAudit } from "@/lib/news/audit/service";
import { keptSqlOn, sqlOf } from "@/lib/platform/db/sql";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import {
  budgetAt,
  byChain,
  changeReservations,
  dayOf,
  dayText,
  type EffectiveBudget,
  type GasCost,
  NOTHING_USED,
  type OperationCosts,
  refuseDay,
  remainingOf,
  requireOperationBudget,
  reserveCosts,
  resetOf,
  type SponsorshipDeps,
  sum,
} from "./budgets";
import { aboveCeiling, aboveTransactionLimit } from "./errors";
import {
  type Budget,
  ceilingOf,
  isSponsored,
  type Reservation,
  type SponsoredChain,
  type SponsoredKind,
} from "./limits";
import { readBudgets, readLimits, writeBudget, type Usage } from "./repository";

export { dayOf, type GasCost, type OperationCosts, type SponsorshipDeps } from "./budgets";
export type { Reservation, ReservationChange } from "./limits";

export interface SponsoredLeg {
  readonly legId: string;
  readonly chainId: number;
  readonly gas: UserOperationGas;
  /** The user operation, if it exists already. Its price and paymaster are used for the cost. */
  readonly operation?: UserOperation;
}

export interface SponsorBudget extends EffectiveBudget, Usage {
  readonly chain: SponsoredChain;
  readonly remainingWei: bigint;
  readonly resetsAt: Date;
}

/** Maximum number of callers whose limits are read in one statement. */
const LIMITS_AT_ONCE_MAX = 50;

/** The maximum cost of an operation in wei: all gas limits of `gas` at the price `maxFeePerGas`. */
const costOf = (gas: UserOperationGas | UserOperation, maxFeePerGas: bigint): bigint =>
  gasTotalOf(gas) * maxFeePerGas;

/**
 * The maximum cost of an operation for the sponsor, in wei. Null when the account pays for its gas.
 */
export const sponsoredCostOf = (operation: UserOperation): bigint | null =>
  operation.paymaster === undefined ? null : costOf(operation, operation.maxFeePerGas);

/**
 * Refuses an operation whose gas limit is above the limit of any transaction or above the sponsor's
 * ceiling.
 * @throws DomainError `sponsor_budget_exceeded`, `simulation_failed`
 */
const checkGas = (
  deps: SponsorshipDeps,
  input: { chainId: number; kind: SponsoredKind; gas: UserOperationGas },
): void => {
  const chain = deps.registry.get(input.chainId);
  const sponsored = isSponsored(chain);
  const gas = transactionGasAlone(input.gas, { isSponsored: sponsored });
  if (sponsored) {
    const ceiling = ceilingOf(chain, input.kind);
    if (gas > ceiling) throw aboveCeiling(chain, { kind: input.kind, gas, ceiling });
  }
  if (gas > TRANSACTION_GAS_MAX) throw aboveTransactionLimit(chain, gas, TRANSACTION_GAS_MAX);
};

/**
 * Refuses a transaction that a wallet pays for itself if its gas limit is above the limit of any
 * transaction.
 * @throws DomainError `simulation_failed`
 */
const checkTransactionGas = (
  deps: SponsorshipDeps,
  { chainId, gas }: { chainId: number; gas: readonly bigint[] },
): void => {
  const tooMuch = gas.find((each) => each > TRANSACTION_GAS_MAX);
  if (tooMuch !== undefined)
    throw aboveTransactionLimit(deps.registry.get(chainId), tooMuch, TRANSACTION_GAS_MAX);
};

/**
 * The maximum that the sponsor pays for each sponsored leg, in wei.
 * @throws DomainError `chain_unavailable`, `unsupported_chain`
 */
const costsOf = async (
  deps: SponsorshipDeps,
  legs: readonly SponsoredLeg[],
): Promise<GasCost[]> => {
  const costs = await Promise.all(
    legs.map(async ({ legId, chainId, gas, operation }): Promise<GasCost | null> => {
      if (operation !== undefined) {
        const maxWei = sponsoredCostOf(operation);
        return maxWei === null ? null : { legId, chainId, maxWei };
      }
      if (!isSponsored(deps.registry.get(chainId))) return null;
      return { legId, chainId, maxWei: costOf(gas, await deps.maxFeePerGas(chainId)) };
    }),
  );
  return costs.filter((cost) => cost !== null);
};

/**
 * Checks that the budgets cover the costs now. Reserves nothing, so `reserve` may still refuse the
 * operation later.
 * @throws DomainError `sponsor_budget_exceeded`
 */
const check = async (
  deps: CheckDeps,
  { projectId, kind, costs }: OperationCosts,
): Promise<void> => {
  if (costs.length === 0) return;
  const db = sqlOf(deps.database.prisma);
  const day = dayOf(deps.clock.now());
  const { budgets, usage } = await deps.limitsOf({ projectId, day: dayText(day) });
  for (const [chainId, each] of byChain(costs)) {
    const budget = budgetAt(deps, budgets, chainId);
    const neededWei = each.map(({ maxWei }) => maxWei);
    requireOperationBudget(deps, chainId, { kind, neededWei, budget });
    if (sum(neededWei) <= remainingOf(budget.dailyWei, usage.get(chainId))) continue;
    throw await refuseDay(
      deps,
      db,
      { projectId, chainId, day },
      { neededWei: sum(neededWei), dailyWei: budget.dailyWei },
    );
  }
};

/**
 * Limits and counts the network fees that the sponsor pays for a project's operations. Amounts are
 * in wei.
 */
export const createSponsorshipService = (deps: SponsorshipDeps) =>
  sponsorshipFunctions({ ...deps, limitsOf: createLimitsReader(deps) });

interface CheckDeps extends SponsorshipDeps {
  readonly limitsOf: ReturnType<typeof createLimitsReader>;
}

/**
 * Reads limits and usage. Callers for the same project that arrive during a statement share the
 * next one.
 */
const createLimitsReader = ({ database }: Pick<SponsorshipDeps, "database">) => {
  type Asked = Readonly<Record<"projectId" | "day", string>>;
  const db = keptSqlOn(database.pool);
  return createBatcher({
    run: async (asked: readonly Asked[]) => {
      const nameOf = ({ projectId, day }: Asked): string => `${projectId} ${day}`;
      const each = new Map(asked.map((one) => [nameOf(one), one]));
      const found = await Promise.all(
        [...each].map(
          async ([name, { projectId, day }]) =>
            [name, await readLimits(db, projectId, day)] as const,
        ),
      );
      const byName = new Map(found);
      return asked.map(
        (one) => byName.get(nameOf(one)) ?? new Error("The limits of a project were not read."),
      );
    },
    batchWeightMax: LIMITS_AT_ONCE_MAX,
  }).submit;
};

const sponsorshipFunctions = (deps: CheckDeps) => ({
  /**
   * Whether the sponsor pays the fees of smart accounts on the chain.
   * @throws DomainError `unsupported_chain`
   */
  pays: (chainId: number): boolean => isSponsored(deps.registry.get(chainId)),
  checkGas: bindDeps(deps, checkGas),
  checkTransactionGas: bindDeps(deps, checkTransactionGas),
  costsOf: bindDeps(deps, costsOf),
  check: bindDeps(deps, check),
  reserve: bindDeps(deps, reserveCosts),
  /**
   * Changes one reservation (see `changeReservations`).
   * @throws DomainError `sponsor_budget_exceeded` when the budgets do not cover the difference
   */
  adjust: (
    tx: Tx,
    reservation: Reservation,
    to: { toWei: bigint; operation: { kind: string; othersWei: bigint } },
  ): Promise<void> => changeReservations(deps, sqlOf(tx), [{ reservation, ...to }]),
  changeReservations: bindDeps(deps, changeReservations),

  /**
   * Ends reservations, in the transaction that ends their legs. The `spentWei` of each reservation
   * counts as spent, and the rest of its amount becomes available.
   */
  settle: async (
    tx: Tx,
    ended: readonly (Reservation & { readonly spentWei: bigint })[],
  ): Promise<void> => {
    const changes = ended.map(({ spentWei, ...reservation }) => ({ reservation, spentWei }));
    await changeReservations(deps, sqlOf(tx), changes);
  },

  /** The project's budgets and their usage today, for every chain on which the sponsor pays. */
  budgets: async (projectId: string): Promise<SponsorBudget[]> => {
    const db = sqlOf(deps.database.prisma);
    const day = dayOf(deps.clock.now());
    const { budgets, usage } = await readLimits(db, projectId, dayText(day));
    return deps.registry
      .list()
      .filter(isSponsored)
      .map((chain) => {
        const budget = budgetAt(deps, budgets, chain.id);
        const { reservedWei, usedWei } = usage.get(chain.id) ?? NOTHING_USED;
        const remainingWei = remainingOf(budget.dailyWei, { reservedWei, usedWei });
        return { chain, ...budget, reservedWei, usedWei, remainingWei, resetsAt: resetOf(day) };
      });
  },

  /**
   * Sets the operator's limits for a project, in wei. Null restores the configured limit. Returns
   * false when the project does not exist.
   */
  setBudget: (
    at: { projectId: string; chainId: number },
    budget: { readonly [K in keyof Budget]: bigint | null },
  ): Promise<boolean> =>
    deps.database.transaction(async (tx) => {
      const now = deps.clock.now();
      if (!(await writeBudget(sqlOf(tx), at, budget, now))) return false;
      const data = {
        dailyWei: budget.dailyWei?.toString() ?? null,
        operationWei: budget.operationWei?.toString() ?? null,
      };
      const subject = `chain:${String(at.chainId)}`;
      const entry = {
        projectId: at.projectId,
        actor: "operator",
        action: "sponsor_budget.set",
        subject,
      };
      await recordAudit(tx, { ...entry, data, request: null, at: now });
      return true;
    }),

  /** The operator's limits for a project, by chain id; null when the configured limit applies. */
  operatorBudgets: (projectId: string) => readBudgets(sqlOf(deps.database.prisma), projectId),
});

export type SponsorshipService = ReturnType<typeof createSponsorshipService>;
