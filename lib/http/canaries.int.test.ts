/**
 * Plants secrets in a running service and searches for them in everything that the service writes.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import {
  bytesToHex,
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  hexToBytes,
  http,
  parseUnits,
  publicActions,
  type Hash,
} from "viem";
import { afterAll, expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { getFactors, confirmTotp, startTotp } from "@/lib/contracts/factors";
import {
  createPrivacyWallet,
  getPrivateBalances,
  privateTransfer,
  shield,
} from "@/lib/contracts/privacy";
import { executeSwap } from "@/lib/contracts/swap";
import { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import { createEnvelopes, createKeyring } from "@/lib/platform/encryption/service";
import { managedKeyContext } from "@/lib/platform/ports/encryption";
import { remoteApi, testApi, type TestApi, type TestApiKey } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { entryFile } from "@/lib/dev/testing/entry";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  codesOf,
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import {
  findLeaks,
  plantedForms,
  type Canary,
  type SearchedText,
} from "@/lib/dev/testing/leak-scanner";
import { startOtlpCollector } from "@/lib/dev/testing/otlp-collector";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { afterFile } from "@/lib/dev/testing/after-file";

const CHAIN = 31339;
const TIMEOUT_MS = 300_000;
/**
 * The table of the development inbox. It keeps mails as they were sent, codes included, so it is
 * not searched.
 */
const MAILBOX = "dev_mail";

const devnet = await testDevnet();
const collector = await startOtlpCollector();
afterAll(() => collector.close());
const receiver = await webhookReceiver();
const api = await testApi({ variables: { PRIVACY_ANONYMITY_SET_MIN: "1" } });
const { config, database } = api.services;
const { prisma } = database;

/** Everything that the processes wrote to stdout and stderr. */
let output = "";
/** The bodies of all error responses. */
const errorBodies: string[] = [];

const recorded: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  if (answer.status >= 400) errorBodies.push(await answer.clone().text());
  return answer;
};

/** A process that serves the API and runs jobs, with the secrets of `api`. */
const startServer = async () => {
  const child = fork(entryFile("api-server"), {
    env: {
      NODE_ENV: "test",
      ...Object.fromEntries(
        Object.entries(devnet.rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url]),
      ),
      ...Object.fromEntries(
        Object.keys(devnet.rpcUrls).map((id) => [`ASP_URL_${id}`, devnet.associationUrl]),
      ),
      CAUSEWAY_ENV: "development",
      DEVNET: "1",
      DATABASE_URL: config.databaseUrl,
      APP_SECRET: config.appSecret,
      KEY_ENCRYPTION_KEY: config.keyEncryptionKeys[0].toString("hex"),
      EXECUTOR_PRIVATE_KEY: config.executorPrivateKey ?? "",
      LOG_LEVEL: "trace",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      RATE_LIMIT_PER_KEY: "0",
      RATE_LIMIT_PER_IP: "0",
      RATE_LIMIT_SIGN_IN_PER_IP: "0",
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  afterFile(() => child.kill("SIGKILL"));
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const exited = once(child, "exit");
  return {
    url: `http://127.0.0.1:${String(port)}/api`,
    end: async (): Promise<void> => {
      child.kill("SIGKILL");
      await exited;
    },
  };
};

/** The private key of the project's treasury, decrypted like in the service. */
const treasuryKey = async ({ treasuryId }: Customer): Promise<Canary> => {
  const { keyId, projectId } = await prisma.wallet.findFirstOrThrow({
    where: { id: treasuryId },
  });
  const row = await prisma.managedKey.findUniqueOrThrow({ where: { id: keyId ?? "" } });
  const context = managedKeyContext({ projectId, keyId: row.id });
  const bytes = createEnvelopes(createKeyring(config.keyEncryptionKeys)).open(row, context);
  return { name: "the treasury's private key", text: bytesToHex(bytes).slice(2), bytes };
};

const configured = (): Canary[] => {
  const executor = config.executorPrivateKey ?? "0x";
  const [kek] = config.keyEncryptionKeys;
  const appSecret = config.appSecret.replace(/^dev_/, "");
  return [
    { name: "EXECUTOR_PRIVATE_KEY", text: executor.slice(2), bytes: hexToBytes(executor) },
    { name: "KEY_ENCRYPTION_KEY", text: kek.toString("hex"), bytes: kek },
    { name: "APP_SECRET", text: appSecret, bytes: Buffer.from(appSecret, "hex") },
  ];
};

/**
 * Enrols an authenticator app that approves nothing more. Its codes are short-lived and used up.
 */
const enrolApp = async ({ session }: Customer): Promise<Canary> => {
  const { client, account } = session;
  const { secret } = await withApproval(account, (approval) =>
    client.call(startTotp, { body: { approval } }),
  );
  const bytes = fromBase32(secret);
  const code = totpCode(bytes, stepAt(new Date()));
  await client.call(confirmTotp, { body: { code } });
  expect((await client.call(getFactors, {})).totp).not.toBeNull();
  return { name: "the secret of the authenticator app", text: secret, bytes };
};

/**
 * Shields money of the treasury and pays a part of it privately.
 * @returns the mnemonic of the private wallet that paid
 */
const payPrivately = async (
  { session, treasury }: Customer,
  key: ApiClient,
): Promise<Canary> => {
  const { client } = session;
  await fund(client, treasury, { chainId: CHAIN, token: "USDC", amount: "50" });
  const { id: privacyWalletId } = await client.call(createPrivacyWallet, {
    body: { name: "Canary" },
  });
  await key.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "50", privacyWalletId },
  });
  await vi.waitFor(
    async () => {
      const { data } = await client.call(getPrivateBalances, { query: { privacyWalletId } });
      expect(
        data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC")
          ?.spendable,
      ).toBe("49.95");
    },
    { timeout: TIMEOUT_MS, interval: 200 },
  );
  const { operationId } = await key.call(privateTransfer, {
    body: {
      chainId: CHAIN,
      token: "USDC",
      amount: "10",
      toAddress: testAccount().address,
      privacyWalletId,
    },
  });
  expect((await waitUntilFinal(client, operationId, TIMEOUT_MS)).status).toBe("completed");
  const wallet = await prisma.privacyWallet.findFirstOrThrow({
    where: { id: privacyWalletId },
  });
  return {
    name: "the mnemonic of a private wallet",
    text: api.services.privacy.wallets.keyOf(wallet).mnemonic,
  };
};

