import type { Role } from "@/lib/core/actor";
import { quoted, type Change } from "@/lib/modules/approvals/service";
import type { OwnerNotice } from "@/lib/modules/projects/service";
import type { Member } from "./member";

/** The rights of each role in words, for mails and approvals. */
export const ROLE_IN_WORDS: Readonly<Record<Role, string>> = {
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

interface InvitationMail {
  readonly to: string;
  readonly project: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly link: string;
  readonly expiresAt: Date;
}

export const invitationMail = ({ to, project, role, invitedBy, link, expiresAt }: InvitationMail) => ({
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

const ifNotMeant = "If this was not meant, open the page Members and remove the person. It counts within a second.";

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
