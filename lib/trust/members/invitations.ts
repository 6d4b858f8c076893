import { createHash, randomBytes } from "node:crypto";
import type { Role, UserActor } from "@/lib/core/actor";
import { base62 } from "@/lib/core/base62";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import { isSameMailbox } from "@/lib/core/mailbox";
import { requirePermission, roleMay } from "@/lib/core/permissions";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import type { GivenApproval } from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import { recordEvents } from "@/lib/news/events/service";
import { maskEmail } from "@/lib/news/mail/service";
import {
  invitationMail,
  inviteChange,
  joinedNotice,
  MEMBERS_MAX,
  type MembersDeps,
} from "./ending";
import {
  alreadyMember,
  needsOwnAddress,
  notOpen,
  otherAddress,
  ownersOnly,
  projectIsFull,
} from "./errors";
import { type Invitation, invitationStatus } from "./member";
import {
  acceptInvitation,
  countMembers,
  findByToken,
  findInvitation,
  findMember,
  insertInvitation,
  insertMember,
  listInvitations,
  listMembers,
  lockProject,
  readProjectName,
  withdrawEarlier,
  withdrawInvitation,
} from "./repository";

/** The SHA-256 of an invitation's token, which is stored instead of the token. */
export const hashOf = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash("sha256").update(token).digest());

export interface InvitationView {
  readonly invitation: Invitation;
  readonly projectName: string;
}

export interface Invitations {
  /**
   * Invites an address: stores the invitation and mails its link. An earlier open invitation of the
   * address becomes invalid.
   * @throws DomainError `forbidden` unless owner or admin, or for an owner's role unless owner;
   * `invalid_state` for a member, or when the inviting person has no verified address;
   * `rate_limited`; `approval_required` and the other errors of `requireApproval`
   */
  invite(actor: UserActor, input: NewInvitation): Promise<Invitation>;
  /** Newest first (1,000 at most). @throws DomainError `forbidden` unless owner or admin */
  listInvitations(actor: UserActor): Promise<Invitation[]>;
  /**
   * Withdraws an open invitation.
   * @throws DomainError `forbidden`, `not_found`, `invalid_state` when the invitation is not open
   */
  withdraw(actor: UserActor, id: string): Promise<Invitation>;
  /**
   * The invitation to which the token of a mailed link belongs, in any state.
   * @throws DomainError `not_found` for an unknown token
   */
  lookUp(token: string): Promise<InvitationView>;
  /**
   * Makes the signed-in person a member. Accepting again changes nothing.
   * @throws DomainError `not_found` for an unknown token; `forbidden` unless the invited address is
   * the person's verified one; `invalid_state` when the invitation is not open, or the person is a
   * member already
   */
  accept(
    actor: UserActor,
    token: string,
  ): Promise<{ readonly projectId: string; readonly role: Role }>;
}

interface NewInvitation {
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
        if (withdrawn === null)
          throw notOpen(found.acceptedAt === null ? "withdrawn" : "accepted");
        const entry = { ...doneBy(actor), subject: id, at };
        const data = { email: maskEmail(withdrawn.email), role: withdrawn.role };
        await recordAudit(tx, { ...entry, action: "invitation.withdrawn", data });
        return withdrawn;
      });
    },
    lookUp: async (token) => {
      const invitation = await findByToken(database.prisma, hashOf(token));
      if (invitation === null) throw notFound();
      return {
        invitation,
        projectName: await readProjectName(database.prisma, invitation.projectId),
      };
    },
    accept: createAccept(deps),
  };
};