/** A transfer that a mailed code approves. */
const transfer = async (through: TestApi, customer: Customer, amount: string) => {
  const { transferId } = await prepareTransfer(through, customer, {
    fromWalletId: customer.treasuryId,
    toAddress: testAccount().address,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    amount,
  });
  return customer.session.client.call(executeSwap, { body: { transferId } });
};

/** Takes USDC out of the treasury without the service. */
const empty = async ({ treasury }: Customer, amount: string): Promise<void> => {
  const anvil = createTestClient({
    mode: "anvil",
    transport: http(devnet.rpcUrls[String(CHAIN)]),
  }).extend(publicActions);
  await anvil.impersonateAccount({ address: treasury });
  await anvil.setBalance({ address: treasury, value: parseUnits("1", 18) });
  const args = [testAccount().address, parseUnits(amount, 6)] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  const to = api.services.registry.resolveToken(CHAIN, "USDC").address;
  const hash: Hash = await anvil.request({
    method: "eth_sendTransaction" as never,
    params: [{ from: treasury, to, data }] as never,
  });
  const { status } = await anvil.waitForTransactionReceipt({ hash, pollingInterval: 100 });
  expect(status).toBe("success");
};

/** Sends requests with secrets in wrong places, as people do by mistake. */
const sendWrongly = async (
  remote: TestApi,
  { session }: Customer,
  canaries: readonly Canary[],
): Promise<void> => {
  const authorization = `Bearer ${session.accessToken}`;
  const json = { authorization, "content-type": "application/json" };
  const post = (path: string, body: string, headers: Record<string, string> = json) =>
    remote.fetch(path, { method: "POST", headers, body });
  for (const { text } of canaries) {
    const answers = await Promise.all([
      post("/swap/quote", JSON.stringify({ from: text, toChainId: text, [text]: text })),
      post(
        "/transfers",
        JSON.stringify({ fromWalletId: text, toAddress: text, token: text, amount: text }),
      ),
      post("/auth/token", JSON.stringify({ message: text, signature: text })),
      post("/auth/api-keys", `{"name": "${text}`),
      post("/me/email/verify", JSON.stringify({ code: text })),
      post(
        "/swap/prepare",
        JSON.stringify({ quoteId: "qt_01980000-0000-7000-8000-000000000000", otp: text }),
      ),
      remote.fetch("/wallets", { headers: { authorization: `Bearer ${text}x` } }),
      remote.fetch("/wallets", { headers: { "x-api-key": `${text}x` } }),
      remote.fetch("/wallets", { headers: { authorization, "x-project-id": text } }),
      remote.fetch(
        `/operations?cursor=${encodeURIComponent(text)}&status=${encodeURIComponent(text)}`,
        {
          headers: { authorization },
        },
      ),
      remote.fetch(`/wallets/${encodeURIComponent(text)}`, { headers: { authorization } }),
    ]);
    expect(answers.filter(({ ok }) => ok).map(({ url }) => url)).toEqual([]);
  }
};

