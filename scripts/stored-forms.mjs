/**
 * Files that parse database rows and JSON columns outside of the repositories, as paths below lib
 * without `.ts`. Each is named after the domain type that it returns. Only repositories and other
 * files of this list may call their parsers. oxlint and dependency-cruiser read this list.
 */
export const STORED_FORMS = [
  "trust/members/member",
  "money/operations/leg",
  "money/operations/operation",
  "money/payouts/payout",
  "money/payouts/schedules/payout-schedule",
  "money/payouts/wallets/batches/payout-batch",
  "money/payouts/wallets/wallet-payout",
  "money/privacy/rows",
  "money/quotes/quote",
  "trust/wallets/wallet",
];
