import { actorName, type Actor, type UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import { quoted, type ApprovalsService, type GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit, replaced } from "@/lib/modules/audit/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { Contact } from "./contact";
import {
  approveContact,
  countContacts,
  deleteContact,
  findContact,
  findContactByAddress,
  listContacts,
  listProposed,
  updateContact,
  upsertContact,
  type ContactChange,
} from "./repository";

export { createAddressNames, type AddressNames } from "./address-names";
export type { Contact } from "./contact";

/** The address book of a project. It names addresses and says which are approved; a policy may ask that only those are paid. */
export interface ContactsService {
  /** By name (1,000 at most). */
  list(actor: Actor): Promise<Contact[]>;
  /** Contacts that nobody has approved yet: at most `limit`, newest first. */
  proposed(actor: Actor, limit: number): Promise<Contact[]>;
  /** @throws DomainError `not_found` */
  get(actor: Actor, id: string): Promise<Contact>;
  /**
   * An address that is there already is renamed, and gets the tags and chains that are given.
   * @throws DomainError `invalid_state` when the book is full, `unsupported_chain`
   */
  put(actor: Actor, input: ContactChange & { readonly name: string; readonly address: EvmAddress }): Promise<Contact>;
  /** @throws DomainError `not_found`, `unsupported_chain` */
  update(actor: Actor, id: string, change: ContactChange): Promise<Contact>;
  /**
   * Lets a policy that asks for approved contacts pay this one. A contact that is approved already stays as it is.
   * @throws DomainError `forbidden` unless owner or admin, `not_found`, `approval_required`, `invalid_state`
   */
  approve(actor: UserActor, id: string, given: GivenApproval | undefined): Promise<Contact>;
  /** @throws DomainError `not_found` */
  remove(actor: Actor, id: string): Promise<{ id: string }>;
}

const CONTACTS_MAX = 1000;

const bookFull = (): DomainError =>
  new DomainError(
    "invalid_state",
    `The address book is full: it holds ${String(CONTACTS_MAX)} addresses. Nothing was saved; delete one first.`,
  );

const auditedFields = ({ name, tags, chainIds }: Contact) => ({ name, tags, chainIds: chainIds.map(String) });

interface ContactsDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  /** @throws DomainError `unsupported_chain` */
  readonly requireChain: (chainId: number) => void;
  readonly clock: Clock;
}

/** The service of a project's contacts; each change writes an entry of the audit log in its transaction. */
export const createContactsService = (deps: ContactsDeps): ContactsService => {
  const { database, clock } = deps;
  const requireChains = ({ chainIds }: ContactChange): void => chainIds?.forEach(deps.requireChain);
  /** @param before where the contact was changed */
  const entryOf = (actor: Actor, contact: Contact, before: Contact | null = null) => ({
    ...doneBy(actor),
    subject: contact.id,
    data: {
      ...{ address: contact.address, ...auditedFields(contact) },
      ...(before && replaced(auditedFields(before), auditedFields(contact))),
    },
    at: clock.now(),
  });

  const get = async (projectId: string, id: string): Promise<Contact> => {
    const contact = isId("contact", id) ? await findContact(database.prisma, projectId, id) : null;
    if (contact === null) throw notFound();
    return contact;
  };

  const approve: ContactsService["approve"] = async (actor, id, given) => {
    const contact = await get(actor.projectId, id);
    if (contact.state === "approved") return contact;
    const { name, address } = contact;
    const change = {
      kind: "contact.approve",
      title: "Approve a contact, so that it may be paid where only approved contacts may",
      lines: [`Name: ${quoted(name)}`, `Address: ${address}`],
      values: { projectId: actor.projectId, id, name, address },
    };
    const approved = await deps.approvals.requireApproval(actor, change, given);
    await database.transaction(async (tx) => {
      await approved.consume(tx);
      if (!(await approveContact(tx, contact, { by: actorName(actor), at: clock.now() })))
        throw new DomainError(
          "invalid_state",
          "The contact was changed meanwhile. Read it again; nothing was approved.",
        );
      const entry = entryOf(actor, contact);
      const data = { ...entry.data, ...approved.record };
      await recordAudit(tx, { ...entry, data, action: "contact.approved" });
    });
    return get(actor.projectId, id);
  };

  return {
    approve,
    list: ({ projectId }) => listContacts(database.prisma, projectId, CONTACTS_MAX),
    proposed: ({ projectId }, limit) => listProposed(database.prisma, projectId, limit),
    get: ({ projectId }, id) => get(projectId, id),
    put: (actor, input) => {
      requireChains(input);
      return database.transaction(async (tx) => {
        const { projectId } = actor;
        const candidate = { id: newId("contact"), projectId, ...input, createdBy: actorName(actor) };
        const before = await findContactByAddress(tx, projectId, input.address);
        const contact = await upsertContact(tx, { ...candidate, createdAt: clock.now() });
        // Two at once may both be the last one: the bound keeps the list short, and one more does no harm.
        if (contact.id === candidate.id && (await countContacts(tx, projectId)) > CONTACTS_MAX) throw bookFull();
        await recordAudit(tx, { ...entryOf(actor, contact, before), action: "contact.saved" });
        return contact;
      });
    },
    update: (actor, id, change) => {
      requireChains(change);
      return database.transaction(async (tx) => {
        const before = isId("contact", id) ? await findContact(tx, actor.projectId, id) : null;
        const contact = before && (await updateContact(tx, before, change));
        if (contact === null) throw notFound();
        await recordAudit(tx, { ...entryOf(actor, contact, before), action: "contact.updated" });
        return contact;
      });
    },
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
