import { readFileSync } from "node:fs";
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { makeWorkspace } from "../../lib/dev/testing/workspace";
import type { Address } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { type ApiClient, createApiClient } from "../../lib/api-client/client";
import { createNonce, createToken } from "../../lib/contracts/auth";
import { listWallets } from "../../lib/contracts/wallets";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));
const SERVER = fileURLToPath(new URL("../../lib/dev/testing/api-server.ts", import.meta.url));

/** An instance of the API in a separate process. */
export interface BenchServer {
  readonly url: string;
  readonly child: ChildProcess;
}

export const startServer = async (environment: NodeJS.ProcessEnv): Promise<BenchServer> => {
  const child = fork(SERVER, [], {
    env: environment,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${String(port)}`, child };
};

export const stopServer = async ({ child }: BenchServer): Promise<void> => {
  const ended = once(child, "exit");
  child.kill();
  await ended;
};

const secret = (): string => `dev_${randomBytes(32).toString("hex")}`;

/**
 * Returns the environment of an instance in production mode that uses this database, without chains
 * and without rate limits.
 */
export const environmentOn = (databaseUrl: string): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{
    DATABASE_URL: databaseUrl,
    LOG_LEVEL: "error",
    NODE_ENV: "production" as const,
    DEVNET: "0",
  },
  ...{
    APP_SECRET: secret(),
    KEY_ENCRYPTION_KEY: secret(),
    EXECUTOR_PRIVATE_KEY: secret().replace("_", "_0x"),
  },
  ...{ RATE_LIMIT_PER_KEY: "0", RATE_LIMIT_PER_IP: "0", RATE_LIMIT_SIGN_IN_PER_IP: "0" },
});

export interface BenchDatabase {
  readonly folder: string;
  /** Creates and migrates a database. Returns its URL. */
  readonly create: (name: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts an embedded PostgreSQL in a new folder. */
export const startDatabase = async (): Promise<BenchDatabase> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({ dataDir: `${workspace.folder}/postgres` });
  return {
    folder: workspace.folder,
    create: async (name) => {
      await postgres.ensureDatabase(name);
      await migrateDeploy(postgres.url(name), MIGRATIONS);
      return postgres.url(name);
    },
    stop: async () => {
      await postgres.stop();
      workspace.remove();
    },
  };
};

/**
 * Returns a quantile of measured values, for instance with `share` 0.5 the median, rounded to
 * `digits` digits after the point.
 */
export const quantile = (values: readonly number[], share: number, digits = 0): number => {
  const sorted = [...values].sort((one, other) => one - other);
  const found =
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return Number(found.toFixed(digits));
};

export const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

interface SignedIn {
  readonly account: PrivateKeyAccount;
  readonly client: ApiClient;
  readonly treasury: Address;
}

/** Signs in as a new person, who gets a new project, at the service that a benchmark measures. */
export const signInAnew = async (url: string, chainId: number): Promise<SignedIn> => {
  const account = privateKeyToAccount(generatePrivateKey());
  const baseUrl = `${url}/api`;
  const anybody = createApiClient({ baseUrl });
  const { nonce, domain, uri, statement } = await anybody.call(createNonce, { body: {} });
  const { address } = account;
  const issuedAt = new Date();
  const message = createSiweMessage({
    address,
    chainId,
    domain,
    nonce,
    statement,
    uri,
    version: "1",
    issuedAt,
  });
  const signature = await account.signMessage({ message });
  const { accessToken } = await anybody.call(createToken, { body: { message, signature } });
  const client = createApiClient({
    baseUrl,
    headers: () => ({ authorization: `Bearer ${accessToken}` }),
  });
  const { data } = await client.call(listWallets, {});
  const treasury = data.find(({ kind }) => kind === "treasury")?.address;
  if (treasury === undefined) throw new Error("There is no treasury.");
  return { account, client, treasury };
};

export interface RpcCounter {
  readonly url: string;
  /** Number of JSON-RPC calls so far; each call of a batch counts. */
  readonly calls: () => number;
  readonly close: () => void;
}

const bodyOf = async (incoming: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Starts a proxy that counts the JSON-RPC calls to a node. */
export const countRpc = async (nodeUrl: string): Promise<RpcCounter> => {
  let calls = 0;
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      const asked: unknown = JSON.parse(body.toString("utf8"));
      calls += Array.isArray(asked) ? asked.length : 1;
      const headers = { "content-type": "application/json", "content-length": body.length };
      const onward = request(nodeUrl, { method: "POST", headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" });
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      onward.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    calls: () => calls,
    close: () => void server.close(),
  };
};

/** Returns the ids of all descendants of a process. */
export const childrenOf = (pid: number): number[] => {
  try {
    const direct = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, "utf8")
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map(Number);
    return direct.flatMap((child) => [child, ...childrenOf(child)]);
  } catch {
    return [];
  }
};
