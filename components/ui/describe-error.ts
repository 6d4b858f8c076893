/** The texts of an error on a screen: the event, the advice, and the details for support. */
export interface ErrorView {
  readonly title: string;
  readonly message: string;
  readonly advice: string;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Of a `policy_violation`: the stored evaluation that refused it. */
  readonly evaluationId: string | null;
  readonly offline: boolean;
}

const TITLES: Readonly<Record<string, string>> = {
  unauthorized: "You are signed out",
  forbidden: "You may not do this",
  insufficient_scope: "You may not do this",
  policy_violation: "A policy refuses this",
  not_found: "Nothing here",
  rate_limited: "Too many requests",
  invalid_request: "Something in the request is not right",
  chain_unavailable: "A chain does not answer",
  provider_error: "A service that we need does not answer",
  signing_off: "Money cannot be moved right now",
  paid_already: "This may have been paid before",
  internal_error: "Something went wrong on our side",
  otp_invalid: "That is not the code",
  otp_expired: "The code has expired",
  otp_attempts_exceeded: "Too many wrong codes",
  approval_required: "This needs your approval",
  invalid_signature: "The signature does not count",
  otp_channel_missing: "A verified e-mail address is needed",
  quote_expired: "The price has expired",
  quote_price_moved: "The price has moved",
  quote_already_used: "This quote was used already",
  insufficient_balance: "The balance is too small",
  insufficient_reserves: "The reserves are not enough",
  batch_too_large: "Too many rows",
  amount_precision: "An amount has too many digits",
  invalid_state: "This is not possible any more",
  no_route: "No route was found",
  simulation_failed: "The simulation failed",
  unknown_wallet: "This wallet is not yours",
};

const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: "Sign in again; you will come back here.",
  forbidden: "Ask an owner of the project.",
  insufficient_scope: "Ask an owner of the project.",
  policy_violation: "Change it so that it fits the policy, or ask an owner or admin to change the policy.",
  not_found: "Check the link, or go back to the list.",
  rate_limited: "Wait a moment, then try again.",
  invalid_request: "Change what is named above, then try again.",
  chain_unavailable: "Try again in a moment. The overview shows which chain it is.",
  provider_error: "Try again in a moment.",
  signing_off: "The operator compares the database with the chains. Try again later.",
  paid_already: "Look at the recipient's account first. The operator can release the earlier payment.",
  internal_error: "Try again. If it happens again, report it with the request id.",
  otp_invalid: "Check the newest mail and type its code.",
  otp_expired: "Ask for a new code.",
  otp_attempts_exceeded: "Ask for a new code.",
  approval_required: "Approve it by code or with your wallet.",
  invalid_signature: "Sign exactly what is shown, with the wallet that is named.",
  otp_channel_missing: "Verify your e-mail address in the settings first.",
  quote_expired: "Get a new quote.",
  quote_price_moved: "Look at the new price and accept it, or leave it.",
  quote_already_used: "Look at it in the activity list.",
  insufficient_balance: "Lower the amount, or fund the wallet first.",
  insufficient_reserves: "Send more to the treasury, or lower the amount.",
  batch_too_large: "Split it into several.",
  amount_precision: "Take the digits away that the currency does not have.",
  invalid_state: "Reload the page to see its current state.",
  no_route: "Try another amount, token or chain.",
  simulation_failed: "Get a new quote, or lower the amount.",
  unknown_wallet: "Choose one of the project's wallets.",
};

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

const detailsOf = (value: unknown): ErrorView["details"] =>
  Array.isArray(value)
    ? value.flatMap((detail: unknown) => {
        if (typeof detail !== "object" || detail === null) return [];
        const { path, message } = detail as { path?: unknown; message?: unknown };
        return typeof message === "string" ? [{ path: text(path) ?? "", message }] : [];
      })
    : [];

const OFFLINE: ErrorView = {
  title: "The service cannot be reached",
  message: "The request got no answer.",
  advice: "Check the connection and that the service runs; this page tries again by itself.",
  code: null,
  requestId: null,
  details: [],
  evaluationId: null,
  offline: true,
};

/** Works on an `ApiError` of the api-client, on a failed fetch, and on anything else that was thrown. */
const evaluationOf = (body: unknown): string | null =>
  typeof body === "object" && body !== null && "evaluationId" in body ? text(body.evaluationId) : null;

export const describeError = (error: unknown): ErrorView => {
  if (typeof error !== "object" || error === null) return { ...OFFLINE, offline: false, title: "Something went wrong" };
  const { code, message, requestId, details, status, body } = error as Record<string, unknown>;
  const apiCode = typeof status === "number" ? text(code) : null;
  if (status === 0 || (apiCode === null && error instanceof TypeError)) return OFFLINE;
  return {
    title: TITLES[apiCode ?? ""] ?? "This did not work",
    message: text(message) ?? "No reason was given.",
    advice: ADVICE[apiCode ?? ""] ?? "Try again. If it happens again, report it with the request id.",
    code: apiCode,
    requestId: text(requestId),
    details: detailsOf(details),
    evaluationId: evaluationOf(body),
    offline: false,
  };
};
