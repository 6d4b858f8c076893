import { RefusedFileError } from "./table";

const SAMPLE_BYTES = 64 * 1024;
/** UTF-16 text in Latin letters has a zero in nearly every second byte. */
const UTF16_ZERO_SHARE = 0.4;
const BINARY_SHARE = 0.01;
/** A file with up to this many control characters is text, however short it is: they are errors of single cells. */
const STRAY_MAX = 8;

const startsWith = (bytes: Uint8Array, ...head: number[]): boolean => head.every((byte, at) => bytes[at] === byte);

/** Share of zero bytes at even and at odd places of the beginning. */
const zeroShares = (bytes: Uint8Array): readonly [even: number, odd: number] => {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  });
  const half = Math.max(1, sample.length / 2);
  return [(zeros[0] ?? 0) / half, (zeros[1] ?? 0) / half];
};

/** By the control characters other than tab and line ends in the beginning. */
const isBinary = (bytes: Uint8Array): boolean => {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const controls = sample.filter((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d).length;
  return controls > STRAY_MAX && controls / sample.length > BINARY_SHARE;
};

const encodingOf = (bytes: Uint8Array): "utf-16le" | "utf-16be" | null => {
  if (startsWith(bytes, 0xff, 0xfe)) return "utf-16le";
  if (startsWith(bytes, 0xfe, 0xff)) return "utf-16be";
  const [even, odd] = zeroShares(bytes);
  if (odd > UTF16_ZERO_SHARE && even < BINARY_SHARE) return "utf-16le";
  return even > UTF16_ZERO_SHARE && odd < BINARY_SHARE ? "utf-16be" : null;
};

export interface DecodedText {
  readonly text: string;
  readonly notices: readonly string[];
}

/** Text of a file in UTF-8, UTF-16 or, where it is neither, Windows-1252. @throws RefusedFileError when it is no text */
export const decodeText = (bytes: Uint8Array): DecodedText => {
  const utf16 = encodingOf(bytes);
  if (utf16 !== null) return { text: new TextDecoder(utf16).decode(bytes), notices: [] };
  if (isBinary(bytes))
    throw new RefusedFileError("This is not a text file. Save the sheet as CSV or XLSX and choose that file.");
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), notices: [] };
  } catch {
    return {
      text: new TextDecoder("windows-1252").decode(bytes),
      notices: ["The file is not in UTF-8; it was read as Windows-1252. Check letters with accents."],
    };
  }
};
