import type { Queryable } from "@/lib/db/client";
import type { Contact as ContactRow } from "@/lib/db/generated/client";
import type { EvmAddress } from "@/lib/ports/routing";

export interface Contact {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Checksummed. */
  readonly address: EvmAddress;
  /** User or API key that put it in. */
  readonly createdBy: string;
  readonly createdAt: Date;
}

const toContact = (row: ContactRow): Contact => ({
  id: row.id,
  projectId: row.projectId,
  name: row.name,
  address: row.address as EvmAddress,
  createdBy: row.createdBy,
  createdAt: row.createdAt,
});

/** At most `limit`, by name. */
export const listContacts = async (db: Queryable, projectId: string, limit: number): Promise<Contact[]> => {
  const rows = await db.contact.findMany({
    where: { projectId },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(toContact);
};

export const countContacts = (db: Queryable, projectId: string): Promise<number> =>
  db.contact.count({ where: { projectId } });

/** Stores the contact, or gives the one that the address has its name. */
export const upsertContact = async (db: Queryable, contact: Contact): Promise<Contact> => {
  const { projectId, address, name } = contact;
  return toContact(
    await db.contact.upsert({
      where: { projectId_address: { projectId, address } },
      create: contact,
      update: { name },
    }),
  );
};

export const deleteContact = async (db: Queryable, projectId: string, id: string): Promise<Contact | null> => {
  const row = await db.contact.findFirst({ where: { projectId, id } });
  const { count } = await db.contact.deleteMany({ where: { projectId, id } });
  return row !== null && count === 1 ? toContact(row) : null;
};
