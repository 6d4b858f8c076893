// Which integration tests take longest, and which of them one run takes. Node's own modules alone.
import { createHash } from "node:crypto";

/** Files with a longer form, which `npm run test:long` runs. */
export const LONGER_FORMS = [
  "lib/faults/crash.int.test.ts",
  "app/api/fuzz.int.test.ts",
  "lib/db/project-keys.int.test.ts",
  "lib/modules/holds/sum-repository.int.test.ts",
  "lib/modules/ledger/model.int.test.ts",
  "lib/faults/twenty-processes.int.test.ts",
  "lib/faults/wallet-payouts.int.test.ts",
  "lib/faults/wallet-payouts-crash.int.test.ts",
  "lib/faults/withdrawals-crash.int.test.ts",
  "lib/faults/doubt-decision-crash.int.test.ts",
  "lib/faults/webhooks.int.test.ts",
  "lib/modules/callbacks/service.int.test.ts",
  "lib/faults/privacy-crash.int.test.ts",
  "lib/modules/privacy/privacy.int.test.ts",
  "lib/adapters/privacy-pools/engine.int.test.ts",
];

/**
 * Integration tests that take more than some seconds, the longest first. `npm test` takes one of six neighbours by its seed; `npm run test:long`
 * and a run of the integration tests alone take all. The walks of kills, faulty nodes and reorganisations over operations, the drill of
 * a restored database, the ledger's model and who may call which operation are never left out.
 */
export const SAMPLED = [
  "lib/modules/privacy/privacy.int.test.ts",
  "lib/http/canaries.int.test.ts",
  "lib/modules/encryption/rotation.int.test.ts",
  "lib/faults/restore-private.int.test.ts",
  "lib/faults/restore-queued.int.test.ts",
  "lib/faults/neighbour-versions.int.test.ts",
  "lib/faults/privacy-crash.int.test.ts",
  "lib/modules/operations/statements.int.test.ts",
  "lib/modules/operations/refund-decision.int.test.ts",
  "lib/faults/database.int.test.ts",
  "lib/faults/frozen.int.test.ts",
  "lib/faults/wallet-payouts-crash.int.test.ts",
  "lib/faults/withdrawals-crash.int.test.ts",
  "lib/faults/doubt-decision-crash.int.test.ts",
  "lib/faults/failover.int.test.ts",
  "lib/stack/main.int.test.ts",
  "lib/faults/chains.int.test.ts",
  "lib/modules/transfers/swap-and-transfer.int.test.ts",
  "lib/modules/ledger/load.int.test.ts",
  "lib/faults/stuck.int.test.ts",
  "lib/faults/wallet-payouts.int.test.ts",
  "lib/devnet/devnet.int.test.ts",
  "lib/modules/sponsorship/budget-race.int.test.ts",
  "lib/adapters/erc4337-rpc/alto.int.test.ts",
  "app/api/global-accounts/global-accounts.int.test.ts",
  "lib/modules/payouts/wallets/batches/driver.int.test.ts",
  "lib/modules/otp/service.int.test.ts",
  "lib/db/migrate.int.test.ts",
  "app/api/payouts/schedules/schedules.int.test.ts",
  "lib/modules/operations/retry.int.test.ts",
  "lib/modules/privacy/public-exit.int.test.ts",
  "app/api/payouts/funded-payouts.int.test.ts",
  "lib/stack/postgres/embedded-postgres.int.test.ts",
  "lib/modules/deposits/quarantine.int.test.ts",
  "app/api/policies/screening-sources.int.test.ts",
  "app/api/members/members.int.test.ts",
  "app/api/swap/request-otp/request-otp.int.test.ts",
  "lib/adapters/privacy-pools/engine.int.test.ts",
  "app/api/policies/screening.int.test.ts",
  "lib/modules/sponsorship/budget.int.test.ts",
  "app/api/auth/api-keys/requests.int.test.ts",
  "lib/modules/sponsorship/gas-ceiling.int.test.ts",
  "app/api/payouts/wallets-payouts.int.test.ts",
  "lib/http/pages-process.int.test.ts",
  "lib/modules/auth/sign-up.int.test.ts",
  "lib/http/leaks.int.test.ts",
  "lib/stack/postgres/backup.int.test.ts",
  "lib/devnet/solver.int.test.ts",
  "lib/modules/auth/email.int.test.ts",
  "lib/modules/operations/failure.int.test.ts",
  "lib/faults/webhooks.int.test.ts",
  "app/api/wallets/link/link.int.test.ts",
  "lib/modules/swaps/prepare.int.test.ts",
  "lib/devnet/stuck.int.test.ts",
  "app/api/approvals/transfers.int.test.ts",
  "lib/adapters/onchain/refund.int.test.ts",
  "lib/adapters/executor/executor-bundler.int.test.ts",
  "app/api/policies/codes-and-keys.int.test.ts",
  "lib/adapters/onchain/provider.int.test.ts",
  "lib/chains/distributor.int.test.ts",
  "lib/modules/audit/verify-command.int.test.ts",
  "lib/modules/operations/fee-cap.int.test.ts",
  "app/api/jobs/jobs.int.test.ts",
  "app/api/annotations/annotations.int.test.ts",
  "app/api/operations/[id]/events/events.int.test.ts",
  "lib/modules/privacy/runner.int.test.ts",
  "lib/modules/reserves/chains.int.test.ts",
  "lib/faults/providers.int.test.ts",
  "app/api/payouts/wallets-duplicates.int.test.ts",
  "lib/modules/holds/service.int.test.ts",
  "lib/modules/jobs/service.int.test.ts",
  "lib/modules/reserves/service.int.test.ts",
  "lib/modules/deposits/deposits.int.test.ts",
  "scripts/paymaster-deploy.int.test.ts",
  "lib/faults/web.int.test.ts",
  "lib/modules/transfers/odd-tokens.int.test.ts",
  "lib/modules/privacy/votes.int.test.ts",
  "lib/modules/operations/own-wallets.int.test.ts",
  "lib/modules/factors/passkeys.int.test.ts",
  "app/api/approvals/payouts.int.test.ts",
  "lib/modules/decisions/decisions.int.test.ts",
  "lib/modules/sponsorship/operator.int.test.ts",
  "app/api/auth/authority.int.test.ts",
  "lib/faults/disk.int.test.ts",
  "lib/modules/operations/own-wallets-refused.int.test.ts",
  "lib/modules/policies/service.int.test.ts",
  "lib/modules/signing/reconcile.int.test.ts",
  "lib/modules/audit/chain.int.test.ts",
  "lib/modules/operations/own-wallets-faults.int.test.ts",
  "app/api/auth/authentication.int.test.ts",
  "app/api/global-accounts/account-changes.int.test.ts",
  "lib/telemetry/not-loaded.int.test.ts",
  "lib/modules/ledger/verify.int.test.ts",
];

