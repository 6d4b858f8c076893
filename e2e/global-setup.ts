import { existsSync } from "node:fs";
import { startStack } from "./support/stack";

/**
 * Paths of Debian's Chromium packages; the headless shell comes first, because it starts faster.
 */
const INSTALLED = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/**
 * Starts a separate stack, and sets `E2E_BASE_URL`, `E2E_DATABASE_URL`, `E2E_DATABASE_OWNER_URL`,
 * `E2E_DATA_DIR`, `E2E_STACK_PID` and `E2E_RPC_URL_<chain id>` for the tests. When `E2E_BASE_URL`
 * is already set, the tests use that stack instead.
 */
const globalSetup = async (): Promise<(() => Promise<void>) | undefined> => {
  process.env.CHROMIUM_PATH ||= INSTALLED.find((path) => existsSync(path)) ?? "";
  if (process.env.E2E_BASE_URL) return undefined;
  const stack = await startStack();
  process.env.E2E_BASE_URL = stack.url;
  process.env.E2E_DATABASE_URL = stack.databaseUrl;
  process.env.E2E_DATABASE_OWNER_URL = stack.databaseOwnerUrl;
  process.env.E2E_DATA_DIR = stack.dataDir;
  process.env.E2E_STACK_PID = String(stack.pid);
  for (const [id, rpcUrl] of Object.entries(stack.rpcUrls))
    process.env[`E2E_RPC_URL_${id}`] = rpcUrl;
  return () => stack.stop();
};

export default globalSetup;
