import { requestOtp } from "@/lib/contracts/swap";
import type { SentCode } from "./types";

const PREFIX = "causeway.code.";

/** The code that was sent for a record, while it is good: after a reload it can still be typed. The code itself is not kept. */
export const readKeptCode = (id: string): SentCode | null => {
  try {
    const sent = requestOtp.response.parse(JSON.parse(sessionStorage.getItem(PREFIX + id) ?? "null"));
    return Date.parse(sent.expiresAt) > Date.now() ? sent : null;
  } catch {
    return null;
  }
};

export const keepCode = (id: string, sent: SentCode): void => {
  try {
    sessionStorage.setItem(PREFIX + id, JSON.stringify(sent));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};
