import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "./support/test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { createApiClient } from "@/lib/api-client/client";
import { createApiKey } from "@/lib/contracts/api-keys";
import { createNonce, createToken } from "@/lib/contracts/auth";
import { freePort } from "@/lib/platform/os/ports";
import { environmentOf } from "./support/stack";
import { answerOf, parityRequests, type ParityCredentials } from "./parity-requests";

const NEXT_READY_MS = 60_000;
const POLL_MS = 200;
const RPC_PREFIX = "E2E_RPC_URL_";

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value)
    throw new Error(`${name} is not set: the global setup starts the stack and sets it.`);
  return value;
};

const nextEnvironment = (port: number): NodeJS.ProcessEnv => ({
  ...environmentOf({
    url: setting("E2E_BASE_URL"),
    databaseUrl: setting("E2E_DATABASE_URL"),
    dataDir: setting("E2E_DATA_DIR"),
    rpcUrls: Object.fromEntries(
      Object.entries(process.env).flatMap(([name, url]) =>
        name.startsWith(RPC_PREFIX) && url
          ? [[name.slice(RPC_PREFIX.length), url] as const]
          : [],
      ),
    ),
  }),
  PORT: String(port),
});

const startNext = async (): Promise<{ origin: string; child: ChildProcess }> => {
  const port = await freePort();
  const cli = join("node_modules", "next", "dist", "bin", "next");
  const args = [cli, "start", "-p", String(port), "-H", "127.0.0.1"];
  const child = spawn(process.execPath, args, {
    env: nextEnvironment(port),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const origin = `http://127.0.0.1:${String(port)}`;
  /** State of the server. The wait stops early when the process has ended. */
  const state = async (): Promise<"ready" | "ended" | "silent"> => {
    if (child.exitCode !== null) return "ended";
    const answer = await fetch(`${origin}/api/health`).catch(() => null);
    return answer?.ok === true ? "ready" : "silent";
  };
  try {
    const options = {
      timeout: NEXT_READY_MS,
      intervals: [POLL_MS],
      message: "`next start` did not answer in time.",
    };
    await expect.poll(state, options).not.toBe("silent");
    expect(child.exitCode, "`next start` has ended.").toBeNull();
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return { origin, child };
};

const signIn = async (origin: string): Promise<ParityCredentials> => {
  const account = privateKeyToAccount(generatePrivateKey());
  const client = createApiClient({ baseUrl: `${origin}/api` });
  const { nonce, domain, uri, statement } = await client.call(createNonce, {
    body: { address: account.address },
  });
  const chainId = 31337;
  const message = createSiweMessage({
    address: account.address,
    chainId,
    domain,
    nonce,
    statement,
    uri,
    version: "1",
  });
  const signature = await account.signMessage({ message });
  const { accessToken } = await client.call(createToken, { body: { message, signature } });
  const headers = { authorization: `Bearer ${accessToken}` };
  const { secret } = await client.call(createApiKey, { body: { name: "parity" }, headers });
  return { apiKey: secret, accessToken };
};

test("`next start` and server.ts give the same answers", async () => {
  const serverOrigin = setting("E2E_BASE_URL");
  const { origin: nextOrigin, child } = await startNext();
  try {
    for (const request of parityRequests(await signIn(serverOrigin))) {
      const [server, next] = [
        await answerOf(serverOrigin, request),
        await answerOf(nextOrigin, request),
      ];
      expect.soft(next, `${request.name}: ${request.method} ${request.path}`).toEqual(server);
    }
  } finally {
    child.kill("SIGTERM");
  }
});