/** Journeys in the browser, the longest first. `npm test` takes one of four neighbours; `npm run test:long` takes all. */
export const SAMPLED_JOURNEYS = [
  "e2e/private.spec.ts",
  "e2e/payouts.spec.ts",
  "e2e/first-paint.spec.ts",
  "e2e/authority.spec.ts",
  "e2e/activity.spec.ts",
  "e2e/factors.spec.ts",
  "e2e/accounts.spec.ts",
  "e2e/policies.spec.ts",
  "e2e/headers.spec.ts",
  "e2e/api-reference.spec.ts",
  "e2e/receive.spec.ts",
  "e2e/members.spec.ts",
  "e2e/wallets.spec.ts",
  "e2e/look.spec.ts",
  "e2e/live.spec.ts",
  "e2e/inbox.spec.ts",
  "e2e/settings.spec.ts",
  "e2e/notifications.spec.ts",
  "e2e/webhooks.spec.ts",
  "e2e/balances.spec.ts",
  "e2e/contacts.spec.ts",
  "e2e/refund.spec.ts",
  "e2e/parity.spec.ts",
  "e2e/edge.spec.ts",
];

const FILES_OF_ONE = 6;
const JOURNEYS_OF_ONE = 4;

const rankOf = (name, seed) => createHash("sha256").update(`${seed} ${name}`).digest("hex");

/**
 * One of each `size` neighbours, so that every run takes about as long.
 * @param {readonly string[]} names
 * @param {string} seed
 * @param {number} size
 */
const oneOfEach = (names, seed, size) => {
  const taken = [];
  for (let start = 0; start < names.length; start += size) {
    const neighbours = names.slice(start, start + size);
    taken.push(neighbours.reduce((one, other) => (rankOf(one, seed) < rankOf(other, seed) ? one : other)));
  }
  return taken;
};

const without = (names, taken) => names.filter((name) => !taken.includes(name)).sort();

/**
 * The integration tests that a run with this seed leaves out.
 * @param {string} seed any text; the same seed leaves out the same files
 * @returns {string[]}
 */
export const leftOut = (seed) => without(SAMPLED, oneOfEach(SAMPLED, seed, FILES_OF_ONE));

/**
 * The browser tests that a run with this seed leaves out.
 * @param {string} seed any text; the same seed leaves out the same files
 * @returns {string[]}
 */
export const leftOutJourneys = (seed) => without(SAMPLED_JOURNEYS, oneOfEach(SAMPLED_JOURNEYS, seed, JOURNEYS_OF_ONE));
