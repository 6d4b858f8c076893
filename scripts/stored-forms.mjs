/**
 * Files that parse rows and JSON columns beside the repositories of their modules, below lib/modules and without `.ts`. Each is named
 * after the domain type that it returns; only repositories and other files of this list may call it. oxlint and dependency-cruiser read
 * this list.
 */
export const STORED_FORMS = [
  "balances/history-point",
  "contacts/contact",
  "deposits/deposit",
  "members/invitation",
  "members/member",
  "operations/leg",
  "operations/operation",
  "operations/readable",
  "payouts/payout",
  "payouts/readable",
  "payouts/schedules/payout-schedule",
  "payouts/wallets/batches/payout-batch",
  "payouts/wallets/wallet-payout",
  "privacy/private-quote",
  "privacy/private-step",
  "privacy/private-transfer",
  "quotes/quote",
  "wallets/wallet",
];
