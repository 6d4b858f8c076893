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

export const countContacts = (db: Queryable, projectId: string): Promise<number> =>
  db.contact.count({ where: { projectId } });

/** Stores the contact as proposed, or renames the existing contact of the address, whose state stays. */
export const upsertContact = async (
  db: Queryable,
  contact: Omit<Contact, "state" | "approvedAt" | "approvedBy">,
): Promise<Contact> => {
  const { projectId, address, name } = contact;
  return parseContact(
    await db.contact.upsert({
      where: { projectId_address: { projectId, address } },
      create: contact,
      update: { name },
    }),
  );
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
