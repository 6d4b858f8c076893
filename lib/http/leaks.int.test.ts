import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createSiweMessage } from "viem/siwe";
import { toHex } from "viem";
import { describe, expect, test, vi } from "vitest";
import { createRpcBundler } from "@/lib/adapters/erc4337-rpc/rpc-bundler";
import { createSmtpMailer } from "@/lib/adapters/smtp/mailer";
import { createChainRegistry } from "@/lib/chain/registry";
import { loadConfig } from "@/lib/platform/config/env";
import { createDatabase } from "@/lib/platform/db/client";
import { renumberedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDatabase } from "@/lib/dev/testing/database";
import { entryFile } from "@/lib/dev/testing/entry";
import { testAccount } from "@/lib/dev/testing/factories";
import { loggedError } from "@/lib/platform/log/logger";
import { toAnswer, toDomainError } from "./problem";
import { afterFile } from "@/lib/dev/testing/after-file";

/**
 * A random secret. Each one is configured in a different place, so that a leak shows from which
 * place it comes.
 */
const secret = () => randomBytes(12).toString("hex");
const { url } = await testDatabase();
const KEYS = {
  path: secret(),
  query: secret(),
  user: secret(),
  bundler: secret(),
  mail: secret(),
  database: new URL(url).password,
  app: randomBytes(32).toString("hex"),
  encryption: randomBytes(32).toString("hex"),
  executor: randomBytes(32).toString("hex"),
  webhook: randomBytes(32).toString("hex"),
};
const CHAIN_IDS = [131337, 131338, 131339];
/** The discard port, on which nothing listens. */
const NOWHERE = "127.0.0.1:9";
const PUBLIC_URL = "https://pay.example.org";

const variables = {
  CAUSEWAY_ENV: "production",
  CHAINS_FILE: renumberedChainsFile(),
  LOG_LEVEL: "debug",
  DATABASE_URL: url,
  PUBLIC_URL,
  APP_SECRET: KEYS.app,
  KEY_ENCRYPTION_KEY: KEYS.encryption,
  WEBHOOK_SECRET: KEYS.webhook,
  EXECUTOR_PRIVATE_KEY: toHex(Buffer.from(KEYS.executor, "hex")),
  SMTP_URL: `smtps://app:${KEYS.mail}@${NOWHERE}`,
  RPC_URL_131337: `http://${NOWHERE}/v2/${KEYS.path}`,
  RPC_URL_131338: `http://${NOWHERE}/?apikey=${KEYS.query}`,
  RPC_URL_131339: `http://${KEYS.user}@${NOWHERE}/`,
  BUNDLER_URL_131337: `http://${NOWHERE}/rpc?key=${KEYS.bundler}`,
};

const expectNoSecret = (text: string): void => {
  for (const [where, key] of Object.entries(KEYS))
    expect([where, text.includes(key)]).toEqual([where, false]);
};

