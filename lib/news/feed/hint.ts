/** Determines which parts of a project an event or an audit entry changes. Pure. */
import type { ChangeKind } from "@/lib/contracts/changes";
import type { Actor } from "@/lib/core/actor";

export interface Hint {
  readonly kind: ChangeKind;
  readonly id: string | null;
  readonly at: Date;
  /** True for a private movement: an API key without `privacy:read` does not get the id. */
  readonly private: boolean;
  /** True for a new object, of which no caller has an older state. */
  readonly isNew?: boolean;
}

export interface Source {
  readonly name: string;
  readonly objectId: string | null;
  readonly private: boolean;
  readonly at: Date;
}

/** Steps of a payment that add it to the inbox or remove it. */
const INBOX_STEPS = new Set([
  "created",
  "approved",
  "failed",
  "partially_completed",
  "expired",
  "cancelled",
]);

const ofMovement = (kind: ChangeKind, step: string): readonly ChangeKind[] => [
  kind,
  "balances",
  ...(INBOX_STEPS.has(step) ? (["inbox"] as const) : []),
];

const OF_EVENT: Readonly<Record<string, (step: string) => readonly ChangeKind[]>> = {
  operation: (step) => ofMovement("operations", step),
  // Only the list of operations changes, because the events of the transfer's operation report the
  // rest.
  transfer: () => ["operations"],
  payout: (step) => ofMovement("payouts", step),
  payout_schedule: () => ["payouts", "inbox"],
  global_account: () => ["accounts"],
  api_key: () => ["keys"],
  approval: () => ["inbox", "operations", "payouts"],
  member: () => ["members"],
  policy: () => ["policies"],
  deposit: () => ["operations", "balances", "inbox"],
};

const OF_ACTION: Readonly<Record<string, readonly ChangeKind[]>> = {
  wallet: ["wallets", "balances"],
  contact: ["contacts"],
  member: ["members"],
  invitation: ["members"],
  project: ["members"],
  policy: ["policies"],
  api_key: ["keys"],
  operation: ["operations", "inbox"],
  payout: ["payouts", "inbox"],
  payout_schedule: ["payouts", "inbox"],
  approval: ["inbox"],
  job: ["inbox"],
  global_account: ["accounts"],
  webhook_endpoint: ["webhooks"],
  notification_channel: ["webhooks"],
};

const toHints = (
  kinds: readonly ChangeKind[],
  { name, objectId, at, private: isPrivate }: Source,
): readonly Hint[] => {
  const isNew = name.endsWith(".created");
  return kinds.map((kind, place) => ({
    kind,
    id: place === 0 ? objectId : null,
    at,
    private: isPrivate,
    isNew,
  }));
};

/**
 * The hints to which an event leads.
 * @param source `name` is the type of the event: `payout.completed`
 */
export const hintsOfEvent = (source: Source): readonly Hint[] => {
  const [group = "", step = ""] = source.name.split(".");
  return toHints(OF_EVENT[group]?.(step) ?? [], source);
};

/**
 * Hints without ids, because not every member may read the audit log.
 * @param source `name` is the action: `wallet.created`
 */
export const hintsOfAction = (source: Source): readonly Hint[] =>
  toHints(OF_ACTION[source.name.split(".")[0] ?? ""] ?? [], { ...source, objectId: null });

/**
 * The scope that an API key needs for hints of a kind; null when only signed-in people get the
 * kind.
 */
const SCOPES: Readonly<Record<ChangeKind, string | null>> = {
  operations: "operations:read",
  payouts: "payouts:read",
  balances: "balances:read",
  wallets: "wallets:read",
  contacts: "transfers:read",
  accounts: "accounts:read",
  all: "operations:read",
  inbox: null,
  notifications: null,
  keys: null,
  policies: null,
  members: null,
  webhooks: null,
};

/** The hint as the caller may see it; null when the caller may not see it. */
export const shownTo = (actor: Actor, hint: Hint): Hint | null => {
  if (actor.type === "user") return hint;
  const scope = SCOPES[hint.kind];
  if (scope === null || !actor.scopes.includes(scope)) return null;
  return hint.private && !actor.scopes.includes("privacy:read") ? { ...hint, id: null } : hint;
};
