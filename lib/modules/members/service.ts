import { ROLES, type Role, type UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import type { Tx } from "@/lib/db/client";
import type { GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { announceMemberRemoved } from "@/lib/modules/streams/service";
import { MEMBERS_MAX, type MembersDeps } from "./deps";
import { changedMeanwhile, lastOwner, ownersOnly } from "./errors";
import { withdrawInvitationsBy } from "./invitation-repository";
import { createInvitations, type Invitations } from "./invitations";
import type { Member } from "./member";
import { countOwners, deleteMember, findMember, listMembers, lockProject, renameProject, setRole } from "./repository";
import { raiseChange, raisedNotice } from "./texts";

export type { Member } from "./member";
export type { Invitation } from "./invitation";

/** The people of a project. One who is removed has no access after a second at most, on every instance. */
export interface MembersService extends Invitations {
  /** By joining (1,000 at most). */
  list(actor: UserActor): Promise<Member[]>;
  /**
   * Changes a member's role on every instance within a second. A role that may do more needs an approval. With a role that may manage no
   * API keys the keys that the person made are revoked: a key may do more than its maker may then, and its codes are mailed to its maker.
   * Invitations that the person could not make any more are withdrawn.
   * @throws DomainError `forbidden` unless owner or admin, or where only owners may; `not_found`; `invalid_state` for the last owner
   *   or a member that was changed meanwhile; `approval_required` and what else `requireApproval` throws
   */
  changeRole(actor: UserActor, userId: string, input: RoleChange): Promise<Member>;
  /**
   * Removes a member, or lets the actor leave. The person's API keys of this project are revoked, the person's invitations to it are
   * withdrawn, and the person's event streams end.
   * @throws DomainError `forbidden`, `not_found`, `invalid_state` for the last owner
   */
  remove(actor: UserActor, userId: string): Promise<{ readonly userId: string }>;
  /** @throws DomainError `forbidden` unless owner or admin */
  rename(actor: UserActor, name: string): Promise<{ readonly id: string; readonly name: string }>;
}

export interface RoleChange {
  readonly role: Role;
  readonly approval?: GivenApproval | undefined;
}

/** From what may do least to what may do most. */
const RANKS: readonly Role[] = ["viewer", "operator", "admin", "owner"];
const mayMore = (to: Role, from: Role): boolean => RANKS.indexOf(to) > RANKS.indexOf(from);

/** The service of a project's members and invitations. */
export const createMembersService = (deps: MembersDeps): MembersService => {
  const { database } = deps;
  return {
    ...createInvitations(deps),
    list: ({ projectId }) => listMembers(database.prisma, projectId, MEMBERS_MAX),
    changeRole: createRoleChange(deps),
    remove: createRemoval(deps),
    rename: async (actor, name) => {
      requirePermission(actor, "members:manage");
      const { projectId, userId } = actor;
      await database.transaction(async (tx) => {
        const before = await lockProject(tx, projectId);
        await renameProject(tx, projectId, name);
        const entry = { ...doneBy(actor), subject: projectId, at: deps.clock.now() };
        await recordAudit(tx, { ...entry, action: "project.renamed", data: { name, before } });
      });
      deps.projects.forget(userId);
      return { id: projectId, name };
    },
  };
};

const memberOf = async (deps: MembersDeps, projectId: string, userId: string): Promise<Member> => {
  const member = isId("user", userId) ? await findMember(deps.database.prisma, { projectId, userId }) : null;
  if (member === null) throw notFound();
  return member;
};

/** Owners are made, changed and removed by owners alone. */
const checkOwners = (actor: UserActor, ...roles: readonly Role[]): void => {
  if (actor.role !== "owner" && roles.includes("owner")) throw ownersOnly();
};

/** Ends what a person once made for the project and could not make with the new role. */
const endAuthority = async (
  { apiKeys }: Pick<MembersDeps, "apiKeys">,
  tx: Tx,
  actor: UserActor,
  { userId, role, at }: { readonly userId: string; readonly role: Role; readonly at: Date },
): Promise<void> => {
  if (!roleMay(role, "keys:manage")) await apiKeys.revokeKeysOf(tx, actor, userId);
  if (role === "owner") return;
  const roles = roleMay(role, "members:manage") ? (["owner"] as const) : ROLES;
  await withdrawInvitationsBy(tx, { projectId: actor.projectId, userId, roles, at });
};

const createRoleChange = (deps: MembersDeps): MembersService["changeRole"] => {
  const { database, clock } = deps;
  return async (actor, userId, { role: to, approval }) => {
    requirePermission(actor, "members:manage");
    const { projectId } = actor;
    const member = await memberOf(deps, projectId, userId);
    checkOwners(actor, member.role, to);
    if (member.role === to) return member;
    const isRaise = mayMore(to, member.role);
    const approved = isRaise
      ? await deps.approvals.requireApproval(actor, raiseChange(projectId, member, to), approval)
      : null;
    await database.transaction(async (tx) => {
      await lockProject(tx, projectId);
      await approved?.consume(tx);
      if (member.role === "owner" && (await countOwners(tx, projectId)) <= 1) throw lastOwner();
      if (!(await setRole(tx, { projectId, userId, from: member.role, to }))) throw changedMeanwhile();
      const at = clock.now();
      await endAuthority(deps, tx, actor, { userId, role: to, at });
      const data = { role: to, before: member.role, ...approved?.record };
      const entry = { ...doneBy(actor), subject: userId, at };
      await recordAudit(tx, { ...entry, action: "member.role_changed", data });
      if (isRaise) await deps.projects.tellOwners(tx, raisedNotice({ projectId, member, by: actor.userId }, to));
    });
    deps.projects.forget(userId);
    return { ...member, role: to };
  };
};

const createRemoval = (deps: MembersDeps): MembersService["remove"] => {
  const { database, clock } = deps;
  return async (actor, userId) => {
    const leaves = userId === actor.userId;
    if (!leaves) requirePermission(actor, "members:manage");
    const { projectId } = actor;
    const member = await memberOf(deps, projectId, userId);
    if (!leaves) checkOwners(actor, member.role);
    await database.transaction(async (tx) => {
      await lockProject(tx, projectId);
      const current = await findMember(tx, { projectId, userId });
      if (current === null) throw notFound();
      if (!leaves) checkOwners(actor, current.role);
      if (current.role === "owner" && (await countOwners(tx, projectId)) <= 1) throw lastOwner();
      await deleteMember(tx, projectId, userId);
      announceMemberRemoved(tx, { projectId, userId });
      const at = clock.now();
      await deps.apiKeys.revokeKeysOf(tx, actor, userId);
      await withdrawInvitationsBy(tx, { projectId, userId, roles: ROLES, at });
      const entry = { ...doneBy(actor), subject: userId, at };
      await recordAudit(tx, {
        ...entry,
        action: leaves ? "member.left" : "member.removed",
        data: { role: current.role },
      });
    });
    deps.projects.forget(userId);
    return { userId };
  };
};
