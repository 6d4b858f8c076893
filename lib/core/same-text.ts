/** Compares two texts without case, for example two spellings of one address. */
export const isSameText = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();
