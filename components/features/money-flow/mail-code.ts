import { tabStore } from "@/components/ui/tab-store";
import { requestOtp } from "@/lib/contracts/swap";
import type { SentCode } from "./types";

/**
 * Decides when a code is mailed, without React: once when the review opens, and again only when
 * the person requests another code.
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

/** For each record id, the running request for a code. The entry is removed after the answer. */
const asking = new Map<string, Promise<SentCode>>();

interface CodeRequestOf {
  /** Id of the record that the code approves. */
  readonly keptAs: string;
  readonly ask: () => Promise<SentCode>;
}

/**
 * Mails a code. While a request for an id is running, a second call for this id returns its
 * answer, because React may run the effect of an opening dialog twice.
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

/** Mails a code, unless an earlier code is still valid. */
export const mailCodeAtOpening = (
  request: CodeRequestOf,
  nowMs = Date.now(),
): Promise<SentCode> => {
  const kept = readKeptCode(request.keptAs, nowMs);
  return kept === null ? mailCode(request) : Promise.resolve(kept);
};
