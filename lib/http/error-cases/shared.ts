import type { ErrorCode } from "@/lib/core/errors";
import type { ErrorGuide } from "../error-guide";

export type Cases = Readonly<Partial<Record<ErrorCode, ErrorGuide>>>;

export const OTHER_WALLET_OR_CODE =
  "Sign `message` of the 409 with the wallet that you sign in with, or send a code.";

/**
 * Cases of operations that require an approval before they extend permissions. An operation may
 * add further cases.
 */
export const APPROVAL: Cases = {
  invalid_state: {
    when: "The approval was used or has expired, or what the call changes was changed meanwhile. Nothing was changed.",
    action: "Send the request without `approval` to get another one.",
  },
  invalid_signature: {
    when: "The signature or the passkey's answer does not approve exactly this request.",
    action: OTHER_WALLET_OR_CODE,
  },
  otp_required: {
    when: "No code was asked for with this approval.",
    action: "POST /swap/request-otp with `approvalId`, then send the code in `approval`.",
  },
};

export const approvalFor = (what: string): Cases => ({
  ...APPROVAL,
  invalid_state: {
    when: `${what}, or the approval was used or has expired. Nothing was changed.`,
    action: "Read it again, then send the request without `approval` to get another one.",
  },
});

export const ADMINS_ONLY: Cases = {
  forbidden: {
    when: "Only owners and admins of the project may do this.",
    action: "Ask one of them.",
  },
};

export const SENDING_MAIL: Cases = {
  provider_error: {
    when: "The mail with the code could not be sent. No code is valid.",
    action: "Ask again in a minute, or use a passkey or an authenticator app.",
  },
  rate_limited: {
    when: "Too many codes were asked for.",
    action: "Use the latest one, or wait as Retry-After says.",
  },
};

export const VOTE: Cases = {
  forbidden: {
    when: "The person may not decide this: another role is asked for, or the person made the request.",
    action: "Let somebody vote whom `required` of the request allows.",
  },
  invalid_state: {
    when: "The request is decided or has ended, the person has voted already, or it changed since. No vote was counted.",
    action: "Read the request; its `state` and `votes` say how it stands.",
  },
  insufficient_balance: {
    when: "The vote would have started the payment, and its wallet holds too little. Nothing was sent.",
    action: "Fund the wallet and vote again, or decline.",
  },
  invalid_signature: {
    when: "The signature or the passkey's answer is not for this request and this choice.",
    action:
      "Sign `messages.approve` or `messages.decline` of the request, or vote with a code.",
  },
  otp_required: {
    when: "No proof was sent with the vote.",
    action:
      "POST /approvals/{id}/request-otp, then send the code; or send `totp`, `passkey` or `signature`.",
  },
};

export const NOT_AWAITING =
  "was approved, cancelled or has ended, or its approval is somebody else's to give.";

export const approvalOf = (what: string, asked: string): Cases => ({
  invalid_state: {
    when: `The ${what} ${NOT_AWAITING} Nothing was sent.`,
    action: `Read the ${what}; \`may\` says what can be done.`,
  },
  otp_required: {
    when: "No code was sent.",
    action: `POST /swap/request-otp with \`${asked}\`, then send the code.`,
  },
  invalid_signature: {
    when: "The passkey's answer is not for this payment.",
    action: "Ask for a new challenge with POST /swap/request-otp, and answer that.",
  },
});

export const CHAIN_PROVIDER: ErrorGuide = {
  when: "A bridge, a bundler or a privacy provider did not answer as it should. Nothing was sent.",
  action: "Try again with the same Idempotency-Key.",
};

export const PRIVATE_FUNDS: ErrorGuide = {
  when: "The private wallet's notes, or the wallet that deposits, hold less than the amount. Nothing was sent.",
  action: "Read GET /privacy/balances, and ask for at most what is available.",
};

export const PRIVATE_MOVE: Cases = {
  provider_error: CHAIN_PROVIDER,
  insufficient_balance: PRIVATE_FUNDS,
  invalid_state: {
    when: "Too many deposits of this private wallet are under way, or the project approves payments by votes. Nothing was sent.",
    action: "Try again when some have ended; payments by votes cannot be private.",
  },
};

export const NO_ENDPOINT_CHANGE: ErrorGuide = {
  when: "The endpoint is disabled, or was changed meanwhile. Nothing was changed or sent.",
  action: "Read the endpoint; set its `status` to `active` first.",
};

export const CALLBACK: Cases = {
  invalid_signature: {
    when: "The header's signature does not match the body, or is older than five minutes. The callback was ignored.",
    action: "Sign the raw body with the shared secret.",
  },
};

export const PAYMENT_FUNDS: ErrorGuide = {
  when: "A source holds less than the payment, after what other operations have reserved. Nothing was sent.",
  action: "Read `available` of the balances; fund the source, or ask for less.",
};

export const RETRY_STATE: ErrorGuide = {
  when: "Nothing of it failed for good, or it is being tried again already (`retriedBy`). Nothing was sent.",
  action: "Read it again; look at the operation or payout in `retriedBy`.",
};

/**
 * The case of routes that exist only in development, and of routes that only this machine may
 * read.
 */
export const FOREIGN_HOST = {
  when: "The header `Host` names neither this machine nor the host of PUBLIC_URL, as after DNS rebinding.",
  action: "Call it as localhost, or by the address of PUBLIC_URL.",
};
