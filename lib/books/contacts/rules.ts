import type { EvmAddress } from "@/lib/core/evm";
import type { RecipientWarningCode } from "@/lib/contracts/warnings";
import { UNAPPROVED_CONTACT } from "@/lib/core/look-alike";
import { nameKeys } from "@/lib/core/similar-names";
import { quoted } from "@/lib/trust/proofs/service";
import type { Contact } from "./rows";

// Decides, without I/O, which changes of contacts need a new approval, and which contacts people
// may confuse.

/** The fields that people may change. Absent fields stay the same. */
export interface ContactChange {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly chainIds?: readonly number[] | undefined;
}

export type ContactValues = Pick<Contact, "name" | "tags" | "chainIds">;

const inOrder = (chainIds: readonly number[]): number[] =>
  [...new Set(chainIds)].sort((a, b) => a - b);

const NEW: ContactValues = { name: "", tags: [], chainIds: [] };

/** The values after a change. @param before absent for a new contact */
export const valuesAfter = (
  change: ContactChange,
  before: ContactValues = NEW,
): ContactValues => ({
  name: change.name ?? before.name,
  tags: change.tags ?? before.tags,
  chainIds: change.chainIds === undefined ? before.chainIds : inOrder(change.chainIds),
});

/**
 * Whether the change needs a new approval. An approval covers the name and the chains; tags do not
 * affect payments.
 */
export const needsApproval = (before: ContactValues, after: ContactValues): boolean =>
  before.name !== after.name || before.chainIds.join() !== after.chainIds.join();

/** Whether a change leaves the contact as it is. */
export const sameValues = (before: ContactValues, after: ContactValues): boolean =>
  !needsApproval(before, after) && before.tags.join() === after.tags.join();

export interface ContactWarning {
  readonly code: "similar_name" | RecipientWarningCode;
  readonly path: string;
  readonly message: string;
}

/** A contact or wallet of the project whose name another contact's name is compared with. */
export interface Namesake {
  readonly contactId: string | null;
  readonly name: string;
  readonly address: EvmAddress;
  readonly isApproved: boolean;
}

const NAMES_MAX = 5;

const words = ({ contactId, name, address, isApproved }: Namesake): string => {
  if (contactId === null) return `the project's wallet ${quoted(name)}, ${address}`;
  return isApproved
    ? `the approved contact ${quoted(name)}, ${address}`
    : `${UNAPPROVED_CONTACT}, ${quoted(name)}, ${address}`;
};

const similarName = (one: Namesake): ContactWarning => ({
  code: "similar_name",
  path: "name",
  message: `Its name is equal to or looks like that of ${words(one)}.`,
});

/**
 * Returns a function that finds names with which a contact's name may be confused. An approved
 * contact is compared only with approved contacts and with wallets of the project. A person has
 * checked the approved contact. If it were compared with proposed contacts, anybody could flag it
 * by proposing a similar name.
 * @param others contacts, including the examined one, and wallets of the project
 */
export const createSimilarNames = (
  others: readonly Namesake[],
): ((
  contact: Pick<Contact, "id" | "name" | "address" | "state">,
) => readonly ContactWarning[]) => {
  const byKey = new Map<string, Namesake[]>();
  for (const other of others)
    for (const key of nameKeys(other.name)) byKey.set(key, [...(byKey.get(key) ?? []), other]);
  return ({ id, name, address, state }) => {
    const isRival = (other: Namesake): boolean =>
      other.contactId !== id &&
      other.address !== address &&
      (state === "proposed" || other.contactId === null || other.isApproved);
    const named = new Set(nameKeys(name).flatMap((key) => byKey.get(key) ?? []));
    // Approved contacts first, because people trust their names.
    return [...named]
      .filter(isRival)
      .sort((a, b) => Number(b.isApproved) - Number(a.isApproved))
      .slice(0, NAMES_MAX)
      .map(similarName);
  };
};
