/** How a spreadsheet shows a number: some numbers are dates or shares, which must never pass for amounts. */
export type NumberKind = "number" | "date" | "percent";

const PERCENT_IDS = new Set([9, 10]);
/** Built-in formats of dates and times (ECMA-376, 18.8.30), those of East Asian languages included. */
const isDateId = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);

/** Of a format of the file's own, such as `#,##0.00` or `d/m/yyyy`. */
export const kindOfCode = (code: string): NumberKind => {
  const bare = code.replace(/"[^"]*"|\\.|\[[^\]]*\]|_.|\*./g, "");
  if (bare.includes("%")) return "percent";
  return /[ymdhs]/i.test(bare.replace(/general/gi, "")) ? "date" : "number";
};

export const kindOfFormat = (id: number, codes: ReadonlyMap<number, string>): NumberKind => {
  const code = codes.get(id);
  if (code !== undefined) return kindOfCode(code);
  if (PERCENT_IDS.has(id)) return "percent";
  return isDateId(id) ? "date" : "number";
};

const DAY_MS = 86_400_000;
/** Day 0 of the two calendars; the first has a 29 February 1900 that never was, so it is right from March 1900 on. */
const EPOCHS = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;

/** `2026-05-01`, with a time where the number has one. */
export const dateText = (serial: number, calendar: keyof typeof EPOCHS): string => {
  const at = new Date(EPOCHS[calendar] + Math.round(serial * DAY_MS));
  if (Number.isNaN(at.getTime())) return String(serial);
  const text = at.toISOString();
  return Number.isInteger(serial) ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
};
