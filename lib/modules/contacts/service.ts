import { actorName, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Contact } from "./contact";
import { countContacts, deleteContact, findContact, listContacts, upsertContact } from "./repository";

export type { Contact } from "./contact";

/** The address book of a project. It only names addresses: who may be paid is decided by the policies. */
export interface ContactsService {
  /** By name (1,000 at most). */
  list(actor: Actor): Promise<Contact[]>;
  /** @throws DomainError `not_found` */
  get(actor: Actor, id: string): Promise<Contact>;
  /** An address that is there already is renamed. @throws DomainError `invalid_state` when the book is full */
  put(actor: Actor, input: { readonly name: string; readonly address: EvmAddress }): Promise<Contact>;
  /** @throws DomainError `not_found` */
  remove(actor: Actor, id: string): Promise<{ id: string }>;
}

const CONTACTS_MAX = 1000;

export const createContactsService = (deps: {
  readonly database: Database;
  readonly clock: Clock;
}): ContactsService => {
  const { database, clock } = deps;
  const entryOf = (actor: Actor, contact: Contact) => ({
    ...doneBy(actor),
    subject: contact.id,
    data: { name: contact.name, address: contact.address },
    at: clock.now(),
  });

  return {
    list: ({ projectId }) => listContacts(database.prisma, projectId, CONTACTS_MAX),
    get: async ({ projectId }, id) => {
      const contact = isId("contact", id) ? await findContact(database.prisma, projectId, id) : null;
      if (contact === null) throw notFound();
      return contact;
    },
    put: (actor, { name, address }) =>
      database.transaction(async (tx) => {
        const { projectId } = actor;
        const candidate = { id: newId("contact"), projectId, name, address, createdBy: actorName(actor) };
        const contact = await upsertContact(tx, { ...candidate, createdAt: clock.now() });
        // Two at once may both be the last one: the bound keeps the list short, and one more does no harm.
        if (contact.id === candidate.id && (await countContacts(tx, projectId)) > CONTACTS_MAX)
          throw new DomainError("invalid_state", `The address book is full: it holds ${CONTACTS_MAX} addresses.`);
        await recordAudit(tx, { ...entryOf(actor, contact), action: "contact.saved" });
        return contact;
      }),
    remove: async (actor, id) => {
      await database.transaction(async (tx) => {
        const contact = isId("contact", id) ? await deleteContact(tx, actor.projectId, id) : null;
        if (!contact) throw notFound();
        await recordAudit(tx, { ...entryOf(actor, contact), action: "contact.deleted" });
      });
      return { id };
    },
  };
};
