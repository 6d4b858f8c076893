import { DomainError } from "@/lib/core/errors";
import type { LostPayment, SigningOff } from "./state";

const RETRY_SECONDS = 60;

/**
 * The error while the database has to be compared with the chains before anything is signed or
 * sent.
 */
export const signingOff = ({ since, reason }: SigningOff): DomainError =>
  new DomainError(
    "signing_off",
    `Nothing is signed since ${since.toISOString()}: ${reason}. What was accepted waits, and its money is where it was or on its way. ` +
      "The operator has to run `npm run reconcile`, which compares the database with the chains.",
    { retryAfterSeconds: RETRY_SECONDS },
  );

/**
 * The error when a movement that is missing from the database may already have paid the recipient
 * for the same request.
 */
export const paidAlready = (lost: readonly LostPayment[]): DomainError => {
  const lines = lost.map(({ recipient, chainId, hash, text }) => ({
    path: "recipient",
    message: `${recipient} was named by a move on chain ${String(chainId)} that the database lost in a restore: ${text} (${hash}).`,
  }));
  return new DomainError(
    "paid_already",
    `${lines[0]?.message ?? "A recipient may have been paid already."} Nothing was sent. Where this is another payment, the operator can release that move.`,
    { details: lines },
  );
};
