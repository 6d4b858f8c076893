import { address as addressSchema } from "@/lib/contracts/common";

const ZERO_ADDRESS = /^0x0{40}$/i;

/** Why a trimmed text is no address that can be paid; null when it is one. */
export const addressProblem = (text: string): string | null => {
  if (text === "") return "Enter an address.";
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    return "This is not an address: it needs 0x and 40 digits from 0 to f.";
  if (!addressSchema.safeParse(text).success)
    return "The checksum is wrong: a character was changed. Copy the address again.";
  return ZERO_ADDRESS.test(text)
    ? "Nobody owns the zero address; money sent there is lost."
    : null;
};
