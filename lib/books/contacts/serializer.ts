import type { createContact, importContacts, listContacts } from "@/lib/contracts/contacts";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { ListPage } from "@/lib/core/list-place";
import type { FlaggedContact, ImportedContact } from "./service";

const warningsOf = ({ warnings }: Pick<FlaggedContact, "warnings">) =>
  warnings.map(({ code, path, message }) => ({ code, path, message }));

export const toContact = (contact: FlaggedContact): ResponseOf<typeof createContact> => ({
  id: contact.id,
  name: contact.name,
  address: contact.address,
  tags: [...contact.tags],
  chainIds: [...contact.chainIds],
  state: contact.state,
  approvedAt: contact.approvedAt?.toISOString() ?? null,
  createdBy: contact.createdBy,
  createdAt: contact.createdAt.toISOString(),
  warnings: warningsOf(contact),
});

export const toImported = (
  contacts: readonly ImportedContact[],
): ResponseOf<typeof importContacts> => ({
  data: contacts.map((contact) => ({
    id: contact.id,
    name: contact.name,
    address: contact.address,
    outcome: contact.outcome,
    knownAs: contact.knownAs,
    warnings: warningsOf(contact),
  })),
});

export const toContacts = ({
  data,
  nextCursor,
}: ListPage<FlaggedContact>): ResponseOf<typeof listContacts> => ({
  data: data.map(toContact),
  nextCursor,
});
