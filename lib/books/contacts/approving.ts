/** Approvals of contacts: one contact, or many with one proof. */
import { actorName, type UserActor } from "@/lib/core/actor";
import { DomainError, notFound } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { recordAudits } from "@/lib/news/audit/service";
import { type Change, type GivenApproval, quoted } from "@/lib/trust/proofs/service";
import { type ContactsDeps, entryOf } from "./changes";
import type { createFlagging, FlaggedContact } from "./flagging";
import { approveContacts, contactsWith } from "./repository";

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The contact was changed meanwhile. Read it again; nothing was approved.",
  );

const oneOfThemChanged = (): DomainError =>
  new DomainError(
    "invalid_state",
    "One of the contacts was changed meanwhile. Read them again; nothing was approved.",
  );

/** Names the chains of contacts. A chain that is no longer configured is shown by its number. */
const chainWords = ({
  registry,
}: Pick<ContactsDeps, "registry">): ((contact: FlaggedContact) => string) => {
  const names = new Map(registry.list().map((chain) => [chain.id, chain.name]));
  return ({ chainIds }) =>
    chainIds.length === 0
      ? "every chain"
      : chainIds.map((chainId) => names.get(chainId) ?? `chain ${String(chainId)}`).join(", ");
};

const valuesOf = ({ projectId, id, name, address, chainIds, warnings }: FlaggedContact) => ({
  projectId,
  id,
  name,
  address,
  chainIds: chainIds.map(String),
  warnings: warnings.map(({ message }) => message),
});

/**
 * The approval of a contact. It covers everything on which payments and names depend, and the names
 * with which the contact may be confused.
 */
const approvalOf = (deps: ContactsDeps, contact: FlaggedContact): Change => ({
  kind: "contact.approve",
  title:
    "Approve a contact: its name is shown to those who decide, and it may be paid where only approved contacts may",
  lines: [
    `Name: ${quoted(contact.name)}`,
    `Address: ${contact.address}`,
    `Chains: ${chainWords(deps)(contact)}`,
    ...contact.warnings.map(({ message }) => `Compare it: ${message}`),
  ],
  values: valuesOf(contact),
});

/** The approval of several contacts, with one line for each and a line for each warning. */
const approvalOfAll = (deps: ContactsDeps, contacts: readonly FlaggedContact[]): Change => {
  const chains = chainWords(deps);
  return {
    kind: "contact.approve",
    title: `Approve ${String(contacts.length)} contacts: their names are shown to those who decide, and they may be paid where only approved contacts may`,
    lines: contacts.flatMap((contact) => [
      `${quoted(contact.name)}, ${contact.address}, ${chains(contact)}`,
      ...contact.warnings.map(
        ({ message }) => `Compare ${quoted(contact.name)}, ${contact.address}: ${message}`,
      ),
    ]),
    values: contacts.map(valuesOf),
  };
};

const inOrder = (contacts: readonly FlaggedContact[]): FlaggedContact[] =>
  [...contacts].sort((a, b) => a.name.localeCompare(b.name, "en") || (a.id < b.id ? -1 : 1));

export const createApproving = (
  deps: ContactsDeps,
  {
    flag,
    get,
  }: {
    readonly flag: ReturnType<typeof createFlagging>;
    readonly get: (projectId: string, id: string) => Promise<FlaggedContact>;
  },
) => {
  const { database, clock } = deps;
  /** Approves contacts with the values that the change shows. Approves all of them or none. */
  const approve = async (
    actor: UserActor,
    contacts: readonly FlaggedContact[],
    change: Change,
    given: GivenApproval | undefined,
  ): Promise<void> => {
    const approved = await deps.approvals.requireApproval(actor, change, given);
    await database.transaction(async (tx) => {
      await approved.consume(tx);
      const by = { by: actorName(actor), at: clock.now() };
      if ((await approveContacts(tx, actor.projectId, contacts, by)) !== contacts.length)
        throw contacts.length === 1 ? changedMeanwhile() : oneOfThemChanged();
      await recordAudits(
        tx,
        contacts.map((contact) => {
          const entry = entryOf(deps, actor, { ...contact, state: "approved" }, contact);
          const data = { ...entry.data, ...approved.record };
          return { ...entry, data, action: "contact.approved" };
        }),
      );
    });
  };
  return {
    approve: async (
      actor: UserActor,
      id: string,
      given: GivenApproval | undefined,
    ): Promise<FlaggedContact> => {
      const contact = await get(actor.projectId, id);
      if (contact.state === "approved") return contact;
      await approve(actor, [contact], approvalOf(deps, contact), given);
      return get(actor.projectId, id);
    },
    approveAll: async (
      actor: UserActor,
      ids: readonly string[],
      given: GivenApproval | undefined,
    ): Promise<{ approved: number }> => {
      const { projectId } = actor;
      const asked = [...new Set(ids)];
      if (!asked.every((id) => isId("contact", id))) throw notFound();
      const contacts = await contactsWith(database.prisma, projectId, asked);
      if (contacts.length !== asked.length) throw notFound();
      const proposed = contacts.filter(({ state }) => state === "proposed");
      if (proposed.length === 0) return { approved: 0 };
      const flagged = inOrder(await flag(projectId, proposed));
      await approve(actor, flagged, approvalOfAll(deps, flagged), given);
      return { approved: flagged.length };
    },
  };
};
