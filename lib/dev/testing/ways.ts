/**
 * Every way in which money or a key can leave, and every rule that limits money. A new writing
 * route fails the test until it is added here; a new rule does not compile until it is.
 * `way-guard.ts` tries each way under each rule.
 */
import type { PolicyRules, RuleName } from "@/lib/contracts/policy-rules";
import { SCOPES, type Scope } from "@/lib/contracts/contract";
import type { MovementKindName } from "@/lib/core/movement-kinds";

/** The project's vote setting, or a rule of a policy. */
export type Guard = "setting" | RuleName;

/**
 * The result of a movement to which a guard applies.
 * - `votes`: it waits until other people have approved it.
 * - `code`: it waits for a code, even if the caller usually needs none.
 * - `denies`: nothing is accepted.
 */
export interface GuardEntry {
  readonly effect: "votes" | "code" | "denies";
  /** The rules of the project's policy; null for the setting. */
  readonly rules: PolicyRules | null;
}

const VOTERS = { count: 1, roles: ["admin" as const], excludeMaker: true };
export const SETTING = { ...VOTERS, exemptKeys: false };

const DAY_MS = 86_400_000;
/**
 * The day after tomorrow as a UTC weekday from 1 to 7. A rule that allows only this day denies
 * every movement now.
 */
const closedDay = (): number => {
  const day = new Date(Date.now() + 2 * DAY_MS).getUTCDay();
  return day === 0 ? 7 : day;
};

/** Guards for movements of two or more US dollars each, from the first local chain. */
export const GUARDS: Readonly<Record<Guard, GuardEntry>> = {
  setting: { effect: "votes", rules: null },
  approvals: { effect: "votes", rules: { approvals: { aboveUsd: "0", ...VOTERS } } },
  "perOperation.usd": { effect: "denies", rules: { perOperation: { usd: "1" } } },
  "perOperation.assets": {
    effect: "denies",
    rules: { perOperation: { assets: [{ assetId: "usdc", amount: "1" }] } },
  },
  "perDay.usd": { effect: "denies", rules: { perDay: { usd: "1" } } },
  "perDay.assets": {
    effect: "denies",
    rules: { perDay: { assets: [{ assetId: "usdc", amount: "1" }] } },
  },
  recipients: { effect: "denies", rules: { recipients: "approved_contacts" } },
  newRecipientHours: { effect: "denies", rules: { newRecipientHours: 48 } },
  screening: { effect: "denies", rules: { screening: "require_clear" } },
  chains: { effect: "denies", rules: { chains: [31339] } },
  tokens: { effect: "denies", rules: { tokens: [{ chainId: 31337, token: "native" }] } },
  hours: {
    effect: "denies",
    rules: {
      hours: {
        timeZone: "UTC",
        windows: [{ days: [closedDay()], from: "00:00", to: "24:00" }],
      },
    },
  },
  code: { effect: "code", rules: { code: { mode: "always" } } },
};
export const GUARD_NAMES = Object.keys(GUARDS) as Guard[];

/**
 * The callers that try a way. A key with codes and an exempt key have every scope; the owner
 * created both.
 */
export const CALLERS = ["owner", "operator", "viewer", "key with codes", "exempt key"] as const;
export type Caller = (typeof CALLERS)[number];
export const KEY_SCOPES: Scope[] = [...SCOPES];

/**
 * A way whose routes start a movement. Every guard applies to it, unless `unbound` says why it
 * cannot.
 */
interface Tried {
  readonly routes: readonly string[];
  readonly unbound: Partial<Readonly<Record<Guard, string>>>;
}

const NO_ADDRESS = "The recipients are accounts of the project's ledger, and no addresses.";
const INSIDE =
  "The note belongs to the project. Where its wallet's mnemonic was shown it is refused (export-wallet.int.test.ts).";

