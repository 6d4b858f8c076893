import { z } from "zod";
import { prepareSwap, requestOtp } from "@/lib/contracts/swap";
import type { Prepared, SentCode } from "./types";

/** Where a person was with a quote or transfer, so that a reload goes on from there. The typed digits are not kept. */
const keptFlow = z.object({
  stored: z.unknown(),
  open: z.boolean(),
  step: z.enum(["code", "review"]),
  approved: z.boolean(),
  sent: requestOtp.response.nullable(),
  prepared: prepareSwap.response.nullable(),
});

export type KeptFlow = z.infer<typeof keptFlow>;

/** The part of the flow's state that is kept. */
interface Keepable {
  readonly flow: {
    readonly subject: { readonly stored?: unknown };
    readonly step: KeptFlow["step"];
    readonly approved: boolean;
    readonly sent: SentCode | null;
    readonly prepared: Prepared | null;
  } | null;
  readonly open: boolean;
  readonly done: boolean;
}

export const readKeptFlow = (key: string): KeptFlow | null => {
  try {
    return keptFlow.parse(JSON.parse(sessionStorage.getItem(key) ?? "null"));
  } catch {
    return null;
  }
};

/**
 * @param hasMoved a wallet has sent a transaction for the flow. Which one is known to this page alone, and doing it again would move
 *   money twice, so nothing is kept then
 */
export const keepFlow = (key: string, { flow, open, done }: Keepable, hasMoved: boolean): void => {
  try {
    if (flow?.subject.stored === undefined || done || hasMoved) {
      sessionStorage.removeItem(key);
      return;
    }
    const { subject, step, approved, sent, prepared } = flow;
    // The actions that wallets have to sign are not kept over a reload: preparing again gives new ones, and needs no second one-time code.
    const mayKeepPrepared = prepared !== null && prepared.actions.length === 0;
    const kept: KeptFlow = {
      stored: subject.stored,
      open,
      step: mayKeepPrepared ? step : "code",
      approved,
      sent,
      prepared: mayKeepPrepared ? prepared : null,
    };
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};
