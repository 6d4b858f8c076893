import { isApprovedOn } from "@/lib/core/look-alike";
import type { Database, Tx } from "@/lib/platform/db/client";
import { type GivenApproval, quoted } from "@/lib/trust/proofs/service";
import type { Wallet, WalletsService } from "@/lib/trust/wallets/service";
import type { EvmAddress } from "@/lib/core/evm";
import { type Actor, actorName, type UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import {
  type ListPage,
  type ListQuery,
  pageOf,
  readPlace,
  writePlace,
} from "@/lib/core/list-place";
import { recordAudit } from "@/lib/news/audit/service";
import { createApproving } from "./approving";
import { type ContactsDeps, entryOf, proposalOf, requireChains } from "./changes";
import { bookFull } from "./errors";
import { requestDigest } from "./digest";
import { CONTACTS_MAX } from "@/lib/contracts/contacts";
import { createFlagging, type FlaggedContact, KIND_WORDS } from "./flagging";
import { type ContactImport, createImporting, type ImportedContact } from "./importing";
import {
  type ContactFilter,
  contactsAt,
  countContacts,
  deleteContact,
  findContact,
  insertOrLockAll,
  listContacts,
  listProposed,
  lockContact,
  storeAll,
} from "./repository";
import type { Contact } from "./rows";
import { type ContactChange, needsApproval, valuesAfter } from "./rules";

/**
 * The names that people may trust when they decide: first those of the project's wallets, then
 * those of its approved contacts.
 */
export interface AddressNames {
  /**
   * Names by address, in quotation marks if people typed them. Addresses without a name, and
   * contacts that are not approved for the chain, are left out.
   * @param chainId chain on which the addresses are paid
   */
  of(
    projectId: string,
    paid: { readonly addresses: readonly EvmAddress[]; readonly chainId: number },
  ): Promise<ReadonlyMap<EvmAddress, string>>;
}

/**
 * The name of a wallet. The label of a wallet whose key the service does not hold is left out:
 * money that is paid there leaves the service, and anybody who may write records can choose the
 * label.
 */
const walletName = ({ label, kind, keyId }: Wallet): string =>
  label === null || keyId === null ? KIND_WORDS[kind] : quoted(label);

/** Names addresses for people by their contact or wallet. */
export const createAddressNames = (deps: {
  readonly database: Database;
  readonly wallets: Pick<WalletsService, "find">;
}): AddressNames => ({
  of: async (projectId, { addresses, chainId }) => {
    const unique = [...new Set(addresses)];
    const [contacts, wallets] = await Promise.all([
      contactsAt(deps.database.prisma, projectId, unique),
      Promise.all(unique.map((address) => deps.wallets.find(projectId, address))),
    ]);
    const approved = contacts.filter((contact) => isApprovedOn(contact, chainId));
    const names = new Map(
      approved.map(({ address, name }) => [address, quoted(name)] as const),
    );
    for (const wallet of wallets)
      if (wallet !== null) names.set(wallet.address, walletName(wallet));
    return names;
  },
});

export { createContactDigest } from "./digest";
export type { FlaggedContact } from "./flagging";
export type { ImportedContact } from "./importing";
export type { Contact } from "./rows";

/**
 * The address book of a project. It names addresses and records which are approved; a policy may
 * require that only those are paid.
 */
export interface ContactsService {
  /** A page of the address book, sorted by name. */
  list(actor: Actor, query: ListQuery & ContactFilter): Promise<ListPage<FlaggedContact>>;
  /** Contacts that nobody has approved: at most `limit`, the newest proposal first. */
  proposed(actor: Actor, limit: number): Promise<FlaggedContact[]>;
  /** @throws DomainError `not_found` */
  get(actor: Actor, id: string): Promise<FlaggedContact>;
  /**
   * Stores a contact. An existing address is renamed, and gets the given tags and chains. With a
   * new name or new chains, an approved contact must be approved again.
   * @throws DomainError `invalid_state` when the book is full, `unsupported_chain`
   */
  put(
    actor: Actor,
    input: ContactChange & { readonly name: string; readonly address: EvmAddress },
  ): Promise<FlaggedContact>;
  /**
   * Changes a contact. With a new name or new chains, an approved contact must be approved again.
   * @throws DomainError `not_found`, `unsupported_chain`
   */
  update(actor: Actor, id: string, change: ContactChange): Promise<FlaggedContact>;
  /**
   * Approves the contact, so that policies that require approved contacts allow payments to it on
   * its chains. An approved contact stays unchanged.
   * @throws DomainError `forbidden` unless owner or admin, `not_found`, `approval_required`,
   * `invalid_state`
   */
  approve(
    actor: UserActor,
    id: string,
    given: GivenApproval | undefined,
  ): Promise<FlaggedContact>;
  /**
   * Approves all these contacts with one proof, or none. Approved contacts stay unchanged.
   * @throws DomainError `forbidden` unless owner or admin, `not_found`, `approval_required`,
   * `invalid_state`
   */
  approveAll(
    actor: UserActor,
    ids: readonly string[],
    given: GivenApproval | undefined,
  ): Promise<{ approved: number }>;
  /**
   * Stores all rows of an import, or none. New contacts are proposed.
   * @returns the outcome of each row, in their order
   * @throws DomainError `invalid_request` naming every row that must not be stored,
   * `invalid_state` when the book is full, `unsupported_chain`
   */
  import(actor: Actor, input: ContactImport): Promise<readonly ImportedContact[]>;
  /** @throws DomainError `not_found` */
  remove(actor: Actor, id: string): Promise<{ id: string }>;
}

type Reading = ReturnType<typeof createReading>;

const createReading = (deps: ContactsDeps) => {
  const flag = createFlagging(deps);
  const flagOne = async (contact: Contact): Promise<FlaggedContact> => {
    const [flagged] = await flag(contact.projectId, [contact]);
    return flagged ?? { ...contact, warnings: [] };
  };
  const get = async (projectId: string, id: string): Promise<FlaggedContact> => {
    const contact = isId("contact", id)
      ? await findContact(deps.database.prisma, projectId, id)
      : null;
    if (contact === null) throw notFound();
    return flagOne(contact);
  };
  /**
   * Adds the answers of chains and screening sources. An approval covers only what the records say,
   * because these answers may be late.
   */
  const checked = async (contact: FlaggedContact): Promise<FlaggedContact> => {
    const { projectId, chainIds, address } = contact;
    const recipients = [{ path: "address", address }];
    const about = await deps.recipients.warnings({
      projectId,
      chainIds,
      recipients,
      purpose: "store",
    });
    return {
      ...contact,
      warnings: [...about, ...contact.warnings.filter(({ path }) => path !== "address")],
    };
  };
  return { flag, flagOne, get, checked };
};

/** Writes new values of a contact. @param before the row that the transaction has locked */
const change = async (
  tx: Tx,
  deps: ContactsDeps,
  {
    actor,
    before,
    values,
  }: { readonly actor: Actor; readonly before: Contact; readonly values: ContactChange },
): Promise<Contact> => {
  const after = { ...before, ...valuesAfter(values, before) };
  const proposal = needsApproval(before, after) ? proposalOf(deps, actor) : null;
  await storeAll(tx, before.projectId, [after], proposal);
  return (await findContact(tx, before.projectId, before.id)) ?? before;
};

const createSaving = (
  deps: ContactsDeps,
  { flagOne, checked }: Reading,
): Pick<ContactsService, "put" | "update"> => {
  const { database, clock } = deps;
  return {
    put: async (actor, input) => {
      requireChains(deps, input);
      const { projectId } = actor;
      const { address } = input;
      deps.recipients.require([{ path: "address", address }], input.chainIds ?? []);
      const id = newId("contact");
      const added = {
        id,
        projectId,
        address,
        ...valuesAfter(input),
        createdBy: actorName(actor),
        createdAt: clock.now(),
      };
      const saved = await database.transaction(async (tx) => {
        await requestDigest(tx, projectId, clock.now());
        const [found] = await insertOrLockAll(tx, [added]);
        if (found === undefined) throw notFound();
        if (found.id !== id) {
          const contact = await change(tx, deps, { actor, before: found, values: input });
          await recordAudit(tx, {
            ...entryOf(deps, actor, contact, found),
            action: "contact.saved",
          });
          return contact;
        }
        // Two concurrent requests may exceed the maximum by one. That does no harm, because the
        // limit only keeps the list short.
        if ((await countContacts(tx, projectId)) > CONTACTS_MAX) throw bookFull();
        await recordAudit(tx, { ...entryOf(deps, actor, found), action: "contact.saved" });
        return found;
      });
      return checked(await flagOne(saved));
    },
    update: async (actor, id, values) => {
      requireChains(deps, values);
      const { projectId } = actor;
      const saved = await database.transaction(async (tx) => {
        await requestDigest(tx, projectId, clock.now());
        const before = isId("contact", id) ? await lockContact(tx, { projectId, id }) : null;
        if (before === null) throw notFound();
        const contact = await change(tx, deps, { actor, before, values });
        await recordAudit(tx, {
          ...entryOf(deps, actor, contact, before),
          action: "contact.updated",
        });
        return contact;
      });
      return checked(await flagOne(saved));
    },
  };
};

/**
 * The service of a project's contacts; each change writes an entry of the audit log in its
 * transaction.
 */
export const createContactsService = (deps: ContactsDeps): ContactsService => {
  const { database } = deps;
  const reading = createReading(deps);
  const { flag, get, checked } = reading;
  return {
    list: async ({ projectId }, { limit, cursor, ...filter }) => {
      const after = cursor === undefined ? null : readPlace(cursor);
      const rows = await listContacts(database.prisma, projectId, {
        limit: limit + 1,
        after,
        filter,
      });
      const { data, nextCursor } = pageOf(rows, limit, ({ id, name }) =>
        writePlace({ id, key: name }),
      );
      return { data: await flag(projectId, data), nextCursor };
    },
    proposed: async ({ projectId }, limit) =>
      flag(projectId, await listProposed(database.prisma, projectId, limit)),
    get: async ({ projectId }, id) => checked(await get(projectId, id)),
    ...createSaving(deps, reading),
    ...createApproving(deps, reading),
    import: createImporting(deps, flag),
    remove: async (actor, id) => {
      await database.transaction(async (tx) => {
        const contact = isId("contact", id)
          ? await deleteContact(tx, actor.projectId, id)
          : null;
        if (!contact) throw notFound();
        await recordAudit(tx, { ...entryOf(deps, actor, contact), action: "contact.deleted" });
      });
      return { id };
    },
  };
};
