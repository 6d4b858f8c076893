const ENDS = 4;
const PREFIX = "0x".length;

/**
 * The first and last four hex digits of an address, in lower case. Many people compare only these
 * digits.
 */
export const addressEnds = (address: string): string => {
  const text = address.toLowerCase();
  return text.slice(PREFIX, PREFIX + ENDS) + text.slice(-ENDS);
};

/**
 * Returns a known address that `address` could be mistaken for, because both have the same first
 * and last four hex digits; null when there is none or `address` itself is known. Attackers
 * generate such addresses so that people copy them from a history by mistake (address poisoning).
 */
export const findLookAlike = (address: string, known: readonly string[]): string | null => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return null;
  if (known.some((one) => one.toLowerCase() === address.toLowerCase())) return null;
  return known.find((one) => addressEnds(one) === addressEnds(address)) ?? null;
};

export interface KnownAddress {
  readonly address: string;
  readonly name: string;
  /**
   * `contact`: an approved contact. `proposed`: a contact that is not approved, so its name proves
   * nothing.
   */
  readonly as: "own" | "contact" | "proposed" | "earlier";
}

/**
 * For each kind of recipient, the kinds of known addresses with which it is compared. An address
 * that was paid before is still compared with contacts and own addresses, because it may have been
 * paid by mistake. An approved contact is not compared with proposed ones, because a person has
 * already checked the approved contact.
 */
const RIVALS = {
  own: [],
  contact: ["own", "contact"],
  proposed: ["own", "contact", "proposed"],
  earlier: ["own", "contact", "proposed"],
  new: ["own", "contact", "proposed", "earlier"],
} as const satisfies Record<KnownAddress["as"] | "new", readonly KnownAddress["as"][]>;

export const KNOWN_RANKS = [
  "own",
  "contact",
  "proposed",
  "earlier",
] as const satisfies readonly KnownAddress["as"][];

/**
 * Returns a function that finds the known address for which an address could be mistaken, or null.
 * Addresses are indexed, so it is fast for many of them.
 */
export const createLookAlikes = (
  known: readonly KnownAddress[],
): ((address: string) => KnownAddress | null) => {
  const byEnds = new Map<string, KnownAddress[]>();
  for (const one of known) {
    const key = addressEnds(one.address);
    const there = byEnds.get(key);
    if (there === undefined) byEnds.set(key, [one]);
    else there.push(one);
  }
  return (address) => {
    const near = byEnds.get(addressEnds(address));
    if (near === undefined) return null;
    const isSame = (one: KnownAddress): boolean =>
      one.address.toLowerCase() === address.toLowerCase();
    const as =
      KNOWN_RANKS.find((rank) => near.some((one) => one.as === rank && isSame(one))) ?? "new";
    return (
      near.find((one) => !isSame(one) && RIVALS[as].some((rival) => rival === one.as)) ?? null
    );
  };
};

// Decides which names of contacts people may trust. Browser-safe.

interface NamedContact {
  readonly address: string;
  readonly name: string;
  readonly state: "proposed" | "approved";
  /** Chains for which the contact was approved; empty for every chain. */
  readonly chainIds: readonly number[];
}

/**
 * Whether the contact was approved as a recipient on the chain. Screens on which people decide show
 * only names of such contacts, because anybody who may write records can choose the name of a
 * proposed contact.
 * @param chainId null when the chain is not known yet
 */
export const isApprovedOn = (
  { state, chainIds }: Pick<NamedContact, "state" | "chainIds">,
  chainId: number | null,
): boolean =>
  state === "approved" &&
  (chainId === null || chainIds.length === 0 || chainIds.includes(chainId));

/** Replaces the name of a contact that is not approved for the chain, inside a sentence. */
export const UNAPPROVED_CONTACT = "a contact that is not approved";

/**
 * A contact's name for a list. An unapproved name is marked at its beginning, because the end may
 * be cut off.
 */
export const listedName = ({ name, state }: Pick<NamedContact, "name" | "state">): string =>
  state === "approved" ? name : `Not approved: ${name}`;

/**
 * The contact as a known address. The result has the contact's name only if the contact is
 * approved for the chain.
 */
export const knownContact = (contact: NamedContact, chainId: number | null): KnownAddress =>
  isApprovedOn(contact, chainId)
    ? { address: contact.address, name: contact.name, as: "contact" }
    : { address: contact.address, name: UNAPPROVED_CONTACT, as: "proposed" };
