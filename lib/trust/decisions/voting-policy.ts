/** The project's setting: how many people must approve waiting objects, and who may. */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { EXEMPTING_KEYS, requireOwner, requirePermission } from "@/lib/core/permissions";
import type { Database, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import type { ApprovalsService, Change, GivenApproval } from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { recordEvents } from "@/lib/news/events/service";
import { checkVoteRule } from "@/lib/trust/policies/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import type { VotingSetting } from "./decision";
import { lockVoting, readRequirement, writeRequirement } from "./repository";

interface VotingPolicyDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners">;
  readonly clock: Clock;
}

export interface VotingPolicy {
  /**
   * Changes the setting. A stricter setting takes effect immediately, even for objects that are
   * already waiting for votes. A weaker setting needs an approval, and all owners are mailed. Only
   * an owner may let exempt keys move money without votes.
   * @throws DomainError `forbidden` unless owner or admin; `invalid_request` when fewer people can
   * vote than the setting demands; `approval_required`; `invalid_state` when the setting was
   * changed in the meantime
   */
  set(
    actor: UserActor,
    to: VotingSetting | null,
    approval: GivenApproval | undefined,
  ): Promise<void>;
}

const inWords = (required: VotingSetting | null): string => {
  if (required === null) return "the code of one person";
  const { count, roles, excludeMaker, exemptKeys } = required;
  const maker = excludeMaker ? ", without the person who asked" : "";
  const keys = exemptKeys
    ? "; API keys that are exempt from codes need no votes within their daily caps"
    : "";
  return `${String(count)} of the ${roles.join(", ")}${maker}${keys}`;
};

/** Whether `from` already allows everything that `to` allows. */
const isAsStrict = (to: VotingSetting | null, from: VotingSetting | null): boolean => {
  if (from === null) return true;
  if (to === null || to.count < from.count || (from.excludeMaker && !to.excludeMaker))
    return false;
  if (to.exemptKeys && !from.exemptKeys) return false;
  return to.roles.every((role) => from.roles.includes(role));
};

const isSame = (to: VotingSetting | null, from: VotingSetting | null): boolean =>
  (to === null) === (from === null) && isAsStrict(to, from) && isAsStrict(from, to);

const plain = (required: VotingSetting | null) =>
  required === null ? null : { ...required, roles: [...required.roles].sort() };

const weaker = (
  projectId: string,
  from: VotingSetting | null,
  to: VotingSetting | null,
): Change => ({
  kind: "policy.approvals",
  title: "Let payments of this project leave with fewer approvals",
  lines: [`Payments are approved by: ${inWords(to)} (now ${inWords(from)})`],
  values: { projectId, from: plain(from), to: plain(to) },
});

/**
 * Checks that enough people can vote under the new setting.
 * @throws DomainError `invalid_request` when fewer people can vote than the setting demands
 */
const checkEnough = async (
  tx: Tx,
  projectId: string,
  to: VotingSetting | null,
): Promise<void> => {
  if (to === null) return;
  await checkVoteRule(tx, projectId, {
    of: "setting",
    subjectId: projectId,
    approvals: to,
    path: "approvals.count",
  });
};

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

export const createVotingPolicy = ({
  database,
  approvals,
  projects,
  clock,
}: VotingPolicyDeps): VotingPolicy => ({
  set: async (actor, to, approval) => {
    requirePermission(actor, "policies:manage");
    const { projectId, userId } = actor;
    const from = await readRequirement(sqlOf(database.prisma), projectId);
    if (isSame(to, from)) return;
    const isException = to?.exemptKeys === true && from?.exemptKeys !== true;
    if (isException) requireOwner(actor, EXEMPTING_KEYS);
    await checkEnough(database.prisma, projectId, to);
    const isWeaker = isException || !isAsStrict(to, from);
    const approved = isWeaker
      ? await approvals.requireApproval(actor, weaker(projectId, from, to), approval)
      : null;
    const words = { from: inWords(from), to: inWords(to) };
    await database.transaction(async (tx) => {
      // A concurrent removal of a member waits for this lock, or was committed before and is
      // visible here.
      await lockVoting(tx, projectId);
      await checkEnough(tx, projectId, to);
      await approved?.consume(tx);
      if (!(await writeRequirement(tx, { projectId, from, to })))
        throw new DomainError(
          "invalid_state",
          "The setting was changed meanwhile. Read it again; nothing was changed.",
        );
      const entry = { ...doneBy(actor), subject: projectId, at: clock.now() };
      const data = { approvals: words.to, before: words.from, ...approved?.record };
      await recordAudit(tx, { ...entry, action: "policy.updated", data });
      const event = {
        scope: "project",
        subjectId: projectId,
        change: "approvals",
        version: null,
        changedBy: userId,
      };
      await recordEvents(tx, [
        { projectId, type: "policy.changed", objectId: projectId, data: event, at: entry.at },
      ]);
      if (isWeaker) await projects.tellOwners(tx, notice(projectId, userId, words));
    });
  },
});