const createInvite = (deps: MembersDeps): Invitations["invite"] => {
  const { database, clock } = deps;

  const checkIsNew = async (actor: UserActor, email: string): Promise<void> => {
    const members = await listMembers(database.prisma, actor.projectId, { limit: MEMBERS_MAX });
    if (members.length >= MEMBERS_MAX) throw projectIsFull(MEMBERS_MAX);
    if (members.some((member) => isSameMailbox(member.email, email))) throw alreadyMember();
  };

  return async (actor, { email: typed, role, approval }) => {
    requirePermission(actor, "members:manage");
    if (role === "owner" && actor.role !== "owner") throw ownersOnly();
    const { projectId, userId } = actor;
    const email = typed.toLowerCase();
    await checkIsNew(actor, email);
    const invitedBy = await deps.people.verifiedEmail(userId);
    if (invitedBy === null) throw needsOwnAddress();
    const id = newId("invitation");
    await database.transaction((tx) =>
      deps.limits.checkInvitation(tx, { id, at: clock.now(), actor, email }),
    );
    const approved = await deps.approvals.requireApproval(
      actor,
      inviteChange({ projectId, email, role }),
      approval,
    );
    const token = base62(randomBytes(TOKEN_BYTES));
    return database.transaction(async (tx) => {
      const project = (await lockProject(tx, projectId)) ?? "";
      const inviter = await findMember(tx, { projectId, userId });
      // The role in the request may be a second old, so it is read again.
      if (inviter === null || !roleMay(inviter.role, "members:manage")) throw notFound();
      await approved.consume(tx);
      const createdAt = clock.now();
      const expiresAt = addSeconds(createdAt, INVITATION_SECONDS);
      await deps.limits.countInvitation(tx, { id, at: createdAt, actor, email });
      await withdrawEarlier(tx, { projectId, email, at: createdAt });
      const stored = { id, projectId, email, role, invitedBy: userId, createdAt, expiresAt };
      const invitation = await insertInvitation(tx, { ...stored, tokenHash: hashOf(token) });
      // After the #, so that no server and no proxy writes the token into its log.
      const link = `${deps.publicUrl}/join#${token}`;
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

  const join = async (
    tx: Tx,
    { userId, request }: UserActor,
    invitation: Invitation,
  ): Promise<void> => {
    const { id, projectId, role, invitedBy } = invitation;
    const at = clock.now();
    await lockProject(tx, projectId);
    if ((await findMember(tx, { projectId, userId })) !== null) throw alreadyMember();
    // One mailbox is one person, who can be a member only once.
    const members = await listMembers(tx, projectId, { limit: MEMBERS_MAX });
    if (members.some(({ email }) => isSameMailbox(email, invitation.email)))
      throw alreadyMember();
    if ((await countMembers(tx, projectId)) >= MEMBERS_MAX) throw projectIsFull(MEMBERS_MAX);
    if (!(await acceptInvitation(tx, { id, userId, at }))) throw notOpen("withdrawn");
    await insertMember(tx, { projectId, userId, role, createdAt: at });
    const member = await findMember(tx, { projectId, userId });
    const entry = { projectId, actor: userId, request: request ?? null, subject: userId, at };
    await recordAudit(tx, {
      ...entry,
      action: "member.joined",
      data: { role, invitationId: id, invitedBy },
    });
    await recordEvents(tx, [
      {
        projectId,
        type: "member.joined",
        objectId: userId,
        data: { userId, role, invitedBy },
        at,
      },
    ]);
    if (member !== null)
      await deps.projects.tellOwners(tx, joinedNotice({ projectId, member, by: invitedBy }));
  };

  return async (actor, token) => {
    const { userId } = actor;
    const invitation = await findByToken(database.prisma, hashOf(token));
    if (invitation === null) throw notFound();
    const { projectId, role } = invitation;
    const own = await deps.people.verifiedEmail(userId);
    if (!isSameMailbox(own, invitation.email)) throw otherAddress(invitation.email, own);
    const status = invitationStatus(invitation, clock.now());
    const isDone = status === "accepted" && invitation.acceptedBy === userId;
    if (isDone && (await findMember(database.prisma, { projectId, userId })) !== null)
      return { projectId, role };
    if (status !== "open") throw notOpen(status);
    await database.transaction((tx) => join(tx, actor, invitation));
    deps.projects.forget(userId);
    return { projectId, role };
  };
};

interface OpenInvitations {
  isOpen(db: Queryable, token: string): Promise<boolean>;
}

/** Invitations for the sign-in: an open one admits its holder when sign-up is closed. */
export const createOpenInvitations = ({
  clock,
}: {
  readonly clock: Clock;
}): OpenInvitations => ({
  isOpen: async (db, token) => {
    const invitation = await findByToken(db, hashOf(token));
    return invitation !== null && invitationStatus(invitation, clock.now()) === "open";
  },
});
