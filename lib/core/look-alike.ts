const ENDS = 4;
const PREFIX = "0x".length;

const ends = (address: string): string => {
  const text = address.toLowerCase();
  return text.slice(PREFIX, PREFIX + ENDS) + text.slice(-ENDS);
};

/**
 * A known address that `address` could be mistaken for: same first and last four digits, but not the same. Such addresses are
 * made on purpose, to be copied from a history by mistake. Null when there is none.
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

/** Addresses that could be the intended one. An address that was once paid by mistake must not confirm itself. */
const RIVALS = {
  own: [],
  contact: ["own", "contact"],
  earlier: ["own", "contact"],
  new: ["own", "contact", "earlier"],
} as const satisfies Record<KnownAddress["as"] | "new", readonly KnownAddress["as"][]>;

const RANKS = ["own", "contact", "earlier"] as const satisfies readonly KnownAddress["as"][];

/** Answers for many addresses which known one each could be mistaken for; null where there is none. */
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
