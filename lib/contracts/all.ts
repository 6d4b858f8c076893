import * as activity from "./activity";
import * as annotations from "./annotations";
import * as apiKeys from "./api-keys";
import * as apiRequests from "./api-requests";
import * as auth from "./auth";
import * as audit from "./audit";
import * as balances from "./balances";
import * as changes from "./changes";
import * as chains from "./chains";
import * as contacts from "./contacts";
import type { Contract } from "./contract";
import * as decisions from "./decisions";
import * as deposits from "./deposits";
import * as dev from "./dev";
import * as events from "./events";
import * as exports from "./exports";
import * as factors from "./factors";
import * as globalAccounts from "./global-accounts";
import * as inbox from "./inbox";
import * as jobs from "./jobs";
import * as members from "./members";
import * as notMe from "./not-me";
import * as notificationChannels from "./notification-channels";
import * as notifications from "./notifications";
import * as operations from "./operations";
import * as passkeys from "./passkeys";
import * as payoutSchedules from "./payout-schedules";
import * as payoutDoubts from "./payout-doubts";
import * as payouts from "./payouts";
import * as policies from "./policies";
import * as privacy from "./privacy";
import * as privacySwap from "./privacy-swap";
import * as push from "./push";
import * as reporting from "./reporting";
import * as reserves from "./reserves";
import * as sessions from "./sessions";
import * as sponsorBudgets from "./sponsor-budgets";
import * as swap from "./swap";
import * as system from "./system";
import * as transfers from "./transfers";
import * as wallets from "./wallets";
import * as webhookDeliveries from "./webhook-deliveries";
import * as webhookEndpoints from "./webhook-endpoints";
import * as webhooks from "./webhooks";

/**
 * The files with contracts. Each exported contract is a route of the service; the export's name is
 * the operation's id.
 */
const FILES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  activity,
  annotations,
  apiKeys,
  apiRequests,
  auth,
  audit,
  balances,
  chains,
  changes,
  contacts,
  decisions,
  deposits,
  dev,
  events,
  exports,
  factors,
  globalAccounts,
  inbox,
  jobs,
  members,
  notMe,
  notificationChannels,
  notifications,
  operations,
  passkeys,
  payoutSchedules,
  payoutDoubts,
  payouts,
  policies,
  privacy,
  privacySwap,
  push,
  reporting,
  reserves,
  sessions,
  sponsorBudgets,
  swap,
  system,
  transfers,
  wallets,
  webhookDeliveries,
  webhookEndpoints,
  webhooks,
};

export interface NamedContract {
  readonly operationId: string;
  /** File name in `lib/contracts`, in camel case: `globalAccounts`. */
  readonly file: string;
  readonly contract: Contract;
}

const isContract = (value: unknown): value is Contract =>
  typeof value === "object" &&
  value !== null &&
  "method" in value &&
  "path" in value &&
  "response" in value;

export const namedContracts: readonly NamedContract[] = Object.entries(FILES).flatMap(
  ([file, exports]) =>
    Object.entries(exports).flatMap(([operationId, contract]) =>
      isContract(contract) ? [{ operationId, file, contract }] : [],
    ),
);

export const contracts: readonly Contract[] = namedContracts.map(({ contract }) => contract);
