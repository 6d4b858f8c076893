/** The project's setting: how many people must approve what awaits approval, and who may. */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import type { Database } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { ApprovalsService, Change, GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { Requirement } from "./decision";
import { countEligible, readRequirement, writeRequirement } from "./repository";

interface VotingPolicyDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly clock: Clock;
}

export interface VotingPolicy {
  /**
   * Changes the setting. Requests that are open keep what they demanded. A stricter setting counts at once; a weaker one needs an approval,
   * and all owners are mailed.
   * @throws DomainError `forbidden` unless owner or admin; `invalid_request` when fewer members may vote than must; `approval_required`;
   *   `invalid_state` when it was changed meanwhile
   */
  set(actor: UserActor, to: Requirement | null, approval: GivenApproval | undefined): Promise<void>;
}

const inWords = (required: Requirement | null): string =>
  required === null
    ? "the code of one person"
    : `${String(required.count)} of the ${required.roles.join(", ")}${required.excludeMaker ? ", without the person who asked" : ""}`;

/** Whether everything that `to` lets through, `from` lets through as well. */
const isAsStrict = (to: Requirement | null, from: Requirement | null): boolean => {
  if (from === null) return true;
  if (to === null || to.count < from.count || (from.excludeMaker && !to.excludeMaker)) return false;
  return to.roles.every((role) => from.roles.includes(role));
};

const plain = (required: Requirement | null) =>
  required === null ? null : { ...required, roles: [...required.roles].sort() };

const weaker = (projectId: string, from: Requirement | null, to: Requirement | null): Change => ({
  kind: "policy.approvals",
  title: "Let payments of this project leave with fewer approvals",
  lines: [`Payments are approved by: ${inWords(to)} (now ${inWords(from)})`],
  values: { projectId, from: plain(from), to: plain(to) },
});

const notice = (projectId: string, userId: string, words: { from: string; to: string }) => ({
  projectId,
  subject: "Payments of your project need fewer approvals",
  text: [
    `Payments of the project ${projectId} are now approved by: ${words.to}. Before it was: ${words.from}.`,
    `Changed by: ${userId}`,
    "",
    "If this was not meant, change it back on the page Settings.",
  ].join("\n"),
});

export const createVotingPolicy = ({ database, approvals, projects, clock }: VotingPolicyDeps): VotingPolicy => ({
  set: async (actor, to, approval) => {
    requirePermission(actor, "policies:manage");
    const { projectId, userId } = actor;
    const from = await readRequirement(sqlOf(database.prisma), projectId);
    if (isAsStrict(to, from) && isAsStrict(from, to)) return;
    if (to !== null) {
      const eligible = await countEligible(database.prisma, projectId, to.roles);
      const message = `must be at most ${String(eligible)}, the number of members who may vote`;
      if (eligible < to.count) throw invalidRequest([{ path: "approvals.count", message }]);
    }
    const isWeaker = !isAsStrict(to, from);
    const approved = isWeaker ? await approvals.requireApproval(actor, weaker(projectId, from, to), approval) : null;
    const words = { from: inWords(from), to: inWords(to) };
    await database.transaction(async (tx) => {
      await approved?.consume(tx);
      if (!(await writeRequirement(tx, { projectId, from, to })))
        throw new DomainError(
          "invalid_state",
          "The setting was changed meanwhile. Read it again; nothing was changed.",
        );
      const entry = { ...doneBy(actor), subject: projectId, at: clock.now() };
      const data = { approvals: words.to, before: words.from, ...approved?.record };
      await recordAudit(tx, { ...entry, action: "policy.updated", data });
      const event = { scope: "project", subjectId: projectId, change: "approvals", version: null, changedBy: userId };
      await recordEvents(tx, [{ projectId, type: "policy.changed", objectId: projectId, data: event, at: entry.at }]);
      if (isWeaker) await projects.tellOwners(tx, notice(projectId, userId, words));
    });
  },
});
