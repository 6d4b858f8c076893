import type { createContact, listContacts } from "@/lib/contracts/contacts";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { Contact } from "./service";

export const toContact = (contact: Contact): ResponseOf<typeof createContact> => ({
  id: contact.id,
  name: contact.name,
  address: contact.address,
  tags: [...contact.tags],
  chainIds: [...contact.chainIds],
  state: contact.state,
  approvedAt: contact.approvedAt?.toISOString() ?? null,
  createdBy: contact.createdBy,
  createdAt: contact.createdAt.toISOString(),
});

export const toContacts = (contacts: readonly Contact[]): ResponseOf<typeof listContacts> => ({
  data: contacts.map(toContact),
});
