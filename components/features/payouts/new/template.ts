import { csvLine } from "@/lib/core/csv";
import type { PayoutKind } from "./use-target";

/** A file to fill in. The examples cannot be paid by mistake: their recipients are refused. */
export const templateOf = (kind: PayoutKind): string =>
  (kind === "wallets"
    ? [
        ["address", "amount", "token", "reference", "note"],
        ["0x0000000000000000000000000000000000000000", "12.5", "USDC", "Invoice 7", "Only your project sees this"],
      ]
    : [
        ["recipientAccountId", "amount", "reference"],
        ["ga_replace-with-an-account-id", "12.5", "Invoice 7"],
      ]
  )
    .map((cells) => csvLine(cells))
    .join("");
