import type { ListPlace } from "@/lib/core/list-place";
import type { Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { changedContacts, type Contact, contacts, newContacts, shownContacts } from "./rows";
import type { ContactValues } from "./rules";

type Key = Pick<Contact, "projectId" | "id">;

/** Parses a row. A contact without `proposedBy` was proposed by its creator. @throws ZodError */
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
 * At most `limit` contacts that match `filter`, sorted by name.
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

/** The contacts with one of `addresses`. @param addresses checksummed */
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

/** The contacts with these ids. Ids of other projects are missing. */
export const contactsWith = async (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<readonly Contact[]> => {
  const rows = await db.contact.findMany({ where: { projectId, id: { in: [...ids] } } });
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
 * Stores the contacts as proposed. For an address that the book already has, locks and returns the
 * existing contact instead.
 */
export const insertOrLockAll = async (
  tx: Tx,
  added: readonly NewContact[],
): Promise<Contact[]> => {
  const proposed = added.map((contact) => ({
    ...contact,
    proposedAt: contact.createdAt,
    proposedBy: contact.createdBy,
  }));
  // Ordered, so that concurrent imports lock existing rows in the same order. On a conflict, the
  // update without effect locks the existing row.
  const rows = await sqlOf(tx).query<object>(sql`
    INSERT INTO contact AS known (${newContacts.names})
    SELECT ${newContacts.names}
    FROM ${newContacts.list(proposed, { orderedBy: "address" })} AS proposed
    ON CONFLICT (project_id, address) DO UPDATE SET name = known.name
    RETURNING ${contacts.columns("known")}`);
  return rows.map(contactOf);
};

export interface Proposal {
  readonly by: string;
  readonly at: Date;
}

/**
 * Stores the name, tags and chains of contacts that this transaction has locked.
 * @param proposal null when the contacts' state does not change
 */
export const storeAll = async (
  tx: Tx,
  projectId: string,
  changed: readonly (ContactValues & Pick<Contact, "id">)[],
  proposal: Proposal | null,
): Promise<void> => {
  if (changed.length === 0) return;
  const proposed =
    proposal === null
      ? sql``
      : sql`, state = 'proposed', approved_at = NULL, approved_by = NULL,
          proposed_at = ${proposal.at}::timestamptz, proposed_by = ${proposal.by}, told_at = NULL`;
  await sqlOf(tx).change(sql`
    UPDATE contact c
    SET name = v.name, tags = v.tags, chain_ids = v.chain_ids${proposed}
    FROM ${changedContacts.list(changed, { isCounted: true })} AS v
    WHERE c.project_id = ${projectId} AND c.id = v.id`);
};

/**
 * Approves proposed contacts. Leaves out contacts that are no longer proposed, or whose values
 * differ from those that were approved.
 * @returns the number of contacts that were approved
 */
export const approveContacts = (
  tx: Tx,
  projectId: string,
  shown: readonly Pick<Contact, "id" | "name" | "address" | "chainIds">[],
  approved: { readonly by: string; readonly at: Date },
): Promise<number> =>
  sqlOf(tx).change(sql`
    UPDATE contact c
    SET state = 'approved', approved_at = ${approved.at}::timestamptz,
      approved_by = ${approved.by}
    FROM ${shownContacts.list(shown, { isCounted: true })} AS v
    WHERE c.project_id = ${projectId} AND c.id = v.id AND c.state = 'proposed'
      AND c.name = v.name AND c.address = v.address AND c.chain_ids = v.chain_ids`);

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
