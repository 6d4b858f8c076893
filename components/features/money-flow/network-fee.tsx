import type { ReactNode } from "react";

type Payer = "sponsor" | "wallet" | null;

const WORDS = {
  sponsor: "paid by the project's sponsor",
  wallet: "paid by your wallet",
  mixed: "paid in part by the project's sponsor, in part by your wallets",
  open: "known once it is approved",
} as const;

const wordsFor = (paidBy: readonly Payer[]): string => {
  if (paidBy.includes(null)) return WORDS.open;
  if (paidBy.every((payer) => payer === "sponsor")) return WORDS.sponsor;
  return paidBy.includes("sponsor") ? WORDS.mixed : WORDS.wallet;
};

/** The network fees of all sources, by payer. */
export const NetworkFee = ({ paidBy }: { readonly paidBy: readonly Payer[] }): ReactNode => (
  <span>{wordsFor(paidBy)}</span>
);
