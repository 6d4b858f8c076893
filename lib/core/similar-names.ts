/** Detects names that people may confuse. Browser-safe. */

/**
 * Small letters, digits and signs of any alphabet, mapped to the Latin letter that they resemble.
 * `i`, `l` and `1` count as the same, and so do `o` and `0`.
 */
const SMALL: Readonly<Record<string, string>> = {
  a: "@ɑαа",
  ae: "æ",
  b: "βвь",
  c: "с",
  d: "đԁ",
  e: "ɛεе",
  f: "ƒ",
  g: "ɡ",
  h: "ħнһհ",
  j: "јյ",
  k: "κк",
  l: "iıłɩʟιіӏ1|!",
  m: "м",
  n: "ɴηпո",
  o: "0øοσоօ",
  oe: "œ",
  p: "ρр",
  q: "ԛ",
  r: "ʀг",
  s: "$ςѕ",
  ss: "ß",
  t: "ŧτт",
  u: "μυս",
  v: "νѵ",
  w: "ωԝ",
  x: "χх",
  y: "γуү",
  "3": "з",
};

/** Capitals that resemble a different Latin letter than their lower-case forms do. */
const CAPITALS: Readonly<Record<string, string>> = {
  b: "ΒВ",
  h: "ΗН",
  m: "Μ",
  n: "Ν",
  o: "Ο",
  p: "ΡР",
  y: "ΥУ",
  z: "Ζ",
};

const byLetter = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(table).flatMap(([latin, letters]) =>
      Array.from(letters, (letter) => [letter, latin]),
    ),
  );

const LOOKS = byLetter(SMALL);
const CAPITAL_LOOKS = byLetter(CAPITALS);

const PAIRS = [
  ["rn", "m"],
  ["vv", "w"],
] as const;

const SILENT = /[^\p{L}\p{N}]/gu;
const MARKS = /\p{M}/gu;

const looksLike = (character: string): string => {
  const small = character.toLowerCase();
  return CAPITAL_LOOKS.get(character) ?? LOOKS.get(small) ?? small;
};

/**
 * A form of a name without the differences that people overlook: two names with the same skeleton
 * look alike. Letters of other alphabets and widths become the Latin letters that they resemble;
 * case, accents, spaces and punctuation are left out.
 * @example
 * skeletonOf("Payro11 Ltd.") === skeletonOf("PAYROLL LTD") // true
 */
const skeletonOf = (name: string): string => {
  const plain = name.normalize("NFKD").replace(MARKS, "");
  const letters = Array.from(plain, looksLike).join("").replace(SILENT, "");
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), letters);
};

/**
 * The name in one case, without spaces and punctuation. `skeletonOf` misses spellings in another
 * case, because capitals of Greek and Cyrillic do not resemble their small letters.
 */
const foldedOf = (name: string): string =>
  name.normalize("NFKC").toUpperCase().toLowerCase().replace(SILENT, "");

/**
 * The keys of a name. People may confuse names that share a key. A name without letters and digits
 * is its own key.
 */
export const nameKeys = (name: string): readonly string[] => {
  const keys = [skeletonOf(name), foldedOf(name)].filter((key) => key !== "");
  return keys.length === 0 ? [name.normalize("NFKC").trim()] : [...new Set(keys)];
};

/** Whether people may confuse the two names. Equal names are similar. */
export const areSimilar = (one: string, other: string): boolean => {
  const keys = new Set(nameKeys(one));
  return nameKeys(other).some((key) => keys.has(key));
};
