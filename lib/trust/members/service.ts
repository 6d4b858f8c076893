import type { Role, UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import {
  pageOf,
  readPlace,
  writePlace,
  type ListPage,
  type ListQuery,
} from "@/lib/core/list-place";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import type { Change, GivenApproval } from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { checkVotersLeft } from "@/lib/trust/policies/service";
import { announceMemberRemoved } from "@/lib/news/feed/service";
import {
  type ConcernedNotices,
  endAuthority,
  type Ending,
  lowerChange,
  loweredNotice,
  type MembersDeps,
  raiseChange,
  raisedNotice,
  readEnding,
  removeChange,
  removedNotice,
} from "./ending";
import { changedMeanwhile, lastOwner, ownersOnly } from "./errors";
import { createInvitations, type Invitations } from "./invitations";
import type { Member } from "./member";
import {
  countOwners,
  deleteMember,
  findMember,
  listMembers,
  lockProject,
  renameProject,
  setRole,
} from "./repository";

export type { Member } from "./member";
export type { Invitation } from "./member";

/** The people of a project. A removed person loses access on every instance within a second. */
export interface MembersService extends Invitations {
  /** A page of the members, in the order in which they joined. */
  list(actor: UserActor, query: ListQuery): Promise<ListPage<Member>>;
  /**
   * Changes a member's role on every instance within a second. A higher role, and a lower one for
   * an owner or admin, need an approval. Keys, endpoints, invitations and schedules that the person
   * made and could not make with the new role are stopped.
   * @throws DomainError `forbidden` unless owner or admin, or when only an owner may make the
   * change; `not_found`; `invalid_state` for the last owner, when too few people could vote after
   * the change, or for a member that was changed in the meantime; `approval_required` and the other
   * errors of `requireApproval`
   */
  changeRole(actor: UserActor, userId: string, input: RoleChange): Promise<Member>;
  /**
   * Removes a member, or lets the actor leave. The removal of an owner or admin needs an approval.
   * The person's API keys of this project are revoked, endpoints are disabled, invitations are
   * withdrawn, schedules are cancelled, and the person's event streams end.
   * @throws DomainError `forbidden`, `not_found`; `invalid_state` for the last owner, or when too
   * few people could vote after the removal; `approval_required` and the other errors of
   * `requireApproval`
   */
  remove(
    actor: UserActor,
    userId: string,
    approval: GivenApproval | undefined,
  ): Promise<{ readonly id: string }>;
  /**
   * Lists everything that `remove`, or `changeRole` to that role, would stop. Open invitations are
   * listed only for people who may manage members.
   * @throws DomainError `not_found`
   */
  removal(actor: UserActor, userId: string, to?: Role | null): Promise<Removal>;
  /** Renames the project. @throws DomainError `forbidden` unless owner or admin */
  rename(
    actor: UserActor,
    name: string,
  ): Promise<{ readonly id: string; readonly name: string }>;
}

export interface Removal extends Ending {
  readonly member: Member;
}

export interface RoleChange {
  readonly role: Role;
  readonly approval?: GivenApproval | undefined;
}

/** From the lowest to the highest role. */
const RANKS: readonly Role[] = ["viewer", "operator", "admin", "owner"];
const mayMore = (to: Role, from: Role): boolean => RANKS.indexOf(to) > RANKS.indexOf(from);

/** The service of a project's members and invitations. */
export const createMembersService = (deps: MembersDeps): MembersService => {
  const { database } = deps;
  return {
    ...createInvitations(deps),
    list: async ({ projectId }, { limit, cursor }) => {
      const after = cursor === undefined ? null : readPlace(cursor);
      const rows = await listMembers(database.prisma, projectId, { limit: limit + 1, after });
      return pageOf(rows, limit, ({ userId, joinedAt }) =>
        writePlace({ id: userId, key: joinedAt.toISOString() }),
      );
    },
    changeRole: createRoleChange(deps),
    ...createRemoval(deps),
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

const memberOf = async (
  deps: MembersDeps,
  projectId: string,
  userId: string,
): Promise<Member> => {
  const member = isId("user", userId)
    ? await findMember(deps.database.prisma, { projectId, userId })
    : null;
  if (member === null) throw notFound();
  return member;
};

/** Only owners may create, change or remove owners. */
const checkOwners = (actor: UserActor, ...roles: readonly Role[]): void => {
  if (actor.role !== "owner" && roles.includes("owner")) throw ownersOnly();
};

/** Whether removing or lowering this role needs an approval. */
const isGuarded = (role: Role): boolean => roleMay(role, "members:manage");

const changeOfRole = async (
  deps: MembersDeps,
  { projectId }: UserActor,
  member: Member,
  to: Role,
): Promise<Change> => {
  if (mayMore(to, member.role)) return raiseChange(projectId, member, to);
  const { userId } = member;
  return lowerChange(projectId, member, {
    to,
    ending: await readEnding(deps, deps.database.prisma, { projectId, userId, to }),
  });
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
    const next = { projectId, userId, to };
    const voter = { kind: "role", userId, to } as const;
    await checkLastOwner(database.prisma, member, next);
    await checkVotersLeft(database.prisma, projectId, voter);
    const change = await changeOfRole(deps, actor, member, to);
    const approved =
      isRaise || isGuarded(member.role)
        ? await deps.approvals.requireApproval(actor, change, approval)
        : null;
    await database.transaction(async (tx) => {
      await lockProject(tx, projectId);
      await checkLastOwner(tx, member, next);
      await checkVotersLeft(tx, projectId, voter);
      await approved?.consume(tx);
      if (!(await setRole(tx, { projectId, userId, from: member.role, to })))
        throw changedMeanwhile();
      const at = clock.now();
      await endAuthority(deps, tx, actor, { userId, to, at });
      const data = { role: to, before: member.role, ...approved?.record };
      const entry = { ...doneBy(actor), subject: userId, at };
      await recordAudit(tx, { ...entry, action: "member.role_changed", data });
      const told = { projectId, member, by: actor.userId };
      if (isRaise) await deps.projects.tellOwners(tx, raisedNotice(told, to));
      else await tellConcerned(deps, tx, loweredNotice(told, { to, lines: change.lines }));
    });
    deps.projects.forget(userId);
    return { ...member, role: to };
  };
};

const tellConcerned = async (
  { projects, outbox }: MembersDeps,
  tx: Tx,
  { owners, person }: ConcernedNotices,
): Promise<void> => {
  await projects.tellOwners(tx, owners);
  if (person !== null) await outbox.enqueue(tx, owners.projectId, person);
};

/** @throws DomainError `invalid_state` when the project would have no owner */
const checkLastOwner = async (
  db: Queryable,
  { role }: Pick<Member, "role">,
  { projectId, to }: { readonly projectId: string; readonly to: Role | null },
): Promise<void> => {
  if (role === "owner" && to !== "owner" && (await countOwners(db, projectId)) <= 1)
    throw lastOwner();
};

const createRemoval = (deps: MembersDeps): Pick<MembersService, "remove" | "removal"> => {
  const { database, clock } = deps;

  const remove: MembersService["remove"] = async (actor, userId, approval) => {
    const leaves = userId === actor.userId;
    if (!leaves) requirePermission(actor, "members:manage");
    const { projectId } = actor;
    const member = await memberOf(deps, projectId, userId);
    if (!leaves) checkOwners(actor, member.role);
    const left = { projectId, userId, to: null };
    const voter = { kind: "role", userId, to: null } as const;
    await checkLastOwner(database.prisma, member, left);
    await checkVotersLeft(database.prisma, projectId, voter);
    const change = removeChange(
      projectId,
      member,
      await readEnding(deps, database.prisma, left),
    );
    const approved = isGuarded(member.role)
      ? await deps.approvals.requireApproval(actor, change, approval)
      : null;
    await database.transaction(async (tx) => {
      await lockProject(tx, projectId);
      const current = await findMember(tx, { projectId, userId });
      if (current === null) throw notFound();
      // The approval names the role that was read before, so it does not cover another role.
      if (current.role !== member.role) throw changedMeanwhile();
      await checkLastOwner(tx, current, left);
      await checkVotersLeft(tx, projectId, voter);
      await approved?.consume(tx);
      const at = clock.now();
      await endAuthority(deps, tx, actor, { userId, to: null, at });
      await deleteMember(tx, projectId, userId);
      announceMemberRemoved(tx, { projectId, userId });
      const entry = { ...doneBy(actor), subject: userId, at };
      const data = { role: current.role, ...approved?.record };
      await recordAudit(tx, {
        ...entry,
        action: leaves ? "member.left" : "member.removed",
        data,
      });
      await tellConcerned(
        deps,
        tx,
        removedNotice({ projectId, member, by: actor.userId }, change.lines),
      );
    });
    deps.projects.forget(userId);
    return { id: userId };
  };

  const removal: MembersService["removal"] = async (actor, userId, to = null) => {
    const { projectId } = actor;
    const member = await memberOf(deps, projectId, userId);
    const ending = await readEnding(deps, database.prisma, { projectId, userId, to });
    const seesInvitations = userId === actor.userId || roleMay(actor.role, "members:manage");
    return { member, ...ending, invitations: seesInvitations ? ending.invitations : [] };
  };

  return { remove, removal };
};
