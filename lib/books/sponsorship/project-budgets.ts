/** The limits that a project sets for its sponsor's payments, below the operator's ceilings. */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import type { Budget, SponsoredChain } from "./limits";
import { replaceOwnBudget, type OwnBudget } from "./repository";
import type { SponsorBudget, SponsorshipService } from "./service";

interface ProjectBudgetsDeps {
  readonly database: Database;
  readonly registry: { get(chainId: number): SponsoredChain };
  readonly sponsorship: Pick<SponsorshipService, "budgets">;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly clock: Clock;
}

/**
 * A change of the project's own limits, in whole coins of the chain. Null removes a limit, so that
 * the ceiling applies. An absent field is not changed.
 */
export interface BudgetChange {
  readonly chainId: number;
  readonly dailyLimit?: string | null | undefined;
  readonly perOperation?: string | null | undefined;
  readonly approval?: GivenApproval | undefined;
}

const COIN_DECIMALS = 18;

const coins = ({ chain }: SponsorBudget, wei: bigint): string =>
  `${formatAmount(wei, COIN_DECIMALS)} ${chain.nativeCurrency.symbol}`;

const weiOf = (text: string, path: string): bigint =>
  /[1-9]/.test(text) ? parseAmount(text, COIN_DECIMALS, path) : 0n;

/**
 * The project's own limit after the change, in wei; null for none.
 * @throws DomainError `invalid_request` for a limit above the ceiling
 */
const limitOf = (
  budget: SponsorBudget,
  {
    given,
    kept,
    ceiling,
    path,
  }: {
    readonly given: string | null | undefined;
    readonly kept: bigint | null;
    readonly ceiling: bigint;
    readonly path: string;
  },
): bigint | null => {
  if (given === undefined) return kept;
  if (given === null) return null;
  const wei = weiOf(given, path);
  if (wei <= ceiling) return wei;
  throw invalidRequest([
    {
      path,
      message: `must be at most ${coins(budget, ceiling)}, which the operator of this installation has set`,
    },
  ]);
};

/** The effective limits. Own limits never exceed the ceilings. */
const effective = (own: OwnBudget, ceiling: Budget): Budget => ({
  dailyWei: own.dailyWei ?? ceiling.dailyWei,
  operationWei: own.operationWei ?? ceiling.operationWei,
});

const raiseOf = (
  projectId: string,
  budget: SponsorBudget,
  { own, to }: { own: OwnBudget; to: Budget },
): Change => ({
  kind: "sponsor_budget.raise",
  title: `Let the sponsor pay more network fees of this project on ${budget.chain.name}`,
  lines: [
    `A day: ${coins(budget, to.dailyWei)} (now ${coins(budget, budget.dailyWei)})`,
    `One operation: ${coins(budget, to.operationWei)} (now ${coins(budget, budget.operationWei)})`,
  ],
  values: {
    projectId,
    chainId: budget.chain.id,
    from: {
      dailyWei: budget.dailyWei.toString(),
      operationWei: budget.operationWei.toString(),
    },
    to: {
      dailyWei: own.dailyWei?.toString() ?? null,
      operationWei: own.operationWei?.toString() ?? null,
    },
  },
});

const raisedNotice = (
  { projectId, userId }: UserActor,
  { title, lines }: Change,
): OwnerNotice => ({
  projectId,
  subject: "The sponsor may pay more network fees of your project",
  text: (project) =>
    [
      `Of your project ${quoted(project)} (${projectId}) this was changed:`,
      "",
      title,
      ...lines.map((line) => `- ${line}`),
      `- Changed by: ${userId}`,
      "",
      "If this was not meant, lower the budget on the page Settings.",
    ].join("\n"),
});

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The budget was changed meanwhile. Read it again; this change was not made.",
  );

export const createProjectBudgets = (deps: ProjectBudgetsDeps) => {
  /**
   * The project's budget on a chain.
   * @throws DomainError `unsupported_chain`; `invalid_request` for a chain without a sponsor
   */
  const budgetOf = async (projectId: string, chainId: number): Promise<SponsorBudget> => {
    const { name } = deps.registry.get(chainId);
    const found = (await deps.sponsorship.budgets(projectId)).find(
      ({ chain }) => chain.id === chainId,
    );
    if (found !== undefined) return found;
    throw invalidRequest([
      { path: "chainId", message: `names ${name}, on which no sponsor pays` },
    ]);
  };

  /**
   * Changes the project's own limits. A lower limit takes effect immediately; a higher one needs an
   * approval.
   * @throws DomainError `forbidden` unless owner or admin; `invalid_request`, `unsupported_chain`,
   * `approval_required`; `invalid_state` when the limits were changed in the meantime
   */
  const set = async (actor: UserActor, change: BudgetChange): Promise<SponsorBudget> => {
    requirePermission(actor, "policies:manage");
    const { projectId } = actor;
    const { chainId, dailyLimit, perOperation } = change;
    const budget = await budgetOf(projectId, chainId);
    const { own: from, ceiling } = budget;
    const own: OwnBudget = {
      dailyWei: limitOf(budget, {
        ...{ given: dailyLimit, kept: from.dailyWei, path: "dailyLimit" },
        ceiling: ceiling.dailyWei,
      }),
      operationWei: limitOf(budget, {
        ...{ given: perOperation, kept: from.operationWei, path: "perOperation" },
        ceiling: ceiling.operationWei,
      }),
    };
    if (own.dailyWei === from.dailyWei && own.operationWei === from.operationWei) return budget;
    const to = effective(own, ceiling);
    const isRaise = to.dailyWei > budget.dailyWei || to.operationWei > budget.operationWei;
    const approved = isRaise
      ? await deps.approvals.requireApproval(
          actor,
          raiseOf(projectId, budget, { own, to }),
          change.approval,
        )
      : null;
    await deps.database.transaction(async (tx) => {
      const at = deps.clock.now();
      await approved?.consume(tx);
      if (!(await replaceOwnBudget(sqlOf(tx), { projectId, chainId }, { from, to: own, at })))
        throw changedMeanwhile();
      const data = {
        dailyLimit: coins(budget, to.dailyWei),
        perOperation: coins(budget, to.operationWei),
        before: `${coins(budget, budget.dailyWei)} a day, ${coins(budget, budget.operationWei)} for one operation`,
        ...approved?.record,
      };
      const entry = {
        ...doneBy(actor),
        action: "sponsor_budget.changed",
        subject: `chain:${String(chainId)}`,
        at,
      };
      await recordAudit(tx, { ...entry, data });
      if (isRaise)
        await deps.projects.tellOwners(
          tx,
          raisedNotice(actor, raiseOf(projectId, budget, { own, to })),
        );
    });
    return budgetOf(projectId, chainId);
  };

  return { set };
};
