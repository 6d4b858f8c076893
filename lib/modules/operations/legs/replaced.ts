import type { Failure } from "@/lib/modules/operations/leg";

/** The nonce of the leg's operation was used by another one. */
export const REPLACED: Failure = {
  code: "source_replaced",
  message:
    "The account executed another operation that was signed for the same purpose, so this one can never be executed. The other one may have moved the money: look at the account's history before you try again.",
  retryable: false,
};
