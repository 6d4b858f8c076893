import type { Clock } from "@/lib/core/clock";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import type { ApiKeysService, NamedKey } from "@/lib/trust/api-keys/service";
import { type ApprovalsService, type Change, quoted } from "@/lib/trust/proofs/service";
import type { CodeLimits } from "@/lib/trust/proofs/service";
import type { MailOutbox } from "@/lib/news/mail/service";
import type { OwnerNotice, ProjectsService } from "@/lib/trust/projects/service";
import { type Actor, type Role, ROLES, type UserActor } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import type { Invitation, Member } from "./member";
import { listInvitationsBy, withdrawInvitationsBy } from "./repository";
import type { Mail } from "@/lib/platform/ports/mail";

interface NamedEndpoint {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
}

interface NamedSchedule {
  readonly id: string;
  readonly reference: string | null;
  readonly rows: number;
  readonly chainId: number;
}

/**
 * Objects that act for the person who made them, such as webhook endpoints. They are stopped when
 * the person's role no longer allows them. Their module depends on this one, so it registers how
 * to list and to stop them.
 */
export interface MadeByMembers<Thing> {
  /**
   * Lists the objects that still act and that one of these people or API keys made, oldest first.
   */
  list(
    db: Queryable,
    by: { readonly projectId: string; readonly makers: readonly string[] },
  ): Promise<readonly Thing[]>;
  /**
   * Stops the objects of these makers in the caller's transaction, with an audit entry for each.
   */
  stop(
    tx: Tx,
    actor: Actor,
    by: { readonly makers: readonly string[]; readonly at: Date },
  ): Promise<void>;
}

export interface MembersDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly projects: Pick<ProjectsService, "tellOwners" | "forget">;
  readonly apiKeys: Pick<ApiKeysService, "revokeKeysOf" | "keysOf">;
  readonly endpoints: MadeByMembers<NamedEndpoint>;
  readonly schedules: MadeByMembers<NamedSchedule>;
  readonly people: {
    /** Returns the person's e-mail address; null until one is verified. */
    verifiedEmail(userId: string): Promise<string | null>;
  };
  readonly limits: Pick<CodeLimits, "checkInvitation" | "countInvitation">;
  readonly outbox: Pick<MailOutbox, "enqueue">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

export const MEMBERS_MAX = 1000;

// The keys, endpoints, invitations and schedules that are stopped when a person leaves a project or
// gets a lower role.

/**
 * Everything that is stopped. It includes objects that the person's API keys made, so that an
 * endpoint of a revoked key is stopped too.
 */
export interface Ending {
  readonly keys: readonly NamedKey[];
  readonly endpoints: readonly NamedEndpoint[];
  readonly invitations: readonly Invitation[];
  readonly schedules: readonly NamedSchedule[];
}

interface Leaving {
  readonly projectId: string;
  readonly userId: string;
  /** The role that the person has afterwards; null when none. */
  readonly to: Role | null;
}

type Deps = Pick<MembersDeps, "apiKeys" | "endpoints" | "schedules" | "clock">;

const keeps = (to: Role | null, permission: Parameters<typeof roleMay>[1]): boolean =>
  to !== null && roleMay(to, permission);

/** The roles to which the person may no longer invite. */
const rolesEnded = (to: Role | null): readonly Role[] => {
  if (to === "owner") return [];
  return keeps(to, "members:manage") ? ["owner"] : ROLES;
};

const makersOf = async ({ apiKeys }: Deps, db: Queryable, { projectId, userId }: Leaving) => {
  const { usable, ids } = await apiKeys.keysOf(db, projectId, userId);
  return { usable, makers: [userId, ...ids] };
};

export const readEnding = async (
  deps: Deps,
  db: Queryable,
  leaving: Leaving,
): Promise<Ending> => {
  const { projectId, userId, to } = leaving;
  const { usable, makers } = await makersOf(deps, db, leaving);
  const roles = rolesEnded(to);
  return {
    keys: keeps(to, "keys:manage") ? [] : usable,
    endpoints: keeps(to, "webhooks:manage")
      ? []
      : await deps.endpoints.list(db, { projectId, makers }),
    invitations:
      roles.length === 0
        ? []
        : await listInvitationsBy(db, { projectId, userId, roles, at: deps.clock.now() }),
    schedules: keeps(to, "money:move")
      ? []
      : await deps.schedules.list(db, { projectId, makers }),
  };
};

