import { isHex, type Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";

/** The key of the first account; it is the one that signs in. */
const KEY = "causeway.burner.key";
/** Further accounts, as a JSON list. */
const MORE = "causeway.burner.more";
const CONNECTED = "causeway.burner.connected";
const PRIVATE_KEY_LENGTH = 66;
const ACCOUNTS_MAX = 20;

const isKey = (value: unknown): value is Hex => isHex(value) && value.length === PRIVATE_KEY_LENGTH;

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

/** The private keys of this browser's burner wallet; the first is made on first use. Worth nothing outside local chains. */
export const readBurnerKeys = (): readonly [Hex, ...Hex[]] => [readFirst(), ...readMore()];

/** Makes another account; null when there are enough. */
export const addBurnerKey = (): Hex | null => {
  const more = readMore();
  if (more.length + 1 >= ACCOUNTS_MAX) return null;
  const made = generatePrivateKey();
  localStorage.setItem(MORE, JSON.stringify([...more, made]));
  return made;
};

/** Whether the person connected it; a wallet gives no accounts before. */
export const isBurnerConnected = (): boolean => localStorage.getItem(CONNECTED) === "1";

export const setBurnerConnected = (connected: boolean): void => {
  if (connected) localStorage.setItem(CONNECTED, "1");
  else localStorage.removeItem(CONNECTED);
};
