/** Whether two texts differ in nothing but capitals, as two spellings of one address do. */
export const isSameText = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();