interface Sent {
  readonly method?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A separate process, so that its output is exactly the content of an operator's log. */
const startServer = async (environment: Readonly<Record<string, string>>) => {
  const child = fork(entryFile("api-server"), {
    execArgv: [],
    env: { NODE_ENV: "production", ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  afterFile(() => child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const answers: string[] = [];
  const call = async (
    path: string,
    { method, json, headers }: Sent = {},
  ): Promise<Record<string, unknown>> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      method: method ?? (json === undefined ? "GET" : "POST"),
      headers: { "content-type": "application/json", ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    answers.push(`${path} ${answer.status} ${JSON.stringify([...answer.headers])} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return { call, output: () => output, answers: () => answers.join("\n") };
};

type Call = Awaited<ReturnType<typeof startServer>>["call"];

const signIn = async (
  call: Call,
): Promise<Sent & { readonly account: ReturnType<typeof testAccount> }> => {
  const account = testAccount();
  const { address } = account;
  const given = await call("/auth/nonce", { json: { address } });
  const { nonce, domain, uri, statement } = given as Record<
    "nonce" | "domain" | "uri" | "statement",
    string
  >;
  const fields = {
    address,
    chainId: 131337,
    domain,
    nonce,
    uri,
    statement,
    version: "1",
    issuedAt: new Date(),
  } as const;
  const message = createSiweMessage(fields);
  const token = await call("/auth/token", {
    json: { message, signature: await account.signMessage({ message }) },
  });
  return { account, headers: { authorization: `Bearer ${String(token.accessToken)}` } };
};

describe("no secret leaves the service", () => {
  test("while its chains, its bundler and its mail server are dead", async () => {
    const { call, output, answers } = await startServer(variables);
    const { data: chains } = await call("/chains");
    expect((chains as { rpcUrl: unknown }[]).map(({ rpcUrl }) => rpcUrl)).toEqual([
      null,
      null,
      null,
    ]);
    const session = await signIn(call);
    const [treasury] = (await call("/wallets", session)).data as { address: string }[];
    const email = "person@example.org";
    const asked = await call("/me", { ...session, method: "PATCH", json: { email } });
    const signature = await session.account.signMessage({ message: String(asked.message) });
    const approval = { approvalId: asked.approvalId, signature };
    await call("/me", { ...session, method: "PATCH", json: { email, approval } });
    await call("/balances/unified", session);
    await call("/tokens");
    for (const chainId of CHAIN_IDS) {
      const from = [{ address: treasury?.address, chainId, token: "USDC", amount: "1" }];
      const to = { toChainId: chainId, toToken: "WETH", toAddress: testAccount().address };
      await call("/swap/quote", { ...session, json: { from, ...to } });
    }
    const { status } = await call("/ready");
    expect(status).toBe("unavailable");
    // The log has each chain's failure with the address of its node.
    await vi.waitFor(
      () =>
        expect(output().match(/chain_unavailable.*HttpRequestError/g)).toHaveLength(
          CHAIN_IDS.length,
        ),
      20_000,
    );
    expect(output()).toContain(`http://${NOWHERE}/`);
    expect(output()).toContain("ECONNREFUSED");
    expect(answers()).toContain("provider_error");
    expect(answers()).toContain("chain:131337");
    expectNoSecret(answers());
    expectNoSecret(output());
  });

  test("while its database is dead", async () => {
    const DATABASE_URL = `postgresql://app:${KEYS.database}@${NOWHERE}/causeway`;
    const { call, output, answers } = await startServer({ ...variables, DATABASE_URL });
    await call("/auth/nonce", { json: {} });
    await call("/ready");
    expect(answers()).toContain("503");
    await vi.waitFor(() => expect(output()).toContain("request failed"), 20_000);
    expectNoSecret(answers());
    expectNoSecret(output());
  });

  test("in whatever an adapter throws, logged or answered", async () => {
    const config = loadConfig(variables);
    const registry = createChainRegistry(config.chains, { timeoutMs: 500 });
    const bundler = createRpcBundler({ registry, urls: config.bundlerUrls, marker: null });
    const mailer = createSmtpMailer({
      url: config.smtpUrl ?? "",
      from: config.mailFrom,
      timeoutMs: 500,
    });
    const database = createDatabase(`postgresql://app:${KEYS.database}@${NOWHERE}/causeway`);
    const operation = {} as Parameters<typeof bundler.submit>[1];
    const failing = {
      path: () => registry.client(131337).getBlockNumber(),
      query: () => registry.client(131338).getBlockNumber(),
      user: () => registry.client(131339).getBlockNumber(),
      bundler: () => bundler.estimateGas(131337, { ...operation, nonce: 0n }),
      fees: () => bundler.fees(131337),
      mail: () => mailer.send({ to: "a@example.org", subject: "s", text: "t" }),
      prisma: () => database.prisma.user.count(),
      pool: () => database.pool.query("SELECT 1"),
    };
    for (const [what, run] of Object.entries(failing)) {
      const error: unknown = await run().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect([what, error instanceof Error]).toEqual([what, true]);
      expectNoSecret(JSON.stringify(loggedError(error)));
      expectNoSecret(toAnswer(toDomainError(error), "req_1").body);
    }
    await database.close();
    mailer.close();
  });
});
