import { tabStore } from "@/components/ui/tab-store";
import { requestOtp } from "@/lib/contracts/swap";
import type { SentCode } from "./types";

/**
 * When a code is mailed, without React: once when the review opens, and again only when the person
 * asks for it.
 */

const storeOf = (keptAs: string) => tabStore(`causeway.code.${keptAs}`, requestOtp.response);

/**
 * The record of a sent code while the code is valid, so that it can still be typed after a reload.
 * The code itself is not stored.
 */
export const readKeptCode = (keptAs: string, nowMs = Date.now()): SentCode | null => {
  const sent = storeOf(keptAs).read();
  return sent !== null && Date.parse(sent.expiresAt) > nowMs ? sent : null;
};

/** Requests without an answer, by the id of what their code approves. */
const asking = new Map<string, Promise<SentCode>>();

interface CodeRequestOf {
  /** Id of what the code approves. */
  readonly keptAs: string;
  readonly ask: () => Promise<SentCode>;
}

/**
 * Mails a code. A call during another one for the same id waits for the same answer, because React
 * may run the effect of an opening twice.
 */
export const mailCode = ({ keptAs, ask }: CodeRequestOf): Promise<SentCode> => {
  const running = asking.get(keptAs);
  if (running !== undefined) return running;
  const answer = ask()
    .then((sent) => {
      storeOf(keptAs).save(sent);
      return sent;
    })
    .finally(() => asking.delete(keptAs));
  asking.set(keptAs, answer);
  return answer;
};

/** Mails a code unless one that was mailed before is still valid. */
export const mailCodeAtOpening = (
  request: CodeRequestOf,
  nowMs = Date.now(),
): Promise<SentCode> => {
  const kept = readKeptCode(request.keptAs, nowMs);
  return kept === null ? mailCode(request) : Promise.resolve(kept);
};
