import type { createContact, listContacts } from "@/lib/contracts/contacts";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { ListPage } from "@/lib/core/list-place";
import type { FlaggedContact } from "./service";

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
  warnings: contact.warnings.map(({ code, path, message }) => ({ code, path, message })),
});

export const toContacts = ({
  data,
  nextCursor,
}: ListPage<FlaggedContact>): ResponseOf<typeof listContacts> => ({
  data: data.map(toContact),
  nextCursor,
});