export const WAYS = {
  swap: {
    routes: ["POST /swap/quote", "POST /swap/prepare", "POST /swap/execute"],
    unbound: {},
  },
  transfer: { routes: ["POST /transfers"], unbound: {} },
  swapAndTransfer: { routes: ["POST /swap-and-transfer"], unbound: {} },
  // The retry of a public operation creates a quote, which is prepared and executed like any other
  // quote.
  operationRetry: {
    routes: ["POST /operations/{id}/retry", "POST /swap/prepare", "POST /swap/execute"],
    unbound: {},
  },
  accountsPayout: {
    routes: ["POST /payouts/bulk/global-accounts"],
    unbound: {
      recipients: NO_ADDRESS,
      newRecipientHours: NO_ADDRESS,
      screening: NO_ADDRESS,
      chains: "No chain is touched.",
    },
  },
  payoutRetry: {
    routes: ["POST /payouts/{id}/retry"],
    unbound: {
      recipients: NO_ADDRESS,
      newRecipientHours: NO_ADDRESS,
      screening: NO_ADDRESS,
      chains: "No chain is touched.",
    },
  },
  walletsPayout: { routes: ["POST /payouts/bulk/wallets"], unbound: {} },
  fundFrom: { routes: ["POST /payouts/bulk/wallets"], unbound: {} },
  withdrawal: { routes: ["POST /payouts/bulk/wallets"], unbound: {} },
  scheduleRun: {
    routes: ["POST /payouts/schedules", "POST /payouts/schedules/{id}/approve"],
    unbound: { code: "A code approved the schedule, and stands for each of its runs." },
  },
  shield: {
    routes: ["POST /privacy/shield"],
    unbound: { recipients: INSIDE, newRecipientHours: INSIDE },
  },
  unshield: { routes: ["POST /privacy/unshield"], unbound: {} },
  privateTransfer: { routes: ["POST /privacy/transfer"], unbound: {} },
  // For a private operation the same route creates a new operation.
  privateRetry: { routes: ["POST /operations/{id}/retry"], unbound: {} },
  privateSwap: {
    routes: [
      "POST /privacy/swap/quote",
      "POST /privacy/swap/prepare",
      "POST /privacy/swap/execute",
    ],
    unbound: { recipients: INSIDE, newRecipientHours: INSIDE, screening: INSIDE },
  },
  publicExit: {
    routes: ["POST /privacy/exits"],
    unbound: {
      recipients: "It pays the project's own treasury.",
      newRecipientHours: "It pays the project's own treasury.",
    },
  },
  keyExport: {
    routes: ["POST /privacy/wallets/{id}/export"],
    unbound: { code: "It always needs an approval of its own, and no caller is exempt." },
  },
} as const satisfies Readonly<Record<string, Tried>>;
export type Way = keyof typeof WAYS;

/** Why a guard does not apply to a way; null when it applies. */
export const unboundBy = (way: Way, guard: Guard): string | null =>
  (WAYS[way].unbound as Tried["unbound"])[guard] ?? null;

/**
 * A decision about existing money or an existing address. It starts no movement, so guards do not
 * apply: `unbound` explains that. It is tried with all guards of one effect at once. Expected
 * result: the decision takes effect only when one of `by` makes it, and nothing is ever started,
 * held or sent.
 */
interface Decision {
  readonly routes: readonly string[];
  /** The callers who may make the decision. A request of any other caller changes nothing. */
  readonly by: readonly Caller[];
  readonly unbound: string;
}

export const DECISIONS = {
  quarantineRelease: {
    routes: ["POST /deposits/{id}/release"],
    by: ["owner"],
    unbound:
      "It frees money that came in, and sends none. Every way that moves this money later is judged by itself. An owner or admin approves it.",
  },
  doubtDecision: {
    routes: ["POST /payouts/{id}/doubt-decision"],
    by: ["owner"],
    unbound:
      "It records whether a payment that was accepted under the guards has reached the chain, and sends none. An owner or admin decides it, with an approval where the chain shows nothing. A retry of the rows is judged by itself (payoutRetry).",
  },
  refundDecision: {
    routes: ["POST /operations/{id}/legs/{legId}/refund-decision"],
    by: ["owner", "operator"],
    unbound:
      "It records whether a bridge paid back what was accepted under the guards, and sends nothing. Whoever may move money decides it; a refund is taken only where the chain shows it. A retry is judged by itself (operationRetry).",
  },
  contactApproval: {
    routes: ["POST /contacts/{id}/approve", "POST /contacts/approve"],
    by: ["owner"],
    unbound:
      "It lets an allow-list pay an address, and pays nothing. An owner or admin approves it, and the cool-down begins with it. Each payment to the address is judged by itself.",
  },
} as const satisfies Readonly<Record<string, Decision>>;
export type DecidingWay = keyof typeof DECISIONS;
export const DECIDING_WAYS = Object.keys(DECISIONS) as DecidingWay[];

/** Movements that are no operations, and the export of a key that could move money elsewhere. */
type OtherKind = "payout" | "payout_schedule" | "key_export";

/**
 * The ways that start a movement of each kind, or decide about such a movement. A new kind does
 * not compile before it names its ways, and each way is tried under each guard.
 */
export const WAYS_OF_KIND: Readonly<
  Record<MovementKindName | OtherKind, readonly (Way | DecidingWay)[]>
> = {
  swap: ["swap", "operationRetry", "refundDecision"],
  transfer: ["transfer", "operationRetry"],
  swap_and_transfer: ["swapAndTransfer", "fundFrom", "operationRetry"],
  shield: ["shield", "privateRetry"],
  unshield: ["unshield", "privateRetry"],
  private_transfer: ["privateTransfer", "privateRetry"],
  private_swap: ["privateSwap"],
  public_exit: ["publicExit"],
  deposit: ["quarantineRelease"],
  payout: [
    "accountsPayout",
    "walletsPayout",
    "withdrawal",
    "payoutRetry",
    "doubtDecision",
    "contactApproval",
  ],
  payout_schedule: ["scheduleRun"],
  key_export: ["keyExport"],
};

