import type { ErrorCode } from "@/lib/core/errors";

export interface ErrorGuide {
  readonly when: string;
  readonly action: string;
}

/**
 * Explains each error code to developers; the OpenAPI document shows it. A new code does not
 * compile without its line here.
 */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuide>> = {
  invalid_request: {
    when: "A field is missing or has a wrong value.",
    action: "Correct the fields that `details` names.",
  },
  unknown_parameter: {
    when: "The body or the query has a name that the operation does not know. Nothing was done.",
    action:
      "Correct the name, or leave it out; `details` names each one, with the closest name that there is.",
  },
  invalid_cursor: {
    when: "The cursor is none of this list, or the request has other filters than the page it came from.",
    action:
      "Send `nextCursor` of the page before unchanged, with the same filters; or leave it out to begin anew.",
  },
  unknown_wallet: {
    when: "The wallet is not one of the project's.",
    action: "Name a wallet of GET /wallets.",
  },
  unauthorized: {
    when: "No key or token was sent, or it is not valid.",
    action: "Sign in, or send a valid key.",
  },
  api_key_expired: { when: "The API key has expired.", action: "Create a new key." },
  api_key_revoked: { when: "Somebody revoked the API key.", action: "Create a new key." },
  api_key_suspended: {
    when: "The API key was made without a proof, and the session that made it was ended.",
    action:
      "If it is honest, restore it by a proof: the page API keys, or POST /me/sessions/made/restore.",
  },
  invalid_signature: {
    when: "A signature or a transaction does not belong to the data that prepare or link/init named.",
    action: "Sign what the answer of prepare or link/init names, and send that.",
  },
  forbidden: {
    when: "The caller's role may not do this.",
    action: "Ask an owner or an admin of the project.",
  },
  insufficient_scope: {
    when: "The API key lacks a scope.",
    action: "Give the key the scope, or use another key.",
  },
  recipient_not_allowed: {
    when: "The API key may not pay this recipient.",
    action: "Add the recipient to the key with an approval, or use another key.",
  },
  policy_violation: {
    when: "A policy of the project, the wallet or the API key refuses the movement; `details` names the rule and the field.",
    action:
      "Change the request, or let an owner or admin change the policy. POST /policies/evaluate tries it without moving money.",
  },
  screening_refused: {
    when: "An address of the movement is on a sanctions list, or the policy asks for a clear verdict and there is none; `details` names each address and its verdict.",
    action:
      "Do not pay this address. Where `details` says `unavailable` or `not_covered`, try again later, or ask the operator to set up a screening source.",
  },
  sign_up_closed: {
    when: "New people may not sign up here.",
    action: "Ask the operator for an invitation.",
  },
  not_found: {
    when: "It does not exist, or belongs to another project.",
    action: "Check the id and the project.",
  },
  method_not_allowed: {
    when: "The path has no such method.",
    action: "Use a method that the header Allow names.",
  },
  invalid_state: {
    when: "The object is not in a state that allows this.",
    action: "Read the object and do what its `may` allows.",
  },
  otp_channel_missing: {
    when: "The person has no e-mail address to which a code can be sent.",
    action: "Set an address with PATCH /me.",
  },
  otp_required: {
    when: "The move needs a one-time code.",
    action: "POST /swap/request-otp, then send the call again with `otp`.",
  },
  approval_required: {
    when: "The change widens what a caller may do.",
    action: "Approve it with a code or a signature and send the call again with `approval`.",
  },
  quote_already_used: {
    when: "The quote was executed.",
    action: "Read the operation; do not repeat the payment.",
  },
  quote_price_moved: {
    when: "The route no longer brings the promised minimum. Nothing was sent.",
    action: "Show the fresh `quote` and ask for consent again.",
  },
  wallet_already_linked: {
    when: "The wallet is linked to a project.",
    action: "Use it there, or unlink it first.",
  },
  duplicate_payout: {
    when: "The same recipient, token, amount and reference was paid within 30 days.",
    action: "Check the rows in `details`; send `allowDuplicates` when it is meant.",
  },
  paid_already: {
    when: "A move that the database lost in a restore has named this recipient within 30 days; `details` names the move. Nothing was sent.",
    action:
      "Compare it with what you asked for before. Where this is another payment, ask the operator to release the move (`npm run reconcile -- --release`), and send it again.",
  },
  idempotency_in_progress: {
    when: "A call with the same key is under way.",
    action: "Wait, then send the same call again.",
  },
  idempotency_mismatch: {
    when: "The Idempotency-Key was used with another request.",
    action: "Use a new key for a new request.",
  },
  quote_expired: {
    when: "The quote has expired. Nothing was sent.",
    action: "Ask for a new quote.",
  },
  nonce_expired: { when: "The sign-in message has expired.", action: "Ask for a new nonce." },
  otp_expired: { when: "The code has expired.", action: "Ask for a new code." },
  payload_too_large: {
    when: "The body is larger than the route allows.",
    action: "Send less in one call.",
  },
  unsupported_media_type: {
    when: "The body is not JSON.",
    action: "Send `content-type: application/json`.",
  },
  otp_invalid: {
    when: "The code is wrong.",
    action: "Ask the person again; five attempts are allowed.",
  },
  insufficient_balance: {
    when: "A wallet has too little available.",
    action: "Fund it, or ask for less.",
  },
  insufficient_reserves: {
    when: "The move would take what backs the global accounts.",
    action: "Fund the treasury, or withdraw from accounts first.",
  },
  insufficient_liquidity: {
    when: "Pools or relayers have too little.",
    action: "Ask for less, or for another token.",
  },
  unsupported_chain: {
    when: "The chain is not configured.",
    action: "Use a chain of GET /chains.",
  },
  unsupported_token: {
    when: "The chain's list has no such token.",
    action: "Use a token of GET /chains.",
  },
  no_route: {
    when: "No way leads from the sources to the token, or the route of `routeId` is not offered any more.",
    action: "Change token, chain or amount, or leave `routeId` out.",
  },
  price_impact_too_high: {
    when: "Much less would arrive than the sent amount is worth. Nothing was sent.",
    action:
      "Ask for less, or send `maxPriceImpactBps` of at least `priceImpactBps` to accept it.",
  },
  minimum_not_reached: {
    when: "No route brings the `minAmount` that was asked for. Nothing was sent.",
    action: "Ask for a lower minimum, or wait for a better price.",
  },
  amount_precision: {
    when: "The amount has more decimals than the token.",
    action: "Round it to the token's decimals.",
  },
  recipient_frozen: {
    when: "The token's issuer has frozen the recipient's address, so the token cannot arrive there.",
    action: "Pay another address, or in another token.",
  },
  wallet_frozen: {
    when: "The token's issuer has frozen the wallet's address, so the token cannot leave it.",
    action: "Pay from another wallet, or ask the token's issuer.",
  },
  simulation_failed: {
    when: "A simulation shows that the chain would refuse it. Nothing was sent.",
    action: "Read the message: it names the contract's reason.",
  },
  sponsor_budget_exceeded: {
    when: "The project's budget for sponsored gas is used up.",
    action: "Wait for the next UTC day, or ask the operator for more.",
  },
  batch_too_large: { when: "The batch has too many rows.", action: "Split it." },
  below_pool_minimum: {
    when: "The amount is below the pool's smallest deposit.",
    action: "Use at least the minimum.",
  },
  unknown_pool: {
    when: "The chain has no privacy pool of the token.",
    action: "Use a pool of GET /privacy/balances.",
  },
  unknown_privacy_wallet: {
    when: "The project has no such private wallet.",
    action: "Use one of GET /privacy/wallets.",
  },
  note_spent: {
    when: "The private note was spent, or another operation uses it.",
    action: "Read the balances and try again.",
  },
  small_anonymity_set: {
    when: "Few deposits would hide the transfer.",
    action: "Wait for more deposits, or send `acceptSmallSet: true`.",
  },
  rate_limited: { when: "Too many requests.", action: "Wait as long as Retry-After says." },
  otp_attempts_exceeded: {
    when: "Too many wrong codes were sent.",
    action: "Wait, then ask for a new code.",
  },
  provider_error: {
    when: "A provider failed or gave an answer that cannot be used.",
    action: "Try again later.",
  },
  chain_unavailable: {
    when: "A chain does not answer. Nothing was lost.",
    action: "Try again with the same Idempotency-Key.",
  },
  service_unavailable: {
    when: "The database does not answer.",
    action: "Try again with the same Idempotency-Key.",
  },
  signing_off: {
    when: "The database was restored, or another server took over, and nobody has compared it with the chains yet. Nothing was accepted or sent; what was accepted before waits.",
    action:
      "Wait for the operator, who runs `npm run reconcile`. Ask whether the payment was made before the restore, and then try again with the same Idempotency-Key.",
  },
  internal_error: {
    when: "The service has a fault.",
    action: "Report the requestId. The same Idempotency-Key makes a repetition safe.",
  },
};
