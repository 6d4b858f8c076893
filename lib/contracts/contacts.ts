import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, chainId, id, longPageQuery, page, timestamp } from "./common";
import { defineContract } from "./contract";
import { tags, tagsOut } from "./tags";
import { displayName } from "./names";
import { RECIPIENT_WARNINGS, recipientWarning } from "./warnings";

const tag = "Address book";

const CONTACT_STATES = ["proposed", "approved"] as const;

const contactWarning = recipientWarning
  .extend({
    code: z.enum(["similar_name", ...RECIPIENT_WARNINGS]).meta({
      description:
        "As of a recipient; `similar_name`: another contact or wallet has an equal name or one that looks like it",
    }),
  })
  .meta({ id: "ContactWarning" });

const contactRecord = z
  .object({
    id: id("ct").meta({ description: "Id of the contact" }),
    name: z.string().meta({ description: "Name of whom the address belongs to" }),
    address,
    tags: tagsOut,
    chainIds: z.array(chainId).meta({
      description:
        "Chains on which the address is to be paid, in ascending order; empty: every chain. An approval counts on these chains alone",
    }),
    state: z.enum(CONTACT_STATES).meta({
      description:
        "Whether somebody has approved this name, address and these chains. Only an approved contact is paid where a policy asks for approved contacts, and only its name is shown where people decide",
    }),
    approvedAt: timestamp
      .nullable()
      .meta({ description: "When it was approved; null while it is proposed" }),
    createdBy: z.string().meta({
      description:
        "Who created it: a person (usr_), an API key (key_) or a part of the service",
    }),
    createdAt: timestamp.meta({ description: "When it was created" }),
    warnings: z.array(contactWarning).meta({
      description:
        "What to look at. Answers for one contact also ask chains and screening sources; the list has what the project's records say",
    }),
  })
  .meta({ id: "Contact" });
const name = displayName(80).meta({
  description: "Name of whom the address belongs to, 1–80 characters",
});
const CHAINS_MAX = 50;
const details = {
  tags: tags.optional(),
  chainIds: z
    .array(chainId)
    .max(CHAINS_MAX)
    .optional()
    .meta({ description: "Chains on which the address is to be paid; empty: every chain" }),
};
const params = z.object({ id: id("ct").meta({ description: "Id in the path" }) });

export const listContacts = defineContract({
  method: "GET",
  path: "/contacts",
  summary: "The project's address book, by name",
  description:
    "The address book, sorted by name, up to 1,000 contacts on a page. Changes nothing.",
  tag,
  auth: "member",
  scope: "transfers:read",
  query: longPageQuery("Contacts").extend({
    address: address.optional().meta({ description: "Only contacts with this address" }),
    state: z
      .enum(CONTACT_STATES)
      .optional()
      .meta({ description: "Only contacts in this state" }),
  }),
  status: 200,
  response: page(contactRecord),
});

export const createContact = defineContract({
  method: "POST",
  path: "/contacts",
  summary: "Puts an address into the address book; one that is there already is renamed",
  description:
    "Stores a name for an address, for people who choose recipients. A new contact is `proposed`: a policy that asks for approved contacts does not let it be paid before POST /contacts/{id}/approve. Moves nothing. An address that is known gets the new name, and the tags and chains that are given; another name or other chains make an approved contact `proposed` again. The owners get one mail a day about contacts that were proposed.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "transfers:write",
  body: z.object({ name, address, ...details }),
  status: 201,
  response: contactRecord,
  errors: ["invalid_state", "unsupported_chain"],
});

export const getContact = defineContract({
  method: "GET",
  path: "/contacts/{id}",
  summary: "One contact",
  description: "The name of an address. Changes nothing.",
  tag,
  auth: "member",
  scope: "transfers:read",
  params,
  status: 200,
  response: contactRecord,
  errors: ["not_found"],
});

export const updateContact = defineContract({
  method: "PATCH",
  path: "/contacts/{id}",
  summary: "Changes the name, tags or chains of a contact",
  description:
    "Changes the fields that are given; the address stays. Another name or other chains make an approved contact `proposed` again, until POST /contacts/{id}/approve; tags do not. Moves nothing. To correct an address, add another contact and delete this one.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "transfers:write",
  params,
  body: z
    .object({ name: name.optional(), ...details })
    .refine((body) => Object.keys(body).length > 0, "Name at least one field to change"),
  status: 200,
  response: contactRecord,
  errors: ["not_found", "unsupported_chain"],
});

export const approveContact = defineContract({
  method: "POST",
  path: "/contacts/{id}/approve",
  summary: "Approves a contact; needs an approval (409 approval_required)",
  description:
    "Approves name, address and chains of the contact, for owners and admins: it is then paid on these chains where a policy asks for approved contacts, and its name is shown where people decide. Answers 409 `approval_required` first; send it again with `approval`. A contact that is approved already stays as it is.",
  tag,
  auth: "user",
  permission: "policies:manage",
  params,
  body: z.object({ approval: givenApproval.optional() }),
  status: 200,
  response: contactRecord,
  errors: [...APPROVAL_ERRORS, "forbidden", "not_found"],
});

export const deleteContact = defineContract({
  method: "DELETE",
  path: "/contacts/{id}",
  summary: "Takes an address out of the address book",
  description: "Removes the name. Payments to the address stay on record and stay possible.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "transfers:write",
  params,
  status: 200,
  response: z.object({ id: id("ct").meta({ description: "The removed contact" }) }),
  errors: ["not_found"],
});
