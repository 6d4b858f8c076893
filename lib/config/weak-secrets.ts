import { isHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";

/** Accounts 0 to 9 of the mnemonic that anvil and Hardhat publish ("test test … junk"): anybody can spend from them. */
const PUBLISHED_ADDRESSES: ReadonlySet<string> = new Set([
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  "0x976EA74026E726554dB657fA54763abd0C3a0aa9",
  "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
  "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
  "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
]);

const DISTINCT_MAX_NEEDED = 10;
const STEPS_NEEDED = 4;

/** Whether the text repeats a shorter text: `abab…`, or the same 16 digits twice. */
const repeats = (text: string): boolean => {
  for (let period = 1; period <= text.length / 2; period += 1)
    if (text.slice(period) === text.slice(0, text.length - period)) return true;
  return false;
};

/**
 * Whether a secret cannot have come from a random generator: few different characters, a repetition, or a run such as
 * `0123456789abcdef`. Of random texts of 16 hex digits or more, fewer than one in a million is refused.
 */
export const isGuessable = (secret: string): boolean => {
  const text = secret.toLowerCase();
  const distinct = new Set(text).size;
  if (distinct < Math.min(DISTINCT_MAX_NEEDED, Math.floor(text.length / 4))) return true;
  const steps = new Set(Array.from(text.slice(1), (char, index) => char.charCodeAt(0) - text.charCodeAt(index)));
  return steps.size < STEPS_NEEDED || repeats(text);
};

/** The reason why this private key must not hold money, or null. */
export const privateKeyProblem = (key: string): string | null => {
  if (!isHex(key)) return null;
  try {
    return PUBLISHED_ADDRESSES.has(privateKeyToAddress(key))
      ? "is one of the published test keys of anvil; everybody has it"
      : null;
  } catch {
    return "is not a private key of secp256k1";
  }
};
