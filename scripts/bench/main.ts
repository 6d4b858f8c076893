/**
 * `npm run bench [case] [arguments of the case]`: runs a benchmark of the service. A benchmark is
 * not a test: it starts the service that it measures, and prints a table or JSON. Figures that
 * depend on the machine are given as ratios within one run.
 */

import process from "node:process";

/**
 * Benchmarks by their names. Each is loaded only when it runs, because several need a build or a
 * browser.
 */
const CASES = {
  figures: { load: () => import("./figures"), about: "all that the service is held to" },
  transfers: {
    load: () => import("./transfers"),
    about: "transfers a second from one treasury",
  },
  "wallet-payouts": {
    load: () => import("./wallet-payouts"),
    about: "gas and time of payouts",
  },
  ledger: { load: () => import("./ledger"), about: "a transfer of the ledger against peers" },
  guards: { load: () => import("./guards"), about: "the sums under the lock of a balance" },
  instances: {
    load: () => import("./instances"),
    about: "1, 2 and 4 processes on one database",
  },
  commits: { load: () => import("./commits"), about: "commits with and without notifications" },
  partitions: {
    load: () => import("./partitions"),
    about: "events with a partition each month",
  },
  limits: { load: () => import("./limits"), about: "a request with and without exact limits" },
  revocation: {
    load: () => import("./revocation"),
    about: "how long a revoked key still works",
  },
  tracing: {
    load: () => import("./tracing"),
    about: "requests with and without code for traces",
  },
  webhooks: { load: () => import("./webhooks"), about: "the cost and speed of events" },
  "many-balances": {
    load: () => import("./many-balances"),
    about: "a balance of 10,000 wallets",
  },
  privacy: { load: () => import("./privacy"), about: "private balances: scan, proofs, stack" },
  chains: { load: () => import("./chains"), about: "the journal before a local chain" },
  "first-paint": { load: () => import("./first-paint"), about: "the first paint of pages" },
} as const satisfies Record<
  string,
  {
    readonly load: () => Promise<{ run(args: readonly string[]): Promise<void> }>;
    readonly about: string;
  }
>;

const isCase = (name: string): name is keyof typeof CASES => Object.hasOwn(CASES, name);

const [name = "", ...args] = process.argv.slice(2);
if (isCase(name)) {
  const { run } = await CASES[name].load();
  await run(args);
  process.exit();
}
console.error("Name one of these cases: npm run bench <case>");
for (const [each, { about }] of Object.entries(CASES))
  console.error(`  ${each.padEnd(16)}${about}`);
process.exitCode = 1;
