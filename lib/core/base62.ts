const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The number of base62 digits that `byteLength` bytes need: 43 for 32 bytes. */
const lengthOf = (byteLength: number): number =>
  Math.ceil((byteLength * 8) / Math.log2(ALPHABET.length));

/**
 * Encodes bytes as one big-endian number in base62, padded with zeros to a length that depends only
 * on the number of bytes.
 * @example base62(new Uint8Array([255])) // "47"
 */
export const base62 = (bytes: Uint8Array): string => {
  let rest = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  let text = "";
  for (let i = 0; i < lengthOf(bytes.length); i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

/**
 * The inverse of {@link base62}. Returns null unless `text` encodes exactly `byteLength` bytes.
 * @example fromBase62("47", 1) // Uint8Array [255]
 */
export const fromBase62 = (text: string, byteLength: number): Uint8Array | null => {
  if (text.length !== lengthOf(byteLength)) return null;
  let value = 0n;
  for (const char of text) {
    const digit = ALPHABET.indexOf(char);
    if (digit < 0) return null;
    value = value * 62n + BigInt(digit);
  }
  if (value >> BigInt(byteLength * 8) !== 0n) return null;
  const bytes = new Uint8Array(byteLength);
  for (let i = byteLength - 1; i >= 0; i--) {
    bytes[i] = Number(value & 255n);
    value >>= 8n;
  }
  return bytes;
};
