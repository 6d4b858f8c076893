import { randomBytes } from "node:crypto";
import type { Role, UserActor } from "@/lib/core/actor";
import { base62 } from "@/lib/core/base62";
import { addSeconds } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import type { Tx } from "@/lib/db/client";
import type { GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { recordEvents } from "@/lib/modules/events/service";
import { maskEmail } from "@/lib/modules/mail/service";
import { MEMBERS_MAX, type MembersDeps } from "./deps";
import { alreadyMember, notOpen, otherAddress, ownersOnly, projectIsFull } from "./errors";
import { invitationStatus, type Invitation } from "./invitation";
import {
  acceptInvitation,
  findByToken,
  findInvitation,
  insertInvitation,
  listInvitations,
  withdrawEarlier,
  withdrawInvitation,
} from "./invitation-repository";
import { hashOf } from "./invitation-token";
import { countMembers, findMember, insertMember, listMembers, lockProject, readProjectName } from "./repository";
import { invitationMail, inviteChange, joinedNotice } from "./texts";

/** The invitation as a person who holds the mailed link sees it before accepting. */
export interface InvitationView {
  readonly invitation: Invitation;
  readonly projectName: string;
}

export interface Invitations {
  /**
   * Invites an address: stores the invitation and mails its link. An earlier open invitation of the address stops being good.
   * @throws DomainError `forbidden` unless owner or admin, or for an owner's role unless owner; `invalid_state` for a member;
   *   `approval_required` and what else `requireApproval` throws
   */
  invite(actor: UserActor, input: NewInvitation): Promise<Invitation>;
  /** Newest first (1,000 at most). @throws DomainError `forbidden` unless owner or admin */
  listInvitations(actor: UserActor): Promise<Invitation[]>;
  /** @throws DomainError `forbidden`, `not_found`, `invalid_state` when it is not open any more */
  withdraw(actor: UserActor, id: string): Promise<Invitation>;
  /** @throws DomainError `not_found` for an unknown token */
  lookUp(token: string): Promise<InvitationView>;
  /**
   * Makes the signed-in person a member. The same person may accept again, which changes nothing.
   * @throws DomainError `not_found` for an unknown token; `forbidden` unless the invited address is the person's verified one;
   *   `invalid_state` when the invitation is not open, or the person is a member already
   */
  accept(actor: UserActor, token: string): Promise<{ readonly projectId: string; readonly role: Role }>;
}

export interface NewInvitation {
  readonly email: string;
  readonly role: Role;
  readonly approval?: GivenApproval | undefined;
}

const INVITATION_SECONDS = 7 * 24 * 3600;
const INVITATIONS_MAX = 1000;
const TOKEN_BYTES = 32;

export const createInvitations = (deps: MembersDeps): Invitations => {
  const { database, clock } = deps;
  return {
    invite: createInvite(deps),
    listInvitations: (actor) => {
      requirePermission(actor, "members:manage");
      return listInvitations(database.prisma, actor.projectId, INVITATIONS_MAX);
    },
    withdraw: async (actor, id) => {
      requirePermission(actor, "members:manage");
      const { projectId } = actor;
      const at = clock.now();
      return database.transaction(async (tx) => {
        const found = isId("invitation", id) ? await findInvitation(tx, projectId, id) : null;
        if (found === null) throw notFound();
        const withdrawn = await withdrawInvitation(tx, { projectId, id, at });
        if (withdrawn === null) throw notOpen(found.acceptedAt === null ? "withdrawn" : "accepted");
        const entry = { ...doneBy(actor), subject: id, at };
        const data = { email: maskEmail(withdrawn.email), role: withdrawn.role };
        await recordAudit(tx, { ...entry, action: "invitation.withdrawn", data });
        return withdrawn;
      });
    },
    lookUp: async (token) => {
      const invitation = await findByToken(database.prisma, hashOf(token));
      if (invitation === null) throw notFound();
      return { invitation, projectName: await readProjectName(database.prisma, invitation.projectId) };
    },
    accept: createAccept(deps),
  };
};

const createInvite = (deps: MembersDeps): Invitations["invite"] => {
  const { database, clock } = deps;

  const checkIsNew = async (actor: UserActor, email: string): Promise<void> => {
    const members = await listMembers(database.prisma, actor.projectId, MEMBERS_MAX);
    if (members.length >= MEMBERS_MAX) throw projectIsFull(MEMBERS_MAX);
    if (members.some((member) => member.email === email)) throw alreadyMember();
  };

  return async (actor, { email: typed, role, approval }) => {
    requirePermission(actor, "members:manage");
    if (role === "owner" && actor.role !== "owner") throw ownersOnly();
    const { projectId, userId } = actor;
    const email = typed.toLowerCase();
    await checkIsNew(actor, email);
    const approved = await deps.approvals.requireApproval(actor, inviteChange({ projectId, email, role }), approval);
    const token = base62(randomBytes(TOKEN_BYTES));
    return database.transaction(async (tx) => {
      const project = (await lockProject(tx, projectId)) ?? "";
      const inviter = await findMember(tx, { projectId, userId });
      // The role of the request may be a second old.
      if (inviter === null || !roleMay(inviter.role, "members:manage")) throw notFound();
      await approved.consume(tx);
      const createdAt = clock.now();
      const expiresAt = addSeconds(createdAt, INVITATION_SECONDS);
      await withdrawEarlier(tx, { projectId, email, at: createdAt });
      const id = newId("invitation");
      const stored = { id, projectId, email, role, invitedBy: userId, createdAt, expiresAt };
      const invitation = await insertInvitation(tx, { ...stored, tokenHash: hashOf(token) });
      // Behind the #, so that no server and no proxy writes the token into its log.
      const link = `${deps.publicUrl}/join#${token}`;
      const invitedBy = inviter.email ?? inviter.address;
      await deps.outbox.enqueue(
        tx,
        projectId,
        invitationMail({ to: email, project, role, invitedBy, link, expiresAt }),
      );
      const entry = { ...doneBy(actor), subject: id, at: createdAt };
      const data = { email: maskEmail(email), role, ...approved.record };
      await recordAudit(tx, { ...entry, action: "invitation.created", data });
      return invitation;
    });
  };
};

const createAccept = (deps: MembersDeps): Invitations["accept"] => {
  const { database, clock } = deps;

  const join = async (tx: Tx, { userId, request }: UserActor, invitation: Invitation): Promise<void> => {
    const { id, projectId, role, invitedBy } = invitation;
    const at = clock.now();
    await lockProject(tx, projectId);
    if ((await findMember(tx, { projectId, userId })) !== null) throw alreadyMember();
    if ((await countMembers(tx, projectId)) >= MEMBERS_MAX) throw projectIsFull(MEMBERS_MAX);
    if (!(await acceptInvitation(tx, { id, userId, at }))) throw notOpen("withdrawn");
    await insertMember(tx, { projectId, userId, role, createdAt: at });
    const member = await findMember(tx, { projectId, userId });
    const entry = { projectId, actor: userId, request: request ?? null, subject: userId, at };
    await recordAudit(tx, { ...entry, action: "member.joined", data: { role, invitationId: id, invitedBy } });
    await recordEvents(tx, [
      { projectId, type: "member.joined", objectId: userId, data: { userId, role, invitedBy }, at },
    ]);
    if (member !== null) await deps.projects.tellOwners(tx, joinedNotice({ projectId, member, by: invitedBy }));
  };

  return async (actor, token) => {
    const { userId } = actor;
    const invitation = await findByToken(database.prisma, hashOf(token));
    if (invitation === null) throw notFound();
    const { projectId, role } = invitation;
    const own = await deps.people.verifiedEmail(userId);
    if (own !== invitation.email) throw otherAddress(invitation.email, own);
    const status = invitationStatus(invitation, clock.now());
    const isDone = status === "accepted" && invitation.acceptedBy === userId;
    if (isDone && (await findMember(database.prisma, { projectId, userId })) !== null) return { projectId, role };
    if (status !== "open") throw notOpen(status);
    await database.transaction((tx) => join(tx, actor, invitation));
    deps.projects.forget(userId);
    return { projectId, role };
  };
};
