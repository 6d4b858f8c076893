const ENDS = 4;
const PREFIX = "0x".length;

const ends = (address: string): string => {
  const text = address.toLowerCase();
  return text.slice(PREFIX, PREFIX + ENDS) + text.slice(-ENDS);
};

/**
 * Returns a known address that `address` could be mistaken for, because both have the same first and last four hex digits; null when
 * there is none or `address` itself is known. Attackers generate such addresses so that people copy them from a history by mistake
 * (address poisoning).
 */
export const findLookAlike = (address: string, known: readonly string[]): string | null => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return null;
  if (known.some((one) => one.toLowerCase() === address.toLowerCase())) return null;
  return known.find((one) => ends(one) === ends(address)) ?? null;
};

/** An address that the project knows, with its name. */
export interface KnownAddress {
  readonly address: string;
  readonly name: string;
  readonly as: "own" | "contact" | "earlier";
}

/**
 * For each kind of recipient, the kinds of known address that it is compared with. Earlier recipients are compared with contacts and
 * own addresses, so that an address which was once paid by mistake is still reported.
 */
const RIVALS = {
  own: [],
  contact: ["own", "contact"],
  earlier: ["own", "contact"],
  new: ["own", "contact", "earlier"],
} as const satisfies Record<KnownAddress["as"] | "new", readonly KnownAddress["as"][]>;

const RANKS = ["own", "contact", "earlier"] as const satisfies readonly KnownAddress["as"][];

/** Returns a function that finds the known address which an address could be mistaken for, or null; fast for many addresses. */
export const createLookAlikes = (known: readonly KnownAddress[]): ((address: string) => KnownAddress | null) => {
  const byEnds = new Map<string, KnownAddress[]>();
  for (const one of known) {
    const key = ends(one.address);
    const there = byEnds.get(key);
    if (there === undefined) byEnds.set(key, [one]);
    else there.push(one);
  }
  return (address) => {
    const near = byEnds.get(ends(address));
    if (near === undefined) return null;
    const isSame = (one: KnownAddress): boolean => one.address.toLowerCase() === address.toLowerCase();
    const as = RANKS.find((rank) => near.some((one) => one.as === rank && isSame(one))) ?? "new";
    return near.find((one) => !isSame(one) && RIVALS[as].some((rival) => rival === one.as)) ?? null;
  };
};