/** Stops everything that `Ending` names, in the transaction that removes or lowers the role. */
export const endAuthority = async (
  deps: Deps,
  tx: Tx,
  actor: UserActor,
  { userId, to, at }: Omit<Leaving, "projectId"> & { readonly at: Date },
): Promise<void> => {
  const { projectId } = actor;
  const { makers } = await makersOf(deps, tx, { projectId, userId, to });
  if (!keeps(to, "keys:manage")) await deps.apiKeys.revokeKeysOf(tx, actor, userId);
  if (!keeps(to, "webhooks:manage")) await deps.endpoints.stop(tx, actor, { makers, at });
  if (!keeps(to, "money:move")) await deps.schedules.stop(tx, actor, { makers, at });
  const roles = rolesEnded(to);
  if (roles.length > 0) await withdrawInvitationsBy(tx, { projectId, userId, roles, at });
};

const LINES_MAX = 50;

const some = <T>(all: readonly T[], what: string, words: (one: T) => string): string[] => [
  ...all.slice(0, LINES_MAX).map((one) => `${what} that stops: ${words(one)}`),
  ...(all.length > LINES_MAX
    ? [`${what} that stops: ${String(all.length - LINES_MAX)} more`]
    : []),
];

const endingLines = ({ keys, endpoints, invitations, schedules }: Ending): string[] => [
  ...some(
    keys,
    "API key",
    ({ name, prefix, last4, id }) => `${quoted(name)} (${prefix}…${last4}, ${id})`,
  ),
  ...some(endpoints, "Webhook endpoint", ({ id, url, description }) =>
    description === null
      ? `${quoted(url)} (${id})`
      : `${quoted(description)}, ${quoted(url)} (${id})`,
  ),
  ...some(invitations, "Invitation", ({ email, role }) => `${quoted(email)} as ${role}`),
  ...some(
    schedules,
    "Payout schedule",
    ({ id, reference, rows }) =>
      `${reference === null ? id : `${quoted(reference)} (${id})`}, ${String(rows)} payments`,
  ),
];

/** The rights of each role in words, for mails and approvals. */
const ROLE_IN_WORDS: Readonly<Record<Role, string>> = {
  owner: "owner: may do everything, also make and remove owners",
  admin: "admin: moves money; manages members, API keys, policies and webhooks",
  operator: "operator: moves money and keeps contacts and wallets",
  viewer: "viewer: sees everything but the audit log, and changes nothing",
};

interface Invited {
  readonly projectId: string;
  readonly email: string;
  readonly role: Role;
}

export const inviteChange = ({ projectId, email, role }: Invited): Change => ({
  kind: "member.invite",
  title: "Invite a person to this project",
  lines: [`E-mail address: ${quoted(email)}`, `Role: ${ROLE_IN_WORDS[role]}`],
  values: { projectId, email, role },
});

export const raiseChange = (projectId: string, member: Member, to: Role): Change => ({
  kind: "member.role",
  title: "Let a member of this project do more",
  lines: [
    `Member: ${member.address} (${member.userId})`,
    `New role: ${ROLE_IN_WORDS[to]}`,
    `Role of now: ${ROLE_IN_WORDS[member.role]}`,
  ],
  values: { projectId, userId: member.userId, from: member.role, to },
});

const MADE_MEANWHILE =
  "Keys, endpoints, invitations and schedules that the member made before this was carried out stop as well";

/**
 * A lower role for an owner or admin. The lines list what is stopped, but the approval is not bound
 * to that list, because a member who keeps creating keys could otherwise invalidate every approval.
 */
export const lowerChange = (
  projectId: string,
  member: Member,
  { to, ending }: { readonly to: Role; readonly ending: Ending },
): Change => ({
  kind: "member.lower",
  title: "Let a member of this project do less",
  lines: [
    `Member: ${member.address} (${member.userId})`,
    `New role: ${ROLE_IN_WORDS[to]}`,
    `Role of now: ${ROLE_IN_WORDS[member.role]}`,
    ...endingLines(ending),
    MADE_MEANWHILE,
  ],
  values: { projectId, userId: member.userId, from: member.role, to },
});

