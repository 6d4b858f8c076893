/** Maps each change to the cached answers that it makes stale. */
import type { QueryKey } from "@tanstack/react-query";
import type { ChangeKind, streamChanges } from "@/lib/contracts/changes";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Change = ResponseOf<typeof streamChanges>["changes"][number];

interface Covered {
  /** Paths of GET routes that return lists. */
  readonly lists: readonly string[];
  /** Paths of GET routes that return one object by its id. */
  readonly details?: readonly string[];
}

// The constants below have paths instead of contracts, because every page loads this file and
// would load the contracts of all pages. A test compares the paths with the contracts.
const ACCOUNTS = ["/global-accounts", "/global-accounts/{id}", "/global-accounts/{id}/entries"];
const COVERED: Readonly<Record<Exclude<ChangeKind, "all">, Covered>> = {
  operations: {
    lists: ["/operations", "/transfers", "/activity", "/activity/summary"],
    details: ["/operations/{id}"],
  },
  payouts: {
    lists: ["/payouts", "/activity", "/activity/summary", "/payouts/schedules", ...ACCOUNTS],
    details: ["/payouts/{id}", "/payouts/schedules/{id}"],
  },
  balances: { lists: ["/balances/unified", "/balances/history", "/reserves"] },
  // The inbox changes when an approval ends. The notification that asked for the approval then
  // shows how it ended, so notifications are loaded again too.
  inbox: { lists: ["/inbox", "/approvals", "/notifications"], details: ["/approvals/{id}"] },
  notifications: { lists: ["/notifications"] },
  wallets: { lists: ["/wallets"] },
  keys: { lists: ["/auth/api-keys"] },
  policies: { lists: ["/policies"] },
  members: { lists: ["/members", "/invitations", "/me"] },
  contacts: { lists: ["/contacts"] },
  accounts: { lists: ["/activity", "/activity/summary", ...ACCOUNTS, "/reserves"] },
  webhooks: { lists: ["/webhook-endpoints", "/notifications/channels"] },
};

const routeKey = (path: string): QueryKey => ["GET", path];

const keysOfKind = ({ lists, details = [] }: Covered, id: string | null): QueryKey[] => [
  ...lists.map(routeKey),
  ...details.map((path) => (id === null ? routeKey(path) : [...routeKey(path), { id }])),
];

/**
 * The cache keys (see `queryKeyOf`), or prefixes of them, of the answers that the change makes
 * stale.
 */
export const changedKeys = ({ kind, id }: Pick<Change, "kind" | "id">): readonly QueryKey[] =>
  kind === "all"
    ? Object.values(COVERED).flatMap((one) => keysOfKind(one, null))
    : keysOfKind(COVERED[kind], id);
