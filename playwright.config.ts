import { availableParallelism } from "node:os";
import { defineConfig, devices } from "@playwright/test";

const executablePath = process.env.CHROMIUM_PATH;
/**
 * They kill the stack's pages, or load the machine with a second server, so nothing else may run
 * beside them.
 */
const DISTURBING = /(edge|parity|deploy)\.spec\.ts$/;
const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: "e2e",
  testMatch: "**/*.spec.ts",
  globalSetup: "./e2e/global-setup.ts",
  outputDir: "test-results",
  // One picture for all systems. `npm run test:e2e -- tables --update-snapshots` draws them again.
  snapshotPathTemplate: "e2e/pictures/{arg}{ext}",
  // All journeys share one stack; each signs in as somebody new. A journey waits for chains most of
  // the time.
  workers: Math.max(2, Math.floor(availableParallelism() / 2)),
  fullyParallel: false,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: process.env.CI ? "line" : "list",
  use: {
    // The global setup starts the stack on free ports and sets these for the workers.
    baseURL: process.env.E2E_BASE_URL ?? "http://localhost:3000",
    // Recording a trace takes about as long as the journey itself. `npm run test:e2e -- --trace on`
    // records.
    trace: "off",
    // A journey that needs the service worker allows it for its own context.
    serviceWorkers: "block",
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "UTC",
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        ...(isRoot ? ["--no-sandbox"] : []),
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
      ],
    },
  },
  projects: [
    { name: "journeys", testIgnore: DISTURBING, use: { ...devices["Desktop Chrome"] } },
    {
      name: "faults",
      testMatch: DISTURBING,
      dependencies: ["journeys"],
      use: { ...devices["Desktop Chrome"] },
    },
  ],
});
