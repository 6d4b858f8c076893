// Which integration tests take longest, and which of them one run takes. Node's own modules alone.
import { createHash } from "node:crypto";

/** Files with a longer form, which `npm run test:long` runs. */
export const LONGER_FORMS = [
  "lib/faults/crash.int.test.ts",
  "app/api/fuzz.int.test.ts",
  "lib/modules/holds/sum-repository.int.test.ts",
  "lib/modules/ledger/model.int.test.ts",
  "lib/faults/wallet-payouts.int.test.ts",
  "lib/faults/wallet-payouts-crash.int.test.ts",
  "lib/faults/webhooks.int.test.ts",
  "lib/modules/callbacks/service.int.test.ts",
  "lib/faults/privacy-crash.int.test.ts",
  "lib/modules/privacy/privacy.int.test.ts",
  "lib/adapters/privacy-pools/engine.int.test.ts",
];

/**
 * The files that take longest on two cores. `npm test` takes half of them, by a seed, to stay short; `npm run test:long` and a run of
 * the integration tests alone take all. The walks of kills, faulty nodes and reorganisations over operations, and the ledger's model, are never left out.
 */
export const SAMPLED = [
  "lib/adapters/erc4337-rpc/alto.int.test.ts",
  "lib/adapters/privacy-pools/engine.int.test.ts",
  "lib/devnet/devnet.int.test.ts",
  "lib/devnet/journal/journaled-chain.int.test.ts",
  "lib/devnet/stuck.int.test.ts",
  "lib/faults/chains.int.test.ts",
  "lib/faults/frozen.int.test.ts",
  "lib/faults/privacy-crash.int.test.ts",
  "lib/faults/wallet-payouts.int.test.ts",
  "lib/http/canaries.int.test.ts",
  "lib/http/leaks.int.test.ts",
  "lib/http/pages-process.int.test.ts",
  "lib/modules/audit/verify-command.int.test.ts",
  "lib/modules/auth/email.int.test.ts",
  "lib/modules/encryption/rotation.int.test.ts",
  "lib/modules/ledger/load.int.test.ts",
  "lib/modules/privacy/privacy.int.test.ts",
  "lib/stack/main.int.test.ts",
  "lib/stack/postgres/embedded-postgres.int.test.ts",
];

const rankOf = (file, seed) => createHash("sha256").update(`${seed} ${file}`).digest("hex");

/**
 * The half that a run with this seed leaves out.
 * @param {string} seed any text; the same seed leaves out the same files
 * @returns {string[]}
 */
export const leftOut = (seed) =>
  [...SAMPLED]
    .sort((a, b) => (rankOf(a, seed) < rankOf(b, seed) ? -1 : 1))
    .slice(0, Math.floor(SAMPLED.length / 2))
    .sort();
