/**
 * The permission that a person's role needs for each function of a service. The services in these
 * tables do not check it again. For API keys the routes check scopes.
 */
import type { Needs } from "@/lib/core/permissions";
import type { ActivityService } from "@/lib/money/activity/service";
import type { AnnotationsService } from "@/lib/money/annotations/service";
import type { ContactsService } from "@/lib/books/contacts/service";
import type { ExportsService } from "@/lib/money/exports/service";
import type { DepositsService } from "@/lib/money/deposits/service";
import type { AccountChangesService } from "@/lib/books/global-accounts/account-changes";
import type { GlobalAccountsService } from "@/lib/books/global-accounts/service";
import type { OperationsService } from "@/lib/money/operations/service";
import type { createSchedulesService } from "@/lib/money/payouts/schedules/service";
import type { PayoutsService } from "@/lib/money/payouts/service";
import type { createPrivacyService } from "@/lib/money/privacy/service";
import type { QuotesService } from "@/lib/money/quotes/service";
import type { SwapsService } from "@/lib/money/swaps/service";
import type { createTransfersService } from "@/lib/money/transfers/service";
import type { WalletsService } from "@/lib/trust/wallets/service";

const MOVES = "money:move";
const WRITES = "records:write";

export const QUOTES: Needs<QuotesService> = {
  create: MOVES,
  refuse: null,
  get: null,
  getOpen: null,
  draft: MOVES,
  store: MOVES,
};

export const SWAPS: Needs<SwapsService> = {
  approvable: MOVES,
  awaiting: MOVES,
  checkCaller: null,
  prepare: MOVES,
  execute: MOVES,
  swapAndTransfer: MOVES,
  retry: MOVES,
};

export const TRANSFERS: Needs<ReturnType<typeof createTransfersService>> = {
  create: MOVES,
  cancel: MOVES,
};

export const OPERATIONS: Needs<OperationsService> = {
  getFor: null,
  listFor: null,
  conditionFor: null,
  allFor: null,
  cancel: MOVES,
  decideRefund: MOVES,
};

export const GLOBAL_ACCOUNTS: Needs<GlobalAccountsService> = {
  open: MOVES,
  fund: MOVES,
  reverse: MOVES,
};

export const ACCOUNT_CHANGES: Needs<AccountChangesService> = {
  rename: "records:write",
  freeze: MOVES,
  unfreeze: "policies:manage",
  close: MOVES,
};

export const ACTIVITY: Needs<ActivityService> = { list: null, all: null, summary: null };

/** The service checks the rights of the kind of export. */
export const EXPORTS: Needs<ExportsService> = {
  create: null,
  get: null,
  list: null,
  file: null,
};

export const ANNOTATIONS: Needs<AnnotationsService> = { list: null, put: WRITES };

export const PAYOUTS: Needs<PayoutsService> = {
  create: MOVES,
  createPayout: MOVES,
  checkRecipients: null,
  checkRetry: null,
  awaiting: MOVES,
  cancel: MOVES,
  retry: MOVES,
  decideDoubt: "policies:manage",
};

export const PAYOUT_SCHEDULES: Needs<ReturnType<typeof createSchedulesService>> = {
  create: MOVES,
  awaiting: MOVES,
  cancel: MOVES,
};

type PrivacyService = ReturnType<typeof createPrivacyService>;

export const PRIVATE_WALLETS: Needs<PrivacyService["wallets"]> = {
  create: WRITES,
  choose: null,
};

export const PRIVACY: Needs<PrivacyService> = {
  shield: MOVES,
  unshield: MOVES,
  transfer: MOVES,
  exit: MOVES,
  quoteSwap: MOVES,
  prepareSwap: MOVES,
  executeSwap: MOVES,
  approvable: MOVES,
  awaiting: MOVES,
  cancel: MOVES,
  retry: MOVES,
  checkRecipient: null,
  checkRetry: null,
  balances: null,
  exits: null,
};

export const CONTACTS: Needs<ContactsService> = {
  list: null,
  proposed: null,
  get: null,
  put: WRITES,
  update: WRITES,
  approve: "policies:manage",
  approveAll: "policies:manage",
  import: WRITES,
  remove: WRITES,
};

export const DEPOSITS: Needs<DepositsService> = {
  list: null,
  get: null,
  dust: null,
  release: "deposits:release",
};

export const WALLETS: Needs<WalletsService> = { createSmartAccount: WRITES, label: WRITES };
