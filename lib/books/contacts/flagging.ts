/** The warnings about contacts: addresses and names with which people may confuse them. */
import { CONTACTS_MAX } from "@/lib/contracts/contacts";
import type { Database } from "@/lib/platform/db/client";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { Wallet, WalletsService } from "@/lib/trust/wallets/service";
import { listContacts } from "./repository";
import { type ContactWarning, createSimilarNames } from "./rules";
import type { Contact } from "./rows";

/** A contact with the names with which people may confuse it. */
export interface FlaggedContact extends Contact {
  readonly warnings: readonly ContactWarning[];
}

export const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<Wallet["kind"], string>;

interface FlaggingDeps {
  readonly database: Database;
  readonly wallets: Pick<WalletsService, "list">;
  readonly recipients: Pick<RecipientsService, "warningsOfRecords">;
}

/** For each contact id, the warnings about the contact. */
const byContact = (
  about: Awaited<ReturnType<RecipientsService["warningsOfRecords"]>>,
): ReadonlyMap<string, readonly ContactWarning[]> => {
  const byId = new Map<string, ContactWarning[]>();
  for (const { path, ...each } of about)
    byId.set(path, [...(byId.get(path) ?? []), { ...each, path: "address" }]);
  return byId;
};

/**
 * Returns a function that adds to contacts the warnings that follow from the project's records.
 * `drafts` are contacts that are not stored yet. They are also compared with each other.
 */
export const createFlagging =
  ({ database, wallets, recipients }: FlaggingDeps) =>
  async (
    projectId: string,
    contacts: readonly Contact[],
    drafts: readonly Contact[] = [],
  ): Promise<FlaggedContact[]> => {
    const [stored, own, about] = await Promise.all([
      listContacts(database.prisma, projectId, { limit: CONTACTS_MAX }),
      wallets.list(projectId),
      recipients.warningsOfRecords({
        projectId,
        chainIds: [],
        recipients: contacts.map(({ id, address }) => ({ path: id, address })),
        drafts: drafts.map(({ address }) => address),
        purpose: "store",
      }),
    ]);
    const drafted = new Set(drafts.map(({ address }) => address));
    const book = [...stored.filter(({ address }) => !drafted.has(address)), ...drafts];
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
    const byId = byContact(about);
    return contacts.map((contact) => ({
      ...contact,
      warnings: [...(byId.get(contact.id) ?? []), ...similarNames(contact)],
    }));
  };
