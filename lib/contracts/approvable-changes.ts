/**
 * The changes that need a proof, with the accepted proofs. The documentation, the pages and the
 * service all read this table.
 */

/**
 * Proofs that a person intends a change. `code`: a mailed one-time code. `totp`: the authenticator
 * app (RFC 6238). `passkey`: WebAuthn with user verification. `signature`: the sign-in wallet
 * (EIP-191, ERC-1271, ERC-6492). `recovery_code`: one of ten, each valid once.
 */
export const PROOFS = ["code", "totp", "passkey", "signature", "recovery_code"] as const;
export type Proof = (typeof PROOFS)[number];

interface ApprovableChange {
  readonly does: string;
  readonly proofs: readonly Proof[];
}

const ANY_BUT_RECOVERY = ["code", "totp", "passkey", "signature"] as const;
/** Only for changes that replace a lost factor. */
const ANY = PROOFS;
/** No code can be mailed before there is an address. */
const WITHOUT_ADDRESS = ["totp", "passkey", "signature", "recovery_code"] as const;

export const APPROVABLE_CHANGES = {
  "email.add": { does: "Set the first e-mail address", proofs: WITHOUT_ADDRESS },
  "email.replace": { does: "Replace the e-mail address", proofs: ANY },
  "passkey.add": { does: "Add a passkey", proofs: ANY },
  "passkey.remove": { does: "Remove a passkey", proofs: ANY },
  "totp.add": { does: "Add an authenticator app", proofs: ANY_BUT_RECOVERY },
  "totp.remove": { does: "Remove the authenticator app", proofs: ANY },
  "recovery_codes.renew": { does: "Make new recovery codes", proofs: ANY_BUT_RECOVERY },
  "api_key.create": {
    does: "Create an API key that may do more than a key with a name alone",
    proofs: ANY_BUT_RECOVERY,
  },
  "api_key.update": { does: "Let an API key do more", proofs: ANY_BUT_RECOVERY },
  "api_key.rotate": { does: "Give an API key a new secret", proofs: ANY_BUT_RECOVERY },
  "member.invite": { does: "Invite a person to the project", proofs: ANY_BUT_RECOVERY },
  "member.role": { does: "Give a member a role that may do more", proofs: ANY_BUT_RECOVERY },
  "member.lower": {
    does: "Give an owner or admin a role that may do less",
    proofs: ANY_BUT_RECOVERY,
  },
  "member.remove": {
    does: "Remove an owner or admin, or leave as one",
    proofs: ANY_BUT_RECOVERY,
  },
  "webhook_endpoint.redirect": {
    does: "Move a webhook endpoint, or send it private details",
    proofs: ANY_BUT_RECOVERY,
  },
  "webhook_endpoint.rotate": {
    does: "Give a webhook endpoint a new signing secret",
    proofs: ANY_BUT_RECOVERY,
  },
  "notification_channel.add": {
    does: "Send notifications to a chat channel",
    proofs: ANY_BUT_RECOVERY,
  },
  "notification_channel.redirect": {
    does: "Move a chat channel, or send it amounts",
    proofs: ANY_BUT_RECOVERY,
  },
  "policy.update": { does: "Raise the project's daily cap", proofs: ANY_BUT_RECOVERY },
  "policy.change": { does: "Change a policy", proofs: ANY_BUT_RECOVERY },
  "policy.approvals": {
    does: "Let payments leave with fewer approvals",
    proofs: ANY_BUT_RECOVERY,
  },
  "sponsor_budget.raise": { does: "Raise what the sponsor pays", proofs: ANY_BUT_RECOVERY },
  "session_made.restore": {
    does: "Restore what a session made without a proof",
    proofs: ANY_BUT_RECOVERY,
  },
  "contact.approve": { does: "Approve a contact", proofs: ANY_BUT_RECOVERY },
  "deposit.release": { does: "Release a quarantined deposit", proofs: ANY_BUT_RECOVERY },
  "global_account.unfreeze": {
    does: "Let a frozen account pay again",
    proofs: ANY_BUT_RECOVERY,
  },
  "payout.doubt_statement": {
    does: "State whether an unclear payout was paid",
    proofs: ANY_BUT_RECOVERY,
  },
  "privacy_wallet.export": {
    does: "Show the mnemonic of a private wallet",
    proofs: ANY_BUT_RECOVERY,
  },
} as const satisfies Record<string, ApprovableChange>;

export type ChangeKind = keyof typeof APPROVABLE_CHANGES;

export const proofsOf = (kind: ChangeKind): readonly Proof[] => APPROVABLE_CHANGES[kind].proofs;

/** Requests that move money, or vote on a movement, contain the proof themselves. */
export const MONEY_PROOFS = {
  payment: {
    does: "Approve a payment that is prepared, or that waits for a code",
    proofs: ["code", "totp", "passkey"],
  },
  vote: { does: "Vote on a payment", proofs: ANY_BUT_RECOVERY },
} as const satisfies Record<string, ApprovableChange>;

/** A factor that was added with a recovery code cannot approve anything for this long. */
export const RECOVERY_HOLD_HOURS = 24;
