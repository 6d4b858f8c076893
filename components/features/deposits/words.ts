import type { z } from "zod";
import type { depositRecord } from "@/lib/contracts/deposit-records";

export type DepositRecord = z.output<typeof depositRecord>;

type Verdict = NonNullable<DepositRecord["screening"]>["verdict"];

const confirmationsText = ({ confirmations, confirmationsNeeded }: DepositRecord): string =>
  `${String(confirmations)} of ${String(confirmationsNeeded)} confirmations`;

export const depositSentence = (deposit: DepositRecord): string => {
  switch (deposit.state) {
    case "pending":
      return `Seen, ${confirmationsText(deposit)}.`;
    case "credited":
      return "Credited; it may be moved.";
    case "quarantined":
      return "In quarantine; it cannot be moved until a person releases it.";
    case "released":
      return "Released by a person; it may be moved.";
    case "dropped":
      return "The chain dropped it before it was final; its sender still has the money.";
  }
};

export const VERDICT_WORDS = {
  clear: "On no list",
  hit: "On a list",
  not_covered: "Covered by no source",
  unavailable: "Could not be screened; tried again by itself",
} as const satisfies Record<Verdict, string>;