/** Whether the caller may make the decision. */
export const mayDecide = (way: DecidingWay, caller: Caller): boolean =>
  (DECISIONS[way].by as readonly Caller[]).includes(caller);

/** Ways whose routes start no movement, with the reason why no guard is tried on them. */
export const OTHER_WAYS: Readonly<
  Record<string, { readonly routes: readonly string[]; readonly why: string }>
> = {
  approval: {
    routes: [
      "POST /operations/{id}/approve",
      "POST /payouts/{id}/approve",
      "POST /approvals/{id}/approve",
      "POST /approvals/approve",
    ],
    why: "It lets a movement run that waits. Each way is tried with it: the guards are evaluated again when it is given.",
  },
  jobResume: {
    routes: ["POST /jobs/{id}/resume"],
    why: "It goes on with what the guards accepted before; the signer looks for that evaluation again.",
  },
};

/** Routes that move no money and show no key, by reason. */
export const MOVES_NOTHING: Readonly<Record<string, readonly string[]>> = {
  "A person's own account, sessions and factors": [
    "POST /auth/logout",
    "DELETE /me/sessions",
    "DELETE /me/sessions/{id}",
    "POST /me/sessions/made/restore",
    "PATCH /me",
    "POST /me/email/verify",
    "POST /me/factors/recovery-codes",
    "POST /me/factors/totp",
    "POST /me/factors/totp/confirm",
    "POST /me/factors/totp/remove",
    "POST /me/passkeys",
    "POST /me/passkeys/options",
    "PATCH /me/passkeys/{id}",
    "POST /me/passkeys/{id}/remove",
    "PUT /me/notification-preferences",
    "POST /me/push-subscriptions",
    "DELETE /me/push-subscriptions/{id}",
    "POST /notifications/read",
  ],
  "Authority, which other tests guard (authority-table.int.test.ts)": [
    "POST /auth/api-keys",
    "PATCH /auth/api-keys/{id}",
    "POST /auth/api-keys/{id}/rotate",
    "DELETE /auth/api-keys/{id}",
    "POST /projects",
    "PATCH /projects/{id}",
    "PATCH /members/{id}",
    "POST /members/{id}/removal",
    "POST /invitations",
    "POST /invitations/lookup",
    "POST /invitations/accept",
    "DELETE /invitations/{id}",
    "PUT /reporting-currency",
    "PATCH /policies",
    "PUT /policies",
    "PATCH /sponsor-budgets",
  ],
  "Records, names and addresses": [
    "POST /contacts",
    "POST /contacts/import",
    "POST /exports",
    "PATCH /contacts/{id}",
    "DELETE /contacts/{id}",
    "PUT /annotations/{id}",
    "PATCH /wallets/{id}",
    "POST /wallets/link/init",
    "POST /wallets/link/verify",
    "DELETE /wallets/link/{address}",
    "POST /wallet/smart-account",
    "POST /privacy/wallets",
  ],
  "Books of the project itself: money stays in its treasury": [
    "POST /global-accounts",
    "PATCH /global-accounts/{id}",
    "POST /global-accounts/{id}/fund",
    "POST /global-accounts/{id}/reversals",
    "POST /global-accounts/{id}/freeze",
    "POST /global-accounts/{id}/unfreeze",
    "POST /global-accounts/{id}/close",
  ],
  "It mails a code, tries, declines or cancels": [
    "POST /swap/request-otp",
    "POST /approvals/{id}/request-otp",
    "POST /approvals/request-otp",
    "POST /approvals/{id}/decline",
    "POST /policies/evaluate",
    "POST /transfers/{id}/cancel",
    "POST /operations/{id}/cancel",
    "POST /payouts/{id}/cancel",
    "POST /payouts/schedules/{id}/cancel",
  ],
  "It sends data to an endpoint": [
    "POST /webhook-endpoints",
    "PATCH /webhook-endpoints/{id}",
    "DELETE /webhook-endpoints/{id}",
    "POST /webhook-endpoints/{id}/rotate",
    "POST /webhook-endpoints/{id}/test",
    "POST /webhook-endpoints/{id}/replay",
    "POST /deliveries/{id}/resend",
    "POST /notifications/channels",
    "PATCH /notifications/channels/{id}",
    "DELETE /notifications/channels/{id}",
    "POST /notifications/channels/{id}/test",
  ],
  "The faucet of local chains": ["POST /dev/faucet"],
};
