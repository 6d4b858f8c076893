const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // `Object.fromEntries` makes own properties of every name, `__proto__` included.
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
};

/**
 * The same text for all spellings of a JSON value: names sorted by UTF-16 code units, no white
 * space, numbers in JavaScript's format, as in RFC 8785 (except that names that are array indices
 * come first). Two values have the same text exactly when they are equal.
 */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));
