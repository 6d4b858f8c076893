import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { address, chainId, id, longPageQuery, page, timestamp } from "./common";
import { BODY_BYTES_MAX, defineContract } from "./contract";
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

const newContact = z.object({ name, address, ...details }).meta({ id: "NewContact" });

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
  body: newContact,
  status: 201,
  response: contactRecord,
  errors: ["invalid_state", "unsupported_chain"],
});

/** The maximum number of contacts in a project's address book, and in one import. */
export const CONTACTS_MAX = 5000;

const importedContact = z
  .object({
    id: id("ct")
      .nullable()
      .meta({ description: "Id of the contact; null for a new one that was only checked" }),
    name: z.string().meta({ description: "Name that the contact has now" }),
    address,
    outcome: z.enum(["created", "updated", "unchanged", "skipped"]).meta({
      description:
        "`unchanged`: the contact has these values already; `skipped`: the address is in the book, and `existing` is `skip`",
    }),
    knownAs: z
      .string()
      .nullable()
      .meta({ description: "Name that the address had before; null for a new contact" }),
    warnings: z
      .array(contactWarning)
      .meta({ description: "Reasons to compare a created or updated contact again" }),
  })
  .meta({ id: "ImportedContact" });

export const importContacts = defineContract({
  method: "POST",
  path: "/contacts/import",
  summary: "Stores up to 5,000 contacts at once; every bad row is reported by its index",
  description:
    "Stores all contacts or none. Every wrong row is reported at once: a wrong address or checksum, an address that may never be paid, an address that an earlier row has. New contacts are `proposed`, and updated ones follow the rules of POST /contacts; one POST /contacts/approve approves them together. Moves nothing. Sent again, it changes nothing more.",
  tag,
  auth: "member",
  permission: "records:write",
  scope: "transfers:write",
  bodyLimit: BODY_BYTES_MAX.bulk,
  body: z.object({
    contacts: z
      .array(newContact)
      .min(1)
      .max(CONTACTS_MAX)
      .meta({ description: "The rows, 5,000 at most" }),
    existing: z.enum(["skip", "update"]).default("skip").meta({
      description:
        "For addresses that are in the book: `skip` leaves the contact as it is, `update` gives it the name, and the tags and chains that are given",
    }),
    validateOnly: z
      .boolean()
      .default(false)
      .meta({ description: "Checks everything and stores nothing" }),
  }),
  status: 200,
  response: z.object({
    data: z.array(importedContact).meta({ description: "The outcome of each row, in order" }),
  }),
  errors: ["invalid_state", "unsupported_chain"],
});

export const approveContacts = defineContract({
  method: "POST",
  path: "/contacts/approve",
  summary:
    "Approves several contacts with one proof; needs an approval (409 approval_required)",
  description:
    "Approves name, address and chains of all these contacts, or of none, for owners and admins. The approval lists every contact. Answers 409 `approval_required` first; send it again with `approval`. Contacts that are approved already stay as they are.",
  tag,
  auth: "user",
  permission: "policies:manage",
  body: z.object({
    ids: z
      .array(id("ct"))
      .min(1)
      .max(CONTACTS_MAX)
      .meta({ description: "Ids of the contacts, 5,000 at most" }),
    approval: givenApproval.optional(),
  }),
  status: 200,
  response: z.object({
    approved: z.int().min(0).meta({ description: "How many contacts this request approved" }),
  }),
  errors: [...APPROVAL_ERRORS, "forbidden", "not_found"],
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
