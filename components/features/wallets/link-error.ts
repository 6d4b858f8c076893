import { codeOf } from "@/components/features/money-flow/api-error";
import { isRejection, reasonOf } from "@/components/features/signing/wallet-access";

export interface LinkProblem {
  readonly title: string;
  readonly text: string;
  /**
   * `sign`: sign the same message again. `renew`: get a new message. `choose`: choose another
   * account.
   */
  readonly next: "sign" | "renew" | "choose";
}

const REFUSALS: Readonly<Record<string, LinkProblem>> = {
  invalid_signature: {
    title: "The signature is not of this account",
    text: "The wallet signed with another account. Choose the account below in your wallet, then sign the new message.",
    next: "renew",
  },
  nonce_expired: {
    title: "The message is too old",
    text: "It was older than ten minutes, or was used already. Here is a new one.",
    next: "renew",
  },
  wallet_already_linked: {
    title: "Somebody else has linked this wallet",
    text: "A wallet belongs to one person at a time. Its owner has to unlink it there first, or you link another wallet here.",
    next: "choose",
  },
};

/**
 * Explains why a wallet was not linked. Null for an error of the service for which `REFUSALS` has
 * no text. The page then shows the service's own message.
 */
export const linkProblem = (error: unknown): LinkProblem | null => {
  const code = codeOf(error);
  if (code !== null) return REFUSALS[code] ?? null;
  if (isRejection(error)) {
    return {
      title: "You rejected the message",
      text: "Nothing was signed, and nothing is linked.",
      next: "sign",
    };
  }
  return {
    title: "The wallet did not sign",
    text: `${reasonOf(error)} Nothing is linked.`,
    next: "sign",
  };
};

/** The problem when no connected wallet exposes the account any more. */
export const missingAccount = (address: string): LinkProblem => ({
  title: "Your wallet shows another account",
  text: `Choose ${address} in your wallet again, then sign.`,
  next: "sign",
});
