import { isHex, type Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";

const KEY = "causeway.burner.key";
const CONNECTED = "causeway.burner.connected";
const PRIVATE_KEY_LENGTH = 66;

/** The private key of this browser's burner wallet; made on first use. Worth nothing outside local chains. */
export const readBurnerKey = (): Hex => {
  const stored = localStorage.getItem(KEY);
  if (isHex(stored) && stored.length === PRIVATE_KEY_LENGTH) return stored;
  const made = generatePrivateKey();
  localStorage.setItem(KEY, made);
  return made;
};

/** Whether the person connected it; a wallet gives no accounts before. */
export const isBurnerConnected = (): boolean => localStorage.getItem(CONNECTED) === "1";

export const setBurnerConnected = (connected: boolean): void => {
  if (connected) localStorage.setItem(CONNECTED, "1");
  else localStorage.removeItem(CONNECTED);
};