/**
 * The removal of an owner or admin. As in `lowerChange`, the approval is not bound to the list of
 * what is stopped.
 */
export const removeChange = (projectId: string, member: Member, ending: Ending): Change => ({
  kind: "member.remove",
  title: "Remove a member from this project",
  lines: [
    `Member: ${member.address} (${member.userId})`,
    `Role: ${ROLE_IN_WORDS[member.role]}`,
    ...endingLines(ending),
    MADE_MEANWHILE,
  ],
  values: { projectId, userId: member.userId, from: member.role },
});

interface InvitationMail {
  readonly to: string;
  readonly project: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly link: string;
  readonly expiresAt: Date;
}

export const invitationMail = ({
  to,
  project,
  role,
  invitedBy,
  link,
  expiresAt,
}: InvitationMail) => ({
  to,
  subject: `You are invited to the project ${quoted(project)} on Causeway`,
  text: [
    `${invitedBy} invites you to the project ${quoted(project)}.`,
    "",
    `Your role: ${ROLE_IN_WORDS[role]}.`,
    "",
    `Open this link, sign in with your wallet, verify this address, and accept:`,
    link,
    "",
    `The link is good until ${expiresAt.toISOString()}, once, and for this address alone.`,
    "If you do not know who invites you, ignore this mail.",
  ].join("\n"),
});

interface Told {
  readonly projectId: string;
  readonly member: Member;
  readonly by: string;
}

const ifNotMeant =
  "If this was not meant, open the page Members and remove the person. It counts within a second.";

export const joinedNotice = ({ projectId, member, by }: Told): OwnerNotice => ({
  projectId,
  subject: "Somebody joined your project",
  text: [
    `${member.address} (${member.userId}) joined the project ${projectId}.`,
    `Role: ${ROLE_IN_WORDS[member.role]}`,
    `Invited by: ${by}`,
    "",
    ifNotMeant,
  ].join("\n"),
});

export const raisedNotice = ({ projectId, member, by }: Told, to: Role): OwnerNotice => ({
  projectId,
  subject: "A member of your project may do more",
  text: [
    `${member.address} (${member.userId}) has a new role in the project ${projectId}.`,
    `New role: ${ROLE_IN_WORDS[to]}`,
    `Before: ${ROLE_IN_WORDS[member.role]}`,
    `Changed by: ${by}`,
    "",
    ifNotMeant,
  ].join("\n"),
});

export interface ConcernedNotices {
  readonly owners: OwnerNotice;
  /** The mail to the member; null when no address is verified. */
  readonly person: Pick<Mail, "to" | "subject" | "text"> | null;
}

// The member gets a separate mail, because the mail to the owners is sent after the member lost
// the role.
const toMember = (
  { email }: Member,
  subject: string,
  text: string,
): ConcernedNotices["person"] => (email === null ? null : { to: email, subject, text });

export const loweredNotice = (
  { projectId, member, by }: Told,
  { to, lines }: { readonly to: Role; readonly lines: readonly string[] },
): ConcernedNotices => {
  const text = [
    `${member.address} (${member.userId}) has a lower role in the project ${projectId}: ${ROLE_IN_WORDS[to]}.`,
    "",
    ...lines.map((line) => `- ${line}`),
    `- Changed by: ${by}`,
    "",
    "If this was not meant, an owner can change it back on the page Members.",
  ].join("\n");
  const subject = "A member of a project may do less";
  return { owners: { projectId, subject, text }, person: toMember(member, subject, text) };
};

export const removedNotice = (
  { projectId, member, by }: Told,
  lines: readonly string[],
): ConcernedNotices => {
  const left = member.userId === by;
  const text = [
    `${member.address} (${member.userId}) ${left ? "left" : "was removed from"} the project ${projectId}.`,
    "",
    ...lines.map((line) => `- ${line}`),
    ...(left ? [] : [`- Removed by: ${by}`]),
    "",
    "If this was not meant, an owner can invite the person again on the page Members.",
  ].join("\n");
  const subject = left ? "A member left a project" : "A member was removed from a project";
  return { owners: { projectId, subject, text }, person: toMember(member, subject, text) };
};
