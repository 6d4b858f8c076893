import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { isMoreUsd, plainUsd } from "@/lib/core/usd";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/platform/db/client";
import type { ApprovalsService, Change, GivenApproval } from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { recordPolicyChange } from "./policy-event";
import type { DecisionsService, VotingSetting } from "@/lib/trust/decisions/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import { readProjectSpend, replaceDailyCap } from "./spend-repository";
import type { PoliciesService } from "./service";

export interface ProjectPolicy {
  /**
   * The most that all exempt keys together may pay without a code per UTC day, in US dollars
   * (decimal string).
   */
  readonly dailyCapUsd: string;
  readonly spentTodayUsd: string;
  /**
   * Who must approve movements out of managed wallets and accounts; null when the project demands
   * no votes.
   */
  readonly approvals: VotingSetting | null;
}

export interface ProjectPolicies {
  get(projectId: string): Promise<ProjectPolicy>;
  /**
   * Changes the limits. A lower limit takes effect immediately; a higher one needs an approval.
   * @throws DomainError `forbidden` unless owner or admin, `approval_required`, `invalid_state`
   * when the limit was changed concurrently
   */
  update(actor: UserActor, input: PolicyUpdate): Promise<ProjectPolicy>;
}

interface PolicyUpdate {
  readonly dailyCapUsd: string;
  readonly approval?: GivenApproval | undefined;
}

interface ProjectPoliciesDeps {
  readonly database: Database;
  readonly policies: Pick<PoliciesService, "dailyCapUsd">;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly decisions: Pick<DecisionsService, "requirementOf">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly clock: Clock;
}

export const createProjectPolicies = (deps: ProjectPoliciesDeps): ProjectPolicies => {
  const { database, policies, clock } = deps;

  const get = async (projectId: string): Promise<ProjectPolicy> => {
    const day = clock.now().toISOString().slice(0, 10);
    const [dailyCapUsd, spentTodayUsd, approvals] = await Promise.all([
      policies.dailyCapUsd(projectId),
      readProjectSpend(database.prisma, projectId, day),
      deps.decisions.requirementOf(projectId),
    ]);
    return { dailyCapUsd, spentTodayUsd, approvals };
  };

  const update: ProjectPolicies["update"] = async (actor, input) => {
    requirePermission(actor, "policies:manage");
    const { projectId, userId } = actor;
    const [from, to] = [await policies.dailyCapUsd(projectId), plainUsd(input.dailyCapUsd)];
    if (from === to) return get(projectId);
    const isRaise = isMoreUsd(to, from);
    const approved = isRaise
      ? await deps.approvals.requireApproval(
          actor,
          raiseOf(projectId, from, to),
          input.approval,
        )
      : null;
    await database.transaction(async (tx) => {
      const at = clock.now();
      await approved?.consume(tx);
      if (!(await replaceDailyCap(tx, { projectId, from, to }))) throw changedMeanwhile();
      const data = { dailyCapUsd: to, before: from, ...approved?.record };
      await recordAudit(tx, {
        ...doneBy(actor),
        subject: projectId,
        action: "policy.updated",
        data,
        at,
      });
      const subject = { projectId, scope: "project", subjectId: projectId } as const;
      await recordPolicyChange(tx, {
        ...subject,
        change: "daily_cap",
        version: null,
        changedBy: userId,
        at,
      });
      if (isRaise)
        await deps.projects.tellOwners(tx, raisedNotice({ projectId, userId, from, to }));
    });
    return get(projectId);
  };

  return { get, update };
};

const raiseOf = (projectId: string, from: string, to: string): Change => ({
  kind: "policy.update",
  title: "Raise what API keys of this project together move in a day without a code",
  lines: [`Daily cap of the project: ${to} US dollars (now ${from})`],
  values: { projectId, from, to },
});

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The policy was changed meanwhile. Read it again; this change was not made.",
  );

const raisedNotice = ({
  projectId,
  userId,
  from,
  to,
}: Record<"projectId" | "userId" | "from" | "to", string>) => ({
  projectId,
  subject: "The daily cap of your project was raised",
  text: [
    `API keys of the project ${projectId} may now move ${to} US dollars a day without a code, all together. Before it was ${from}.`,
    `Changed by: ${userId}`,
    "",
    "If this was not meant, lower the cap on the page Settings, and revoke keys that you do not know on the page API keys.",
  ].join("\n"),
});
