import { maskEmail } from "@/lib/modules/mail/service";

/** The mail that carries a verification code. */
export const codeText = (code: string): string =>
  [
    `Your code is ${code}`,
    "",
    "Enter it in Causeway to confirm this e-mail address. It is good for 5 minutes.",
    "From then on the codes that approve payments of your projects are sent here.",
    "",
    "If you did not ask for it, do nothing: nothing changes.",
  ].join("\n");

/** The mail to the previous address after a change. */
export const changedText = (email: string): string =>
  [
    `The e-mail address of your Causeway account is now ${maskEmail(email)}.`,
    "Codes that approve payments no longer come to this address.",
    "",
    "If this was not you, end the session and tell the operator of your Causeway at once.",
  ].join("\n");
