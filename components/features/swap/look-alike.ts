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
