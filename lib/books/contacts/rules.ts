import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress } from "@/lib/platform/db/codecs";
import type { RecipientWarningCode } from "@/lib/contracts/warnings";
import { UNAPPROVED_CONTACT } from "@/lib/core/look-alike";
import { nameKeys } from "@/lib/core/similar-names";
import { quoted } from "@/lib/trust/proofs/service";

export interface Contact {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Checksummed. */
  readonly address: EvmAddress;
  /** The user or API key that added it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  /**
   * When a policy requires approved contacts, only these are paid; and only their names are shown
   * when people decide.
   */
  readonly state: "proposed" | "approved";
  readonly approvedAt: Date | null;
  readonly approvedBy: string | null;
  /** When and by whom its current name, address or chains were proposed. */
  readonly proposedAt: Date;
  readonly proposedBy: string;
  readonly tags: readonly string[];
  /**
   * Chains on which the address is to be paid, in ascending order; empty for every chain. An
   * approval is valid only for these.
   */
  readonly chainIds: readonly number[];
}

/** A row of the table `contact`. */
interface StoredContact extends Omit<Contact, "address" | "state" | "proposedBy"> {
  readonly address: string;
  readonly state: string;
  readonly proposedBy: string | null;
}

/** @throws ZodError when the stored address is invalid */
export const parseContact = (row: StoredContact): Contact => ({
  id: row.id,
  projectId: row.projectId,
  name: row.name,
  address: storedAddress.parse(row.address),
  createdBy: row.createdBy,
  createdAt: row.createdAt,
  state: row.state === "approved" ? "approved" : "proposed",
  approvedAt: row.approvedAt,
  approvedBy: row.approvedBy,
  proposedAt: row.proposedAt,
  proposedBy: row.proposedBy ?? row.createdBy,
  tags: row.tags,
  chainIds: row.chainIds,
});

// Pure decisions about contacts: which changes need a new approval, and which contacts people may
// confuse.

/** The fields that people change; absent ones stay. */
export interface ContactChange {
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly chainIds?: readonly number[] | undefined;
}

export type ContactValues = Pick<Contact, "name" | "tags" | "chainIds">;

/** The chains in the order in which they are stored and approved. */
const inOrder = (chainIds: readonly number[]): number[] =>
  [...new Set(chainIds)].sort((a, b) => a - b);

const NEW: ContactValues = { name: "", tags: [], chainIds: [] };

/** The values after a change. @param before absent for a new contact */
export const valuesAfter = (change: ContactChange, before: ContactValues = NEW): ContactValues => ({
  name: change.name ?? before.name,
  tags: change.tags ?? before.tags,
  chainIds: change.chainIds === undefined ? before.chainIds : inOrder(change.chainIds),
});

/**
 * Whether the change needs a new approval: an approval covers the name and the chains, whereas tags
 * do not affect who is paid.
 */
export const needsApproval = (before: ContactValues, after: ContactValues): boolean =>
  before.name !== after.name || before.chainIds.join() !== after.chainIds.join();

export interface ContactWarning {
  readonly code: "similar_name" | RecipientWarningCode;
  /** The field of the contact to which it refers. */
  readonly path: string;
  readonly message: string;
}

/** A contact or a wallet of the project with which another contact may be confused. */
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
 * Finds the names with which each contact's name may be confused. An approved contact is compared
 * only with approved ones and with wallets of the project: a person has checked it, and otherwise
 * anybody could flag it by proposing a similar one.
 * @param others contacts, including the examined one, and wallets of the project
 */
export const createSimilarNames = (
  others: readonly Namesake[],
): ((contact: Pick<Contact, "id" | "name" | "address" | "state">) => readonly ContactWarning[]) => {
  const byKey = new Map<string, Namesake[]>();
  for (const other of others)
    for (const key of nameKeys(other.name)) byKey.set(key, [...(byKey.get(key) ?? []), other]);
  return ({ id, name, address, state }) => {
    const isRival = (other: Namesake): boolean =>
      other.contactId !== id &&
      other.address !== address &&
      (state === "proposed" || other.contactId === null || other.isApproved);
    const named = new Set(nameKeys(name).flatMap((key) => byKey.get(key) ?? []));
    // Approved ones first, because people trust those names.
    return [...named]
      .filter(isRival)
      .sort((a, b) => Number(b.isApproved) - Number(a.isApproved))
      .slice(0, NAMES_MAX)
      .map(similarName);
  };
};
