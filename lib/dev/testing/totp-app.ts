const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The secret of an authenticator app from its base32 form (RFC 4648, 6). */
export const fromBase32 = (text: string): Buffer => {
  const bits = Array.from(text, (letter) =>
    BASE32.indexOf(letter).toString(2).padStart(5, "0"),
  ).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};