/** All rows of all tables, as PostgreSQL writes them. */
const databaseDump = async (): Promise<SearchedText[]> => {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> ${MAILBOX}`;
  expect(tables.length).toBeGreaterThan(50);
  return Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await database.pool.query<{ row: string }>(
        `SELECT t::text AS row FROM ${name} t`,
      );
      return { name: `table ${name}`, text: rows.map(({ row }) => row).join("\n") };
    }),
  );
};

const keyCanaries = ({ secret }: TestApiKey): Canary[] => [
  { name: "the secret of an API key", text: secret },
  { name: "the random part of an API key", text: secret.slice(secret.lastIndexOf("_") + 1) },
];

/**
 * Runs the scenario.
 * @returns the canaries, the mailed codes, and the metrics from during the run
 */
const run = async () => {
  const first = await startServer();
  const remote = remoteApi(api, first.url, recorded);
  const customer = await newCustomer(remote);
  const { client } = customer.session;
  const endpoint = await client.call(createWebhookEndpoint, {
    body: { url: receiver.url, events: ["*"], includePrivate: true },
  });
  const key = await remote.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "100000",
  });
  const app = await enrolApp(customer);
  const mnemonic = await payPrivately(customer, key.client);
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "20" });
  const paid = await transfer(remote, customer, "5");
  expect((await waitUntilFinal(client, paid.operationId)).status).toBe("completed");
  const metrics = [await (await remote.fetch("/metrics")).text()];
  await first.end();

  // The operation is accepted while no worker runs, and its money is gone before one starts.
  const local = { ...customer, session: await api.signIn() };
  Object.assign(local.session, {
    client: api.client({ authorization: `Bearer ${customer.session.accessToken}` }),
  });
  const failing = await transfer(api, local, "7");
  await empty(customer, "15");
  const second = await startServer();
  const again = remoteApi(api, second.url, recorded);
  const ended = await waitUntilFinal(local.session.client, failing.operationId);
  expect(ended.status).toBe("failed");
  const canaries: Canary[] = [
    ...configured(),
    ...keyCanaries(key),
    await treasuryKey(customer),
    mnemonic,
    app,
    { name: "the secret of a webhook", text: endpoint.secret },
    { name: "a refresh token", text: customer.session.refreshToken },
    { name: "an access token", text: customer.session.accessToken },
  ];
  await sendWrongly(again, customer, canaries);
  metrics.push(await (await again.fetch("/metrics")).text());
  await vi.waitFor(
    () => expect(receiver.received.map(({ raw }) => raw).join()).toContain(failing.operationId),
    {
      timeout: 30_000,
    },
  );
  const codes: Canary[] = (await codesOf(api, customer)).map((text) => ({
    name: `the mailed code ${text}`,
    text,
  }));
  return { canaries, codes, metrics, operationIds: [paid.operationId, failing.operationId] };
};

/** Number of characters that each place keeps of its text when a canary is planted in it. */
const KEPT_CHARS = 1000;

test(
  "no key, mnemonic, secret, token or code is in a log, an error, the database, a webhook, a metric or a trace",
  { timeout: 2 * TIMEOUT_MS },
  async () => {
    const { canaries, codes, metrics, operationIds } = await run();
    const places: SearchedText[] = [
      ...(await databaseDump()),
      { name: "stdout and stderr", text: output },
      { name: "error bodies", text: errorBodies.join("\n") },
      {
        name: "webhooks",
        text: receiver.received
          .map(({ raw, headers }) => raw + JSON.stringify(headers))
          .join("\n"),
      },
      { name: "metrics", text: metrics.join("\n") },
      { name: "traces", text: collector.bodies.join("\n") },
    ];
    // An empty place would prove nothing, so each must contain some expected text.
    const has = (name: string, text: string): boolean =>
      places.find((place) => place.name === name)?.text.includes(text) === true;
    expect(has("stdout and stderr", '"path":"/me/email/verify"')).toBe(true);
    expect(has("error bodies", "invalid_request")).toBe(true);
    for (const id of operationIds) expect(has("webhooks", id)).toBe(true);
    expect(has("metrics", "causeway_")).toBe(true);
    expect(has("traces", "spanId")).toBe(true);
    expect(codes.length).toBeGreaterThanOrEqual(2);

    expect(findLeaks(canaries, places)).toEqual([]);
    // A single code could equal some other six-digit number by chance. A real leak shows all of
    // them.
    const leaked = findLeaks(codes, places);
    expect(
      new Set(leaked.map((leak) => leak.replace(/.*(the mailed code \d+).*/, "$1"))).size,
      leaked.join("\n"),
    ).toBeLessThan(codes.length);

    // Proves that the scanner works: it finds each canary, in each form, in each place.
    for (const canary of [...canaries, ...codes])
      for (const [form, text] of Object.entries(plantedForms(canary))) {
        const planted = places.map((place) => ({
          ...place,
          text: place.text.slice(0, KEPT_CHARS) + text,
        }));
        const found = new Set(findLeaks([canary], planted).map((leak) => leak.split(": ")[0]));
        expect([canary.name, form, found.size]).toEqual([canary.name, form, places.length]);
      }
  },
);
