const hexOf = (...words: readonly number[]): string =>
  words.map((word) => word.toString(16).padStart(8, "0")).join("");

const UUID_OID = 2950;
const UUID_BYTES = 16;
const LENGTH = hexOf(UUID_BYTES);
const UUID_DIGITS = 2 * UUID_BYTES;

/**
 * Encodes UUIDs as the value of a parameter of type `uuid[]`, in PostgreSQL's binary format of
 * arrays (`array_send`); the driver sends a buffer as it is. PostgreSQL reads a thousand UUIDs in
 * this form in a tenth of the time that it takes for their text.
 * @param uuids in hex, 32 digits each, without hyphens
 */
export const binaryUuids = (uuids: readonly string[]): Buffer => {
  // Header: number of dimensions, whether there are nulls, type of the elements.
  const header = hexOf(uuids.length === 0 ? 0 : 1, 0, UUID_OID);
  if (uuids.length === 0) return Buffer.from(header, "hex");
  // Length and lower bound of the dimension, then each element with its length before it.
  const hex = `${header}${hexOf(uuids.length, 1)}${LENGTH}${uuids.join(LENGTH)}`;
  const array = Buffer.from(hex, "hex");
  // Node stops decoding hex at the first invalid character, so a shorter result means invalid
  // input.
  if (2 * array.length !== hex.length || !uuids.every(({ length }) => length === UUID_DIGITS))
    throw new Error("A UUID does not have 32 hexadecimal digits.");
  return array;
};
