/** A secret that a test plants and then searches for in everything that the service writes. */
export interface Canary {
  readonly name: string;
  /** The secret as people and configurations write it. */
  readonly text: string;
  /** The bytes that the text encodes; by default only the text itself is searched. */
  readonly bytes?: Uint8Array;
}

/** Output to search in. */
export interface SearchedText {
  readonly name: string;
  readonly text: string;
}

const BYTE_BITS = 8;
const DIGIT_BITS = 6;

/**
 * The base64 digits of the bytes at each of the three possible offsets, without digits that depend
 * on neighbouring bytes.
 */
const inBase64 = (bytes: Uint8Array): string[] =>
  [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const first = Math.ceil((before * BYTE_BITS) / DIGIT_BITS);
    return digits.slice(first, Math.floor(((before + bytes.length) * BYTE_BITS) / DIGIT_BITS));
  });

interface Form {
  readonly form: string;
  readonly text: string;
}

const formsOf = ({ text, bytes }: Canary): Form[] => {
  const encoded = (kind: string, content: Uint8Array): Form[] => [
    { form: `${kind}hex`, text: Buffer.from(content).toString("hex") },
    ...inBase64(content).map((digits) => ({ form: `${kind}base64`, text: digits })),
  ];
  const own = [{ form: "text", text }, ...encoded("", Buffer.from(text))];
  return bytes === undefined ? own : [...own, ...encoded("bytes as ", bytes)];
};

const SHORT = 16;

/** A short number could be part of another number or of a hash, so it must stand by itself. */
const standsAlone = (text: string, short: string): boolean =>
  new RegExp(`(?<![0-9A-Za-z.])${short}(?![0-9A-Za-z])`).test(text);

/**
 * Searches texts for all forms of the canaries.
 * @returns each place that contains a canary, and the form of the canary there
 */
export const findLeaks = (
  canaries: readonly Canary[],
  places: readonly SearchedText[],
): string[] =>
  places.flatMap((place) => {
    // Hexadecimal digits may be in either case, and base64 may be URL-safe.
    const lower = place.text.toLowerCase();
    const base64 = place.text.replaceAll("-", "+").replaceAll("_", "/");
    const has = ({ form, text }: Form): boolean => {
      if (form.endsWith("hex")) return lower.includes(text);
      if (form.endsWith("base64")) return base64.includes(text);
      return text.length < SHORT
        ? standsAlone(place.text, text)
        : lower.includes(text.toLowerCase());
    };
    return canaries.flatMap((canary) =>
      formsOf(canary)
        .filter(has)
        .map(({ form }) => `${place.name}: ${canary.name} (${form})`),
    );
  });

/**
 * All forms in which a canary could leak, by name of the form. `findLeaks` must find each of them.
 */
export const plantedForms = ({
  text,
  bytes = Buffer.from(text),
}: Canary): Readonly<Record<string, string>> => ({
  text: `key=${text};`,
  hex: `\\x00${Buffer.from(text).toString("hex").toUpperCase()}00`,
  base64: Buffer.from(`secret: ${text}.`).toString("base64"),
  "bytes as hex": Buffer.from(bytes).toString("hex"),
  "bytes as base64": Buffer.concat([Buffer.from([7]), bytes]).toString("base64url"),
});
