/** The texts of an error on a screen: the event, the advice, and the details for support. */
export interface ErrorView {
  readonly title: string;
  readonly message: string;
  readonly advice: string;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Id of the stored evaluation behind a `policy_violation`. */
  readonly evaluationId: string | null;
  readonly offline: boolean;
}

interface ErrorWords {
  readonly title: string;
  readonly advice: string;
}

const WORDS: Readonly<Record<string, ErrorWords>> = {
  unauthorized: {
    title: "You are signed out",
    advice: "Sign in again; you will come back here.",
  },
  forbidden: {
    title: "You may not do this",
    advice: "Ask an owner of the project.",
  },
  insufficient_scope: {
    title: "You may not do this",
    advice: "Ask an owner of the project.",
  },
  policy_violation: {
    title: "A policy refuses this",
    advice:
      "Change it so that it fits the policy, or ask an owner or admin to change the policy.",
  },
  not_found: {
    title: "Nothing here",
    advice: "Check the link, or go back to the list.",
  },
  rate_limited: {
    title: "Too many requests",
    advice: "Wait a moment, then try again.",
  },
  invalid_request: {
    title: "Something in the request is not right",
    advice: "Change what is named above, then try again.",
  },
  unknown_parameter: {
    title: "Something in the request is not known",
    advice: "Reload the page: a newer version of it may be there.",
  },
  invalid_cursor: {
    title: "This link leads to no page of the list",
    advice: "Go back to the first page of the list.",
  },
  chain_unavailable: {
    title: "A chain does not answer",
    advice: "Try again in a moment. The overview shows which chain it is.",
  },
  provider_error: {
    title: "A service that we need does not answer",
    advice: "Try again in a moment.",
  },
  signing_off: {
    title: "Money cannot be moved right now",
    advice: "The operator compares the database with the chains. Try again later.",
  },
  paid_already: {
    title: "This may have been paid before",
    advice:
      "Look at the recipient's account first. The operator can release the earlier payment.",
  },
  internal_error: {
    title: "Something went wrong on our side",
    advice: "Try again. If it happens again, report it with the request id.",
  },
  otp_invalid: {
    title: "That is not the code",
    advice: "Check the newest mail and type its code.",
  },
  otp_expired: {
    title: "The code has expired",
    advice: "Ask for a new code.",
  },
  otp_attempts_exceeded: {
    title: "Too many wrong codes",
    advice: "Ask for a new code.",
  },
  approval_required: {
    title: "This needs your approval",
    advice: "Approve it by code or with your wallet.",
  },
  invalid_signature: {
    title: "The signature does not count",
    advice: "Sign exactly what is shown, with the wallet that is named.",
  },
  otp_channel_missing: {
    title: "A verified e-mail address is needed",
    advice: "Verify your e-mail address in the settings first.",
  },
  quote_expired: {
    title: "The price has expired",
    advice: "Get a new quote.",
  },
  quote_price_moved: {
    title: "The price has moved",
    advice: "Look at the new price and accept it, or leave it.",
  },
  quote_already_used: {
    title: "This quote was used already",
    advice: "Look at it in the activity list.",
  },
  insufficient_balance: {
    title: "The balance is too small",
    advice: "Lower the amount, or fund the wallet first.",
  },
  insufficient_reserves: {
    title: "The reserves are not enough",
    advice: "Send more to the treasury, or lower the amount.",
  },
  batch_too_large: {
    title: "Too many rows",
    advice: "Split it into several.",
  },
  amount_precision: {
    title: "An amount has too many digits",
    advice: "Take the digits away that the currency does not have.",
  },
  invalid_state: {
    title: "This is not possible any more",
    advice: "Reload the page to see its current state.",
  },
  no_route: {
    title: "No route was found",
    advice: "Try another amount, token or chain.",
  },
  simulation_failed: {
    title: "The simulation failed",
    advice: "Get a new quote, or lower the amount.",
  },
  unknown_wallet: {
    title: "This wallet is not yours",
    advice: "Choose one of the project's wallets.",
  },
};

const OTHER_WORDS: ErrorWords = {
  title: "This did not work",
  advice: "Try again. If it happens again, report it with the request id.",
};

const text = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

const detailsOf = (value: unknown): ErrorView["details"] => {
  if (!Array.isArray(value)) return [];
  return value.flatMap((detail: unknown) => {
    if (typeof detail !== "object" || detail === null) return [];
    const { path, message } = detail as { path?: unknown; message?: unknown };
    return typeof message === "string" ? [{ path: text(path) ?? "", message }] : [];
  });
};

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

const evaluationOf = (body: unknown): string | null =>
  typeof body === "object" && body !== null && "evaluationId" in body
    ? text(body.evaluationId)
    : null;

/**
 * Describes an error for people: an `ApiError` of the API client, a failed fetch, or anything else
 * that was thrown.
 */
export const describeError = (error: unknown): ErrorView => {
  if (typeof error !== "object" || error === null)
    return { ...OFFLINE, offline: false, title: "Something went wrong" };
  const { code, message, requestId, details, status, body } = error as Record<string, unknown>;
  const apiCode = typeof status === "number" ? text(code) : null;
  if (status === 0 || (apiCode === null && error instanceof TypeError)) return OFFLINE;
  return {
    ...(WORDS[apiCode ?? ""] ?? OTHER_WORDS),
    message: text(message) ?? "No reason was given.",
    code: apiCode,
    requestId: text(requestId),
    details: detailsOf(details),
    evaluationId: evaluationOf(body),
    offline: false,
  };
};
