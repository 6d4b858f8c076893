import type { ListPlace } from "@/lib/core/list-place";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { type Contact, contacts, newContacts } from "./rows";
import type { ContactValues } from "./rules";

type Key = Pick<Contact, "projectId" | "id">;

/** @throws ZodError */
const contactOf = (row: object): Contact => {
  const contact = contacts.read(row);
  return { ...contact, proposedBy: contact.proposedBy ?? contact.createdBy };
};

export interface ContactFilter {
  /** Checksummed. */
  readonly address?: string | undefined;
  readonly state?: Contact["state"] | undefined;
}

/**
 * Contacts by name, at most `limit`.
 * @param after name and id of the last contact of the previous page
 */
export const listContacts = async (
  db: Queryable,
  projectId: string,
  {
    limit,
    after = null,
    filter = {},
  }: { limit: number; after?: ListPlace | null; filter?: ContactFilter },
): Promise<Contact[]> => {
  const beyond = after && {
    OR: [{ name: { gt: after.key } }, { name: after.key, id: { gt: after.id } }],
  };
  const rows = await db.contact.findMany({
    where: {
      projectId,
      ...(filter.address === undefined ? {} : { address: filter.address }),
      ...(filter.state === undefined ? {} : { state: filter.state }),
      ...beyond,
    },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
  });
  return rows.map(contactOf);
};

/** Proposed contacts, at most `limit`, newest first. */
export const listProposed = async (
  db: Queryable,
  projectId: string,
  limit: number,
): Promise<Contact[]> => {
  const rows = await db.contact.findMany({
    where: { projectId, state: "proposed" },
    orderBy: [{ proposedAt: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(contactOf);
};

/** The contacts with one of these addresses. @param addresses checksummed */
export const contactsAt = async (
  db: Queryable,
  projectId: string,
  addresses: readonly string[],
): Promise<readonly Contact[]> => {
  const rows = await db.contact.findMany({
    where: { projectId, address: { in: [...addresses] } },
  });
  return rows.map(contactOf);
};

export const findContact = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Contact | null> => {
  const row = await db.contact.findFirst({ where: { projectId, id } });
  return row === null ? null : contactOf(row);
};

export const countContacts = (db: Queryable, projectId: string): Promise<number> =>
  db.contact.count({ where: { projectId } });

/**
 * Locks the contact, so that other changes and approvals of it wait. Null when the project has no
 * such contact.
 */
export const lockContact = async (tx: Tx, { projectId, id }: Key): Promise<Contact | null> => {
  const [locked] = await sqlOf(tx).query<object>(sql`
    SELECT ${contacts.columns("c")} FROM contact c
    WHERE c.project_id = ${projectId} AND c.id = ${id}
    FOR UPDATE`);
  return locked === undefined ? null : contactOf(locked);
};

export interface NewContact
  extends Key, ContactValues, Pick<Contact, "address" | "createdBy" | "createdAt"> {}

/**
 * Stores the contact as proposed. If a contact with this address exists, locks and returns it
 * instead.
 */
export const insertOrLock = async (tx: Tx, contact: NewContact): Promise<Contact | null> => {
  const proposed = {
    ...contact,
    proposedAt: contact.createdAt,
    proposedBy: contact.createdBy,
  };
  // On a conflict, the update without effect locks the existing row.
  const [stored] = await sqlOf(tx).query<object>(sql`
    INSERT INTO contact AS known (${newContacts.names})
    SELECT ${newContacts.names} FROM ${newContacts.list([proposed])} AS proposed
    ON CONFLICT (project_id, address) DO UPDATE SET name = known.name
    RETURNING ${contacts.columns("known")}`);
  return stored === undefined ? null : contactOf(stored);
};

export interface Proposal {
  readonly by: string;
  readonly at: Date;
}

const proposedColumns = ({ by, at }: Proposal) => ({
  state: "proposed",
  approvedAt: null,
  approvedBy: null,
  proposedAt: at,
  proposedBy: by,
  toldAt: null,
});

/**
 * Stores new values of a contact that this transaction has locked.
 * @param proposal null when the contact's state does not change
 */
export const storeValues = async (
  tx: Tx,
  { projectId, id }: Key,
  { name, tags, chainIds }: ContactValues,
  proposal: Proposal | null,
): Promise<void> => {
  await tx.contact.updateMany({
    where: { projectId, id },
    data: {
      name,
      tags: [...tags],
      chainIds: [...chainIds],
      ...(proposal === null ? {} : proposedColumns(proposal)),
    },
  });
};

/**
 * Approves a proposed contact. Returns false when it is no longer proposed, or when its values
 * differ from those that were approved.
 */
export const approveContact = async (
  tx: Tx,
  {
    projectId,
    id,
    name,
    address,
    chainIds,
  }: Key & Pick<Contact, "name" | "address" | "chainIds">,
  approved: { readonly by: string; readonly at: Date },
): Promise<boolean> => {
  const { count } = await tx.contact.updateMany({
    where: {
      projectId,
      id,
      state: "proposed",
      name,
      address,
      chainIds: { equals: [...chainIds] },
    },
    data: { state: "approved", approvedAt: approved.at, approvedBy: approved.by },
  });
  return count === 1;
};

/** Marks the proposed contacts that no mail to the owners has listed, and returns them by name. */
export const takeUntold = async (tx: Tx, projectId: string, at: Date): Promise<Contact[]> => {
  const rows = await sqlOf(tx).query<object>(sql`
    WITH told AS (
      UPDATE contact c SET told_at = ${at}::timestamptz
      WHERE c.project_id = ${projectId} AND c.state = 'proposed' AND c.told_at IS NULL
      RETURNING c.*
    )
    SELECT ${contacts.columns("told")} FROM told
    ORDER BY told.name, told.id`);
  return rows.map(contactOf);
};

export const deleteContact = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Contact | null> => {
  const contact = await findContact(db, projectId, id);
  const { count } = await db.contact.deleteMany({ where: { projectId, id } });
  return count === 1 ? contact : null;
};
