/** Which kept answers a change makes old. */
import type { QueryKey } from "@tanstack/react-query";
import { listApiKeys } from "@/lib/contracts/api-keys";
import { getMe } from "@/lib/contracts/auth";
import { getBalanceHistory, getUnifiedBalances } from "@/lib/contracts/balances";
import type { ChangeKind, streamChanges } from "@/lib/contracts/changes";
import { listContacts } from "@/lib/contracts/contacts";
import type { Contract, ResponseOf } from "@/lib/contracts/contract";
import { getDecision, listDecisions } from "@/lib/contracts/decisions";
import { getGlobalAccount, listEntries, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { listInvitations, listMembers } from "@/lib/contracts/members";
import { listNotifications } from "@/lib/contracts/notifications";
import { getOperation, listOperations } from "@/lib/contracts/operations";
import { getPayoutSchedule, listPayoutSchedules } from "@/lib/contracts/payout-schedules";
import { getPayout, listPayouts } from "@/lib/contracts/payouts";
import { getPolicies } from "@/lib/contracts/policies";
import { getReserves } from "@/lib/contracts/reserves";
import { listTransfers } from "@/lib/contracts/transfers";
import { listWallets } from "@/lib/contracts/wallets";
import { listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";

export type Change = ResponseOf<typeof streamChanges>["changes"][number];

interface Covered {
  readonly lists: readonly Contract[];
  /** Routes of one object, by its id. */
  readonly details?: readonly Contract[];
}

const COVERED: Readonly<Record<Exclude<ChangeKind, "all">, Covered>> = {
  operations: { lists: [listOperations, listTransfers], details: [getOperation] },
  payouts: {
    lists: [listPayouts, listPayoutSchedules, listGlobalAccounts, getGlobalAccount, listEntries],
    details: [getPayout, getPayoutSchedule],
  },
  balances: { lists: [getUnifiedBalances, getBalanceHistory, getReserves] },
  inbox: { lists: [readProjectInbox, listDecisions], details: [getDecision] },
  notifications: { lists: [listNotifications] },
  wallets: { lists: [listWallets] },
  keys: { lists: [listApiKeys] },
  policies: { lists: [getPolicies] },
  members: { lists: [listMembers, listInvitations, getMe] },
  contacts: { lists: [listContacts] },
  accounts: { lists: [listGlobalAccounts, getGlobalAccount, listEntries, getReserves] },
  webhooks: { lists: [listWebhookEndpoints] },
};

const routeKey = ({ method, path }: Contract): QueryKey => [method, path];

const keysOfKind = ({ lists, details = [] }: Covered, id: string | null): QueryKey[] => [
  ...lists.map(routeKey),
  ...details.map((contract) => (id === null ? routeKey(contract) : [...routeKey(contract), { id }])),
];

/** Keys under which answers are kept (see `queryKeyOf`), or their beginnings. */
export const changedKeys = ({ kind, id }: Pick<Change, "kind" | "id">): readonly QueryKey[] =>
  kind === "all" ? Object.values(COVERED).flatMap((one) => keysOfKind(one, null)) : keysOfKind(COVERED[kind], id);
