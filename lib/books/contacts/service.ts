import { isApprovedOn } from "@/lib/core/look-alike";
import type { Database, Tx } from "@/lib/platform/db/client";
import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import type { Wallet, WalletsService } from "@/lib/trust/wallets/service";
import type { EvmAddress } from "@/lib/core/evm";
import {
  approveContact,
  type ContactFilter,
  contactsAt,
  countContacts,
  deleteContact,
  findContact,
  insertOrLock,
  listContacts,
  listProposed,
  lockContact,
  storeValues,
} from "./repository";
import { type Actor, actorName, type UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import {
  type ListPage,
  type ListQuery,
  pageOf,
  readPlace,
  writePlace,
} from "@/lib/core/list-place";
import { doneBy, recordAudit, replaced } from "@/lib/news/audit/service";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import {
  type ContactChange,
  type ContactWarning,
  createSimilarNames,
  needsApproval,
  valuesAfter,
} from "./rules";
import { requestDigest } from "./digest";
import type { Contact } from "./rows";

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

const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<Wallet["kind"], string>;

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
export type { Contact } from "./rows";

/** A contact with the names with which people may confuse it. */
export interface FlaggedContact extends Contact {
  readonly warnings: readonly ContactWarning[];
}

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
  /** @throws DomainError `not_found` */
  remove(actor: Actor, id: string): Promise<{ id: string }>;
}

const CONTACTS_MAX = 1000;

const bookFull = (): DomainError =>
  new DomainError(
    "invalid_state",
    `The address book is full: it holds ${String(CONTACTS_MAX)} addresses. Nothing was saved; delete one first.`,
  );

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The contact was changed meanwhile. Read it again; nothing was approved.",
  );

const auditedFields = ({ name, tags, chainIds, state }: Contact) => ({
  name,
  tags,
  chainIds: chainIds.map(String),
  state,
});

interface ContactsDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly wallets: Pick<WalletsService, "list">;
  readonly recipients: Pick<RecipientsService, "require" | "warnings" | "warningsOfRecords">;
  readonly registry: {
    /** @throws DomainError `unsupported_chain` */
    get(chainId: number): { readonly name: string };
    list(): readonly { readonly id: number; readonly name: string }[];
  };
  readonly clock: Clock;
}

/** Adds to contacts the warnings that follow from the project's records. */
const createFlagging =
  ({
    database,
    wallets,
    recipients,
  }: Pick<ContactsDeps, "database" | "wallets" | "recipients">) =>
  async (projectId: string, contacts: readonly Contact[]): Promise<FlaggedContact[]> => {
    const [book, own, about] = await Promise.all([
      listContacts(database.prisma, projectId, { limit: CONTACTS_MAX }),
      wallets.list(projectId),
      recipients.warningsOfRecords({
        projectId,
        chainIds: [],
        recipients: contacts.map(({ id, address }) => ({ path: id, address })),
        purpose: "store",
      }),
    ]);
    const similarNames = createSimilarNames([
      ...own.map(({ label, kind, address }) => ({
        contactId: null,
        name: label ?? KIND_WORDS[kind],
        address,
        isApproved: true,
      })),
      ...book.map(({ id, name, address, state }) => ({
        contactId: id,
        name,
        address,
        isApproved: state === "approved",
      })),
    ]);
    const byId = new Map<string, ContactWarning[]>();
    for (const { path, ...each } of about)
      byId.set(path, [...(byId.get(path) ?? []), { ...each, path: "address" }]);
    return contacts.map((contact) => {
      const ofAddress = byId.get(contact.id) ?? [];
      return { ...contact, warnings: [...ofAddress, ...similarNames(contact)] };
    });
  };

/**
 * The approval of a contact. It covers everything on which payments and names depend, and the names
 * with which the contact may be confused.
 */
const approvalOf = (
  { registry }: Pick<ContactsDeps, "registry">,
  { id, projectId, name, address, chainIds, warnings }: FlaggedContact,
): Change => {
  // A chain that is no longer configured is shown by its number.
  const names = new Map(registry.list().map((chain) => [chain.id, chain.name]));
  const chains = chainIds.map((chainId) => names.get(chainId) ?? `chain ${String(chainId)}`);
  return {
    kind: "contact.approve",
    title:
      "Approve a contact: its name is shown to those who decide, and it may be paid where only approved contacts may",
    lines: [
      `Name: ${quoted(name)}`,
      `Address: ${address}`,
      `Chains: ${chains.length === 0 ? "every chain" : chains.join(", ")}`,
      ...warnings.map(({ message }) => `Compare it: ${message}`),
    ],
    values: {
      projectId,
      id,
      name,
      address,
      chainIds: chainIds.map(String),
      warnings: warnings.map(({ message }) => message),
    },
  };
};

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

/** @param before set when the contact was changed */
const entryOf = (
  { clock }: ContactsDeps,
  actor: Actor,
  contact: Contact,
  before: Contact | null = null,
) => ({
  ...doneBy(actor),
  subject: contact.id,
  data: {
    ...{ address: contact.address, ...auditedFields(contact) },
    ...(before && replaced(auditedFields(before), auditedFields(contact))),
  },
  at: clock.now(),
});

/** Writes new values of a contact. @param before the row that the transaction has locked */
const change = async (
  tx: Tx,
  { clock }: ContactsDeps,
  {
    actor,
    before,
    values,
  }: { readonly actor: Actor; readonly before: Contact; readonly values: ContactChange },
): Promise<Contact> => {
  const after = valuesAfter(values, before);
  const proposal = needsApproval(before, after)
    ? { by: actorName(actor), at: clock.now() }
    : null;
  await storeValues(tx, before, after, proposal);
  return (await findContact(tx, before.projectId, before.id)) ?? before;
};

const requireChains = ({ registry }: ContactsDeps, { chainIds }: ContactChange): void =>
  chainIds?.forEach((chainId) => void registry.get(chainId));

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
        const found = await insertOrLock(tx, added);
        if (found === null) throw notFound();
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
  const { database, clock } = deps;
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
    approve: async (actor, id, given) => {
      const contact = await get(actor.projectId, id);
      if (contact.state === "approved") return contact;
      const approved = await deps.approvals.requireApproval(
        actor,
        approvalOf(deps, contact),
        given,
      );
      await database.transaction(async (tx) => {
        await approved.consume(tx);
        if (!(await approveContact(tx, contact, { by: actorName(actor), at: clock.now() })))
          throw changedMeanwhile();
        const entry = entryOf(deps, actor, { ...contact, state: "approved" }, contact);
        const data = { ...entry.data, ...approved.record };
        await recordAudit(tx, { ...entry, data, action: "contact.approved" });
      });
      return get(actor.projectId, id);
    },
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
