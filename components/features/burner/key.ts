import { isHex, type Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";

/** Storage key of the first account, which is used to sign in. */
const KEY = "causeway.burner.key";
const MORE = "causeway.burner.more";
const CONNECTED = "causeway.burner.connected";
const PRIVATE_KEY_LENGTH = 66;
const ACCOUNTS_MAX = 20;

const isKey = (value: unknown): value is Hex =>
  isHex(value) && value.length === PRIVATE_KEY_LENGTH;

const readFirst = (): Hex => {
  const stored = localStorage.getItem(KEY);
  if (isKey(stored)) return stored;
  const made = generatePrivateKey();
  localStorage.setItem(KEY, made);
  return made;
};

const readMore = (): readonly Hex[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(MORE) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKey) : [];
  } catch {
    return [];
  }
};

/**
 * The private keys of this browser's burner wallet. The first key is created on first use. They are
 * for local chains only.
 */
export const readBurnerKeys = (): readonly [Hex, ...Hex[]] => [readFirst(), ...readMore()];

/** Creates another account; null when the limit is reached. */
export const addBurnerKey = (): Hex | null => {
  const more = readMore();
  if (more.length + 1 >= ACCOUNTS_MAX) return null;
  const made = generatePrivateKey();
  localStorage.setItem(MORE, JSON.stringify([...more, made]));
  return made;
};

/** Whether the person connected the wallet. It reports no accounts until then. */
export const isBurnerConnected = (): boolean => localStorage.getItem(CONNECTED) === "1";

export const setBurnerConnected = (connected: boolean): void => {
  if (connected) localStorage.setItem(CONNECTED, "1");
  else localStorage.removeItem(CONNECTED);
};
