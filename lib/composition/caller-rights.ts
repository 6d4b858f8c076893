/**
 * The permission that a person's role needs for each function that a caller uses. A service of these tables checks none of them a second time.
 * Keys are held to their scopes by their routes.
 */
import type { Needs } from "@/lib/core/permission-guard";
import type { ActivityService } from "@/lib/modules/activity/service";
import type { AnnotationsService } from "@/lib/modules/annotations/service";
import type { ContactsService } from "@/lib/modules/contacts/service";
import type { DepositsService } from "@/lib/modules/deposits/service";
import type { AccountChangesService } from "@/lib/modules/global-accounts/account-changes";
import type { GlobalAccountsService } from "@/lib/modules/global-accounts/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { createSchedulesService } from "@/lib/modules/payouts/schedules/service";
import type { PayoutsService } from "@/lib/modules/payouts/service";
import type { createPrivacyService } from "@/lib/modules/privacy/service";
import type { QuotesService } from "@/lib/modules/quotes/service";
import type { SwapsService } from "@/lib/modules/swaps/service";
import type { createTransfersService } from "@/lib/modules/transfers/service";
import type { WalletsService } from "@/lib/modules/wallets/service";

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
  requestCode: MOVES,
  checkRecipient: null,
  prepare: MOVES,
  execute: MOVES,
  swapAndTransfer: MOVES,
  approve: MOVES,
  retry: MOVES,
};

export const TRANSFERS: Needs<ReturnType<typeof createTransfersService>> = { create: MOVES, cancel: MOVES };

export const OPERATIONS: Needs<OperationsService> = {
  show: null,
  getFor: null,
  listFor: null,
  allFor: null,
  cancel: MOVES,
  decideRefund: MOVES,
};

export const GLOBAL_ACCOUNTS: Needs<GlobalAccountsService> = { open: MOVES, fund: MOVES, reverse: MOVES };

export const ACCOUNT_CHANGES: Needs<AccountChangesService> = {
  rename: "records:write",
  freeze: MOVES,
  unfreeze: "policies:manage",
  close: MOVES,
};

export const ACTIVITY: Needs<ActivityService> = { list: null, all: null };

export const ANNOTATIONS: Needs<AnnotationsService> = { list: null, put: WRITES };

export const PAYOUTS: Needs<PayoutsService> = {
  createBetweenAccounts: MOVES,
  createToWallets: MOVES,
  createScheduled: MOVES,
  checkRecipients: null,
  checkRetry: null,
  requestCode: MOVES,
  approve: MOVES,
  cancel: MOVES,
  retry: MOVES,
  decideDoubt: "policies:manage",
};

export const PAYOUT_SCHEDULES: Needs<ReturnType<typeof createSchedulesService>> = {
  create: MOVES,
  requestCode: MOVES,
  approve: MOVES,
  cancel: MOVES,
};

type PrivacyService = ReturnType<typeof createPrivacyService>;

export const PRIVATE_WALLETS: Needs<PrivacyService["wallets"]> = { create: WRITES, choose: null };

export const PRIVACY: Needs<PrivacyService> = {
  shield: MOVES,
  unshield: MOVES,
  transfer: MOVES,
  exit: MOVES,
  quoteSwap: MOVES,
  prepareSwap: MOVES,
  executeSwap: MOVES,
  requestCode: MOVES,
  requestQuoteCode: MOVES,
  approve: MOVES,
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
  remove: WRITES,
};

export const DEPOSITS: Needs<DepositsService> = { get: null, release: "deposits:release" };

export const WALLETS: Needs<WalletsService> = { createSmartAccount: WRITES, label: WRITES };
