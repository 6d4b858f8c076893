import { z } from "zod";
import { ROLES } from "@/lib/core/actor";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, id, longPageQuery, page, timestamp } from "./common";
import { defineContract } from "./contract";
import { displayName } from "./names";

const tag = "Members";

const role = z
  .enum(ROLES)
  .meta({ id: "Role", description: "What a member may do: viewer < operator < admin < owner" });
const projectNameOut = z.string().meta({ description: "Name of the project" });
const projectName = displayName(80).meta({
  description: "Name of the project, 1–80 characters",
});
const token = z
  .string()
  .regex(/^[0-9A-Za-z]{43}$/, "must be the 43 characters behind the # of the mailed link")
  .meta({ description: "The characters behind the # of the mailed link" });

const memberRecord = z
  .object({
    id: id("usr").meta({ description: "Id of the person" }),
    address: address.meta({ description: "The wallet that the person signs in with" }),
    name: z.string().nullable().meta({
      description:
        "The display name that the person chose; null where none is set. Nothing proves it",
    }),
    email: z
      .string()
      .nullable()
      .meta({ description: "The verified e-mail address; null where there is none" }),
    role,
    joinedAt: timestamp.meta({ description: "When the person joined the project" }),
  })
  .meta({ id: "Member" });

const invitationRecord = z
  .object({
    id: id("inv").meta({ description: "Id of the invitation" }),
    email: z
      .string()
      .meta({ description: "The address that was invited; nobody else can accept" }),
    role,
    status: z
      .enum(["open", "accepted", "withdrawn", "expired"])
      .meta({ description: "Whether it can be accepted, and why not" }),
    invitedBy: id("usr").meta({ description: "Who invited" }),
    createdAt: timestamp.meta({ description: "When it was mailed" }),
    expiresAt: timestamp.meta({ description: "Until when it can be accepted: seven days" }),
    acceptedBy: id("usr").nullable().meta({ description: "Who accepted it; null: nobody" }),
  })
  .meta({ id: "Invitation" });

const projectRecord = z
  .object({ id: id("prj").meta({ description: "Id of the project" }), name: projectNameOut })
  .meta({ id: "Project" });

const memberParams = z.object({ id: id("usr").meta({ description: "Id of the person" }) });

export const createProject = defineContract({
  method: "POST",
  path: "/projects",
  summary: "Makes a project with a treasury of its own; the caller is its owner",
  description:
    "A project has its own wallets, records, keys and members. Send its id as `x-project-id` with later requests to work in it; without that header requests work in the project that the person joined first.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({ name: projectName }),
  status: 201,
  response: projectRecord,
  errors: ["invalid_state"],
});

export const updateProject = defineContract({
  method: "PATCH",
  path: "/projects/{id}",
  summary: "Renames the project",
  description:
    "For owners and admins. The id must be that of the project that the request works in.",
  tag,
  auth: "user",
  permission: "members:manage",
  params: z.object({ id: id("prj").meta({ description: "Id of the project" }) }),
  body: z.object({ name: projectName }),
  status: 200,
  response: projectRecord,
  errors: ["not_found"],
});

export const listMembers = defineContract({
  method: "GET",
  path: "/members",
  summary: "The people of the project and their roles, the first to join first",
  description: "Every member may read it. Up to 1,000 people on a page. Changes nothing.",
  tag,
  auth: "user",
  query: longPageQuery("Members"),
  status: 200,
  response: page(memberRecord),
});

export const updateMember = defineContract({
  method: "PATCH",
  path: "/members/{id}",
  summary:
    "Changes a member's role; one that may do more, or less for an owner or admin, needs an approval (409 approval_required)",
  description:
    "For owners and admins; only owners make and change owners. It counts on every instance within a second. A role that may do more, or a lower one for an owner or admin, answers 409 `approval_required` first; send it again with `approval`. With `operator` or `viewer` the API keys and webhook endpoints that the person made stop, and their open invitations are withdrawn; with `viewer` their payout schedules are cancelled too (GET /members/{id}/removal?role= lists them). The last owner keeps that role, and a change after which too few people could vote is 409 `invalid_state`. The owners and the person get a mail.",
  tag,
  auth: "user",
  permission: "members:manage",
  params: memberParams,
  body: z.object({ role, approval: givenApproval.optional() }),
  status: 200,
  response: memberRecord,
  errors: ["not_found", ...APPROVAL_ERRORS],
});

const named = z.object({ id: z.string().meta({ description: "Its id" }) });

