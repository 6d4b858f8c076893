import type { Queryable } from "@/lib/db/client";
import { parseContact, type Contact } from "./contact";

/** At most `limit`, by name. */
export const listContacts = async (db: Queryable, projectId: string, limit: number): Promise<Contact[]> => {
  const rows = await db.contact.findMany({
    where: { projectId },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(parseContact);
};

/** Contacts that nobody has approved yet: at most `limit`, newest first. */
export const listProposed = async (db: Queryable, projectId: string, limit: number): Promise<Contact[]> => {
  const rows = await db.contact.findMany({
    where: { projectId, state: "proposed" },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(parseContact);
};

/** Names by address, of those addresses that are contacts. */
export const namesOfContacts = async (
  db: Queryable,
  projectId: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.contact.findMany({
    where: { projectId, address: { in: [...addresses] } },
    select: { address: true, name: true },
  });
  return new Map(rows.map(({ address, name }) => [address, name]));
};

export const findContact = async (db: Queryable, projectId: string, id: string): Promise<Contact | null> => {
  const row = await db.contact.findFirst({ where: { projectId, id } });
  return row === null ? null : parseContact(row);
};

/** @param address checksummed */
export const findContactByAddress = async (
  db: Queryable,
  projectId: string,
  address: string,
): Promise<Contact | null> => {
  const row = await db.contact.findUnique({ where: { projectId_address: { projectId, address } } });
  return row === null ? null : parseContact(row);
};

export const countContacts = (db: Queryable, projectId: string): Promise<number> =>
  db.contact.count({ where: { projectId } });

/** The fields that people change; those left out stay. */
export interface ContactChange {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly chainIds?: readonly number[] | undefined;
}

const changedColumns = ({ name, tags, chainIds }: ContactChange) => ({
  ...(name === undefined ? {} : { name }),
  ...(tags === undefined ? {} : { tags: [...tags] }),
  ...(chainIds === undefined ? {} : { chainIds: [...chainIds] }),
});

/** Stores the contact as proposed, or changes the existing contact of the address, whose state stays. */
export const upsertContact = async (
  db: Queryable,
  contact: Pick<Contact, "id" | "projectId" | "address" | "name" | "createdBy" | "createdAt"> & ContactChange,
): Promise<Contact> => {
  const { id, projectId, address, createdBy, createdAt, name } = contact;
  return parseContact(
    await db.contact.upsert({
      where: { projectId_address: { projectId, address } },
      create: { id, projectId, address, createdBy, createdAt, name, ...changedColumns(contact) },
      update: changedColumns(contact),
    }),
  );
};

/** Null when the project has no such contact. */
export const updateContact = async (
  db: Queryable,
  { projectId, id }: Pick<Contact, "projectId" | "id">,
  change: ContactChange,
): Promise<Contact | null> => {
  const { count } = await db.contact.updateMany({ where: { projectId, id }, data: changedColumns(change) });
  return count === 1 ? findContact(db, projectId, id) : null;
};

/** proposed → approved. False when it is not proposed any more. */
export const approveContact = async (
  db: Queryable,
  { projectId, id }: Pick<Contact, "projectId" | "id">,
  approved: { readonly by: string; readonly at: Date },
): Promise<boolean> => {
  const { count } = await db.contact.updateMany({
    where: { projectId, id, state: "proposed" },
    data: { state: "approved", approvedAt: approved.at, approvedBy: approved.by },
  });
  return count === 1;
};

export const deleteContact = async (db: Queryable, projectId: string, id: string): Promise<Contact | null> => {
  const contact = await findContact(db, projectId, id);
  const { count } = await db.contact.deleteMany({ where: { projectId, id } });
  return count === 1 ? contact : null;
};
