import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
const resolve = { alias: { "@": root } };
/** Integration tests start processes from bundles that are made once in a run. */
const resolveWithBundles = {
  alias: { "@/lib/platform/os/entry": `${root}/lib/dev/testing/entry.ts`, "@": root },
};
const exclude = [
  "**/node_modules/**",
  "**/.next/**",
  "**/.data/**",
  "**/dist/**",
  "e2e/**",
  "vendor/**",
];

const integration = {
  exclude,
  environment: "node" as const,
  // Real servers and chains are shared by all files; each file has its own database and keys.
  globalSetup: ["lib/dev/testing/global-setup.ts"],
  setupFiles: ["lib/dev/testing/setup.ts"],
  pool: "forks" as const,
  isolate: false,
  // Files wait for blocks most of the time, so there are more of them than cores.
  maxWorkers: availableParallelism() + 1,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Polls end as soon as their condition holds; the default of one second fails on a busy machine.
  expect: { poll: { timeout: 20_000 } },
  retry: 0,
};
/** Whether the tests that call every operation write the examples of the OpenAPI document again. */
const recordsExamples = process.env.RECORD_EXAMPLES === "1";
/** How long the walk of kills through a worker's work goes on; see lib/dev/faults. */
const crashRounds = Number(process.env.CRASH_ROUNDS ?? 1);
/**
 * A commit, in the place of the version before the newest migration, in
 * lib/dev/faults/neighbour-versions.int.test.ts.
 */
const olderCommit = process.env.OLDER_COMMIT;

/**
 * The main journeys, the ledger and kills, on the tables of the Citus cluster whose coordinator
 * CITUS_DATABASE_URL names.
 */
const DISTRIBUTED = [
  "lib/dev/faults/lost-node.distributed.test.ts",
  "lib/dev/faults/lost-node-events.distributed.test.ts",
  "lib/platform/db/distribution/distribute.distributed.test.ts",
  "lib/platform/db/distribution/one-shard.distributed.test.ts",
  "lib/platform/db/distribution/events-one-shard.distributed.test.ts",
  "lib/platform/db/distribution/two-phases.distributed.test.ts",
  "lib/platform/db/archive/archive.distributed.test.ts",
  "lib/platform/db/archive/archive.int.test.ts",
  "lib/platform/db/archive/archive-kill.int.test.ts",
  "lib/platform/db/retention.int.test.ts",
  "lib/news/events/sequencer.int.test.ts",
  "lib/news/events/project-turns.distributed.test.ts",
  "lib/money/webhooks/deliveries.int.test.ts",
  "lib/money/webhooks/archived-events.int.test.ts",
  "lib/money/notifications/notifications.int.test.ts",
  "lib/books/ledger/model.int.test.ts",
  "lib/money/payouts/accounts/rows.int.test.ts",
  "lib/money/operations/swap.int.test.ts",
  "lib/money/transfers/transfer.int.test.ts",
  "app/api/global-accounts/global-accounts.int.test.ts",
  "app/api/payouts/payouts.int.test.ts",
  "app/api/payouts/wallets-duplicates.int.test.ts",
  "app/api/payouts/withdrawals.int.test.ts",
  "app/api/audit-log/audit-log.int.test.ts",
  "lib/dev/faults/crash.int.test.ts",
  "lib/dev/faults/webhooks.int.test.ts",
];

/** Where `npm run test:distributed` finds its cluster. */
const clusterUrl = process.env.CITUS_DATABASE_URL;

/**
 * Files whose walks have a longer form, which `npm run test:long` runs: they ask whether this is
 * it.
 */
const withLongerForm = ["app", "lib"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter(
    (file) =>
      file.endsWith(".int.test.ts") && readFileSync(file, "utf8").includes('inject("isLong")'),
  );

export default defineConfig({
  resolve,
  test: {
    teardownTimeout: 30_000,
    projects: [
      {
        resolve,
        test: {
          name: "unit",
          include: ["**/*.test.{ts,tsx}"],
          exclude: [...exclude, "**/*.int.test.ts", "**/*.distributed.test.ts"],
          environment: "node",
          // Files share modules, which are then loaded once in each worker: a file that stubs
          // something restores it.
          isolate: false,
          testTimeout: 10_000,
          expect: { poll: { timeout: 8_000 } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: resolveWithBundles,
        test: {
          name: "integration",
          ...integration,
          include: ["**/*.int.test.ts"],
          provide: {
            crashRounds,
            isLong: false,
            recordsExamples,
            ...(olderCommit && { olderCommit }),
          },
          sequence: { groupOrder: 1 },
        },
      },
      {
        resolve: resolveWithBundles,
        test: {
          name: "long",
          ...integration,
          include: withLongerForm,
          provide: { crashRounds, isLong: true, recordsExamples: false },
          sequence: { groupOrder: 2 },
        },
      },
      {
        resolve: resolveWithBundles,
        test: {
          name: "distributed",
          ...integration,
          // A node that is killed serves all files.
          maxWorkers: 1,
          include: DISTRIBUTED,
          exclude: clusterUrl === undefined ? ["**"] : exclude,
          provide: {
            crashRounds,
            isLong: false,
            recordsExamples: false,
            ...(clusterUrl && { clusterUrl }),
          },
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