export const getMemberRemoval = defineContract({
  method: "GET",
  path: "/members/{id}/removal",
  summary: "What stops when a member leaves the project, or gets a lower role",
  description:
    "Lists the API keys, webhook endpoints, open invitations and payout schedules that the person made, or keys of the person made. Open invitations are listed for owners, admins and the person. Changes nothing.",
  tag,
  auth: "user",
  params: memberParams,
  query: z.object({
    role: role
      .optional()
      .meta({ description: "What a change to this role would stop; left out: a removal" }),
  }),
  status: 200,
  response: z
    .object({
      id: id("usr").meta({ description: "Id of the person" }),
      role: role.meta({ description: "The role of now" }),
      apiKeys: z
        .array(
          named.extend({
            name: z.string().meta({ description: "Name of the key" }),
            prefix: z.string().meta({ description: "How its secret begins" }),
            last4: z.string().meta({ description: "How its secret ends" }),
          }),
        )
        .meta({ description: "Keys that are revoked" }),
      webhookEndpoints: z
        .array(
          named.extend({
            url: z.string().meta({ description: "Where events are sent to" }),
            description: z
              .string()
              .nullable()
              .meta({ description: "Description for people; null where it has none" }),
          }),
        )
        .meta({ description: "Endpoints that are disabled" }),
      invitations: z
        .array(
          named.extend({
            email: z.string().meta({ description: "The address that was invited" }),
            role,
          }),
        )
        .meta({ description: "Open invitations that are withdrawn" }),
      payoutSchedules: z
        .array(
          named.extend({
            reference: z
              .string()
              .nullable()
              .meta({ description: "Your own reference; null where none was given" }),
            chainId: z.int().meta({ description: "The chain that it pays on" }),
            rows: z.int().meta({ description: "Payments of each run" }),
          }),
        )
        .meta({
          description:
            "Schedules that are cancelled: the person, or a key of the person, made or approved them",
        }),
    })
    .meta({ id: "MemberRemoval" }),
  errors: ["not_found"],
});

export const removeMember = defineContract({
  method: "POST",
  path: "/members/{id}/removal",
  summary:
    "Removes a member, or leaves the project with the own id; for an owner or admin it needs an approval (409 approval_required)",
  description:
    "Owners and admins remove members; only owners remove owners; everybody may leave, except the last owner. For an owner or admin the first answer is 409 `approval_required`, whose message lists what stops; send it again with `approval`. Within a second the person has no access on any instance. The person's API keys of this project are revoked, webhook endpoints disabled, invitations withdrawn and payout schedules cancelled (GET /members/{id}/removal). A removal after which too few people could vote is 409 `invalid_state`. The owners and the person get a mail.",
  tag,
  auth: "user",
  personal: true,
  params: memberParams,
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: z.object({ id: id("usr").meta({ description: "Who is no member any more" }) }),
  errors: ["not_found", ...APPROVAL_ERRORS],
});

export const listInvitations = defineContract({
  method: "GET",
  path: "/invitations",
  summary: "Invitations to the project, newest first (1,000 at most)",
  description: "For owners and admins. Changes nothing.",
  tag,
  auth: "user",
  permission: "members:manage",
  status: 200,
  response: z.object({
    data: z.array(invitationRecord).meta({ description: "Invitations, newest first" }),
  }),
});

export const createInvitation = defineContract({
  method: "POST",
  path: "/invitations",
  summary: "Mails an invitation to join the project; needs an approval (409 approval_required)",
  description:
    "For owners and admins; only owners invite owners. The first answer is 409 `approval_required`: approve it and send the same request with `approval`. The mailed link is good for seven days, once, for the person who has verified that address. An earlier open invitation of the mailbox stops being good. You need a verified e-mail address yourself (else 409 `invalid_state`). In an hour a person sends at most 20 invitations, a project gets 50, and a mailbox 5 mails from people whom it may not know (else 429).",
  tag,
  auth: "user",
  permission: "members:manage",
  body: z.object({
    email: z.email().max(254).meta({ description: "Address of the person" }),
    role,
    approval: givenApproval.optional(),
  }),
  status: 201,
  response: invitationRecord,
  errors: APPROVAL_ERRORS,
});

export const withdrawInvitation = defineContract({
  method: "DELETE",
  path: "/invitations/{id}",
  summary: "Withdraws an invitation that was not accepted",
  description: "For owners and admins. The mailed link stops being good at once.",
  tag,
  auth: "user",
  permission: "members:manage",
  params: z.object({ id: id("inv").meta({ description: "Id of the invitation" }) }),
  status: 200,
  response: invitationRecord,
  errors: ["not_found", "invalid_state"],
});

export const lookUpInvitation = defineContract({
  method: "POST",
  path: "/invitations/lookup",
  summary: "What an invitation is for, before it is accepted",
  description: "For the signed-in person who opened the mailed link. Changes nothing.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({ token }),
  status: 200,
  response: invitationRecord
    .pick({ email: true, role: true, status: true, expiresAt: true })
    .extend({ projectName: projectNameOut })
    .meta({ id: "InvitationView" }),
  errors: ["not_found"],
});

export const acceptInvitation = defineContract({
  method: "POST",
  path: "/invitations/accept",
  summary: "Joins the project of an invitation",
  description:
    "The invited address must be the verified one of the signed-in person (PATCH /me). Accepting again answers as the first time. The owners get a mail.",
  tag,
  auth: "user",
  personal: true,
  body: z.object({ token }),
  status: 200,
  response: z.object({
    projectId: id("prj").meta({
      description: "The project; send it as `x-project-id` to work in it",
    }),
    role,
  }),
  errors: ["not_found", "invalid_state"],
});
