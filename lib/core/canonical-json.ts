const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // Unlike an assignment, `Object.fromEntries` creates an own property even for `__proto__`.
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
};

/**
 * Writes equal JSON values as the same text: names sorted by UTF-16 code units, no white space,
 * numbers in JavaScript's format, as in RFC 8785 (except that names that are array indices come
 * first). Different values have different texts.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));
