import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import pg from "pg";
import { toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { beforeAll, expect, test, vi } from "vitest";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import { createServices, setServices, type Services } from "@/lib/composition";
import { refreshToken, whoAmI } from "@/lib/contracts/auth";
import { executeSwap } from "@/lib/contracts/swap";
import { createManagedKeyRepository } from "@/lib/trust/wallets/repository";
import { testApi, type TestApi, type TestApiKey } from "@/lib/dev/testing/api";
import { entryFile } from "@/lib/dev/testing/entry";
import { testDatabase, type TestDatabase } from "@/lib/dev/testing/database";
import { testConfig, testDevnet, type TestDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { startWorker } from "@/lib/workers/runner";
import { createEnvelopes, createKeyring, keyIdOf } from "./service";
import { afterFile } from "@/lib/dev/testing/after-file";

type Variables = Readonly<Record<string, string>>;

const CHAIN_ID = 31337;
/** Each test starts processes and moves money several times. */
const TEST_TIMEOUT_MS = 240_000;
const PROCESS_TIMEOUT_MS = 90_000;
const hex = (): string => randomBytes(32).toString("hex");
const [OLD_KEY, NEW_KEY, FOREIGN_KEY] = [hex(), hex(), hex()];
const [OLD_SECRET, NEW_SECRET] = [hex(), hex()];
const EXECUTOR = toHex(randomBytes(32));
const idOf = (key: string): string => keyIdOf(Buffer.from(key, "hex"));

/** The steps of a rotation, as documented in docs/operations.md. */
const BEFORE = { APP_SECRET: OLD_SECRET, KEY_ENCRYPTION_KEY: OLD_KEY };
const BOTH = {
  known: { ...BEFORE, APP_SECRET_PREVIOUS: NEW_SECRET, KEY_ENCRYPTION_KEY_PREVIOUS: NEW_KEY },
  current: {
    APP_SECRET: NEW_SECRET,
    APP_SECRET_PREVIOUS: OLD_SECRET,
    KEY_ENCRYPTION_KEY: NEW_KEY,
    KEY_ENCRYPTION_KEY_PREVIOUS: OLD_KEY,
  },
};
const AFTER = { APP_SECRET: NEW_SECRET, KEY_ENCRYPTION_KEY: NEW_KEY };

let db: TestDatabase;
let devnet: TestDevnet;
let api: TestApi;
let customer: Customer;
let key: TestApiKey;
let unusedKey: TestApiKey;
let refresh: string;

const variablesOf = (secrets: Variables): Variables => ({
  ...secrets,
  EXECUTOR_PRIVATE_KEY: EXECUTOR,
});

/** Runs `work` with an instance that has just started with these secrets. */
const withInstance = async (
  secrets: Variables,
  work: (services: Services) => Promise<void>,
): Promise<void> => {
  const config = testConfig({
    databaseUrl: db.url,
    rpcUrls: devnet.rpcUrls,
    variables: variablesOf(secrets),
  });
  const services = createServices(config);
  setServices(services);
  try {
    await services.requireKeys();
    await work(services);
  } finally {
    await services.close();
  }
};

const transfer = async (): Promise<string> => {
  const { client } = customer.session;
  const body = {
    fromWalletId: customer.treasuryId,
    toAddress: testAccount().address,
    fromChainId: CHAIN_ID,
    toChainId: CHAIN_ID,
    token: "USDC",
    amount: "1",
  };
  const { transferId } = await prepareTransfer(api, customer, body);
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  return (await waitUntilFinal(client, operationId)).status;
};

/**
 * Signs in, calls with an API key and a session from before, and moves money of the treasury, on
 * one instance.
 */
const expectToServe = (secrets: Variables): Promise<void> =>
  withInstance(secrets, async (services) => {
    const worker = startWorker(services);
    try {
      expect(await key.client.call(whoAmI, {})).toMatchObject({ type: "apiKey" });
      expect(await customer.session.client.call(whoAmI, {})).toMatchObject({ type: "user" });
      const renewed = await api
        .client()
        .call(refreshToken, { body: { refreshToken: refresh } });
      refresh = renewed.refreshToken;
      await newCustomer(api);
      expect(await transfer()).toBe("completed");
    } finally {
      await worker.stop();
    }
  });

interface Run {
  readonly child: ChildProcess;
  readonly finished: Promise<{ code: number | null; output: string }>;
}

const run = (entry: readonly string[], variables: Variables): Run => {
  const config = {
    CAUSEWAY_ENV: "development",
    DATABASE_URL: db.url,
    ROLE: "worker",
    CAUSEWAY_DATA_DIR: dataDir,
  };
  const child = spawn(process.execPath, [...entry], {
    env: { NODE_ENV: "test", ...config, ...variablesOf(variables) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  children.add(child);
  const finished = once(child, "close").then(([code]) => ({
    code: code as number | null,
    output,
  }));
  return { child, finished };
};
const children = new Set<ChildProcess>();
const rotate = (variables: Variables, ...args: string[]): Run =>
  run([entryFile("causeway"), "keys:rotate", ...args], variables);

const keyIds = async (): Promise<Record<string, string>> => {
  const rows = await db.database.prisma.managedKey.findMany({
    select: { id: true, kekId: true },
  });
  return Object.fromEntries(rows.map(({ id, kekId }) => [id, kekId]));
};

/** Further wallet keys of the service, so that the rotation takes long enough to be killed. */
const SPARE_KEYS = Array.from(
  { length: 20 },
  (_, index) => `spare-${String(index).padStart(2, "0")}`,
);
const LOCKED = "spare-10";

let dataDir = "";

beforeAll(async () => {
  [db, devnet] = await Promise.all([testDatabase(), testDevnet()]);
  dataDir = mkdtempSync(`${tmpdir()}/causeway-rotation-`);
  afterFile(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  await devnet.setCoins(privateKeyToAddress(EXECUTOR), "1000");
  // Its services are never called, because each instance of this file replaces them.
  api = await testApi({ variables: variablesOf(BEFORE) });
  await withInstance(BEFORE, async () => {
    customer = await newCustomer(api);
    refresh = customer.session.refreshToken;
    key = await api.createKey(customer.session);
    unusedKey = await api.createKey(customer.session);
    await fund(customer.session.client, customer.treasury, {
      chainId: CHAIN_ID,
      token: "USDC",
      amount: "100",
    });
  });
  const envelopes = createEnvelopes(createKeyring([Buffer.from(OLD_KEY, "hex")]));
  const signer = createLocalSigner({
    store: createManagedKeyRepository(db.database),
    envelopes,
  });
  for (const keyId of SPARE_KEYS) await signer.create({ keyId, projectId: null });
});

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

test("before it, both instances serve", async () => {
  await expectToServe(BEFORE);
  await expectToServe(BOTH.known);
});

test("too early without the old key, no instance starts, and the message says what to do", async () => {
  const { code, output } = await run([entryFile("server")], AFTER).finished;
  expect(code).toBe(1);
  expect(output).toContain("Causeway did not start. The keys: ");
  for (const rows of ["wallet keys", "token signing keys"])
    expect(output).toContain(
      `The database has ${rows} under key ${idOf(OLD_KEY)}, which is not configured.`,
    );
  expect(output).toContain(
    "Put the missing key into KEY_ENCRYPTION_KEY_PREVIOUS, and run `npm run keys:rotate`",
  );
  expect(output).not.toContain(NEW_KEY);
  const check = await rotate(BOTH.current, "--check").finished;
  expect(check.code).toBe(1);
  expect(check.output).toContain("rows are not under the current key");
});

test("killed in the middle, it leaves both instances able to serve", async () => {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM managed_key WHERE id = $1 FOR UPDATE", [LOCKED]);
  const { child, finished } = rotate(BOTH.current);
  // The rows before the locked one are done, and the rotation waits at that one.
  await vi.waitFor(async () => expect((await keyIds())["spare-09"]).toBe(idOf(NEW_KEY)), {
    timeout: PROCESS_TIMEOUT_MS,
  });
  child.kill("SIGKILL");
  await finished;
  const ids = await keyIds();
  expect(ids[LOCKED]).toBe(idOf(OLD_KEY));
  expect(ids["spare-11"]).toBe(idOf(OLD_KEY));
  await client.query("ROLLBACK");
  await client.end();
  await expectToServe(BOTH.known);
  await expectToServe(BOTH.current);
});

test("run again, it finishes beside an instance that serves, and says that the old key may go", async () => {
  const again = rotate(BOTH.current);
  await expectToServe(BOTH.current);
  const { code, output } = await again.finished;
  expect([code, output]).toEqual([0, expect.stringContaining("wallet keys: ") as string]);
  expect(new Set(Object.values(await keyIds()))).toEqual(new Set([idOf(NEW_KEY)]));
  const signer = createLocalSigner({
    store: createManagedKeyRepository(db.database),
    envelopes: createEnvelopes(createKeyring([Buffer.from(NEW_KEY, "hex")])),
  });
  for (const keyId of SPARE_KEYS)
    expect(await signer.address({ keyId, projectId: null })).toMatch(/^0x/);
  const check = await rotate(BOTH.current, "--check").finished;
  expect(check.output).toContain(
    `${idOf(OLD_KEY)} may be removed from KEY_ENCRYPTION_KEY_PREVIOUS.`,
  );
  expect(check.output).not.toContain(OLD_KEY);
});

test("says which API keys would stop working, and keeps those that were used", async () => {
  const check = await rotate(BOTH.current, "--check").finished;
  expect(check.code).toBe(1);
  expect(check.output).toContain("API keys: 1 were not used since APP_SECRET was changed.");
  await withInstance(BOTH.current, async () => {
    expect(await unusedKey.client.call(whoAmI, {})).toMatchObject({ type: "apiKey" });
    await vi.waitFor(
      async () => expect((await rotate(BOTH.current, "--check").finished).code).toBe(0),
      {
        timeout: PROCESS_TIMEOUT_MS,
        interval: 500,
      },
    );
  });
});

test("after it, instances without the old key and secret serve", async () => {
  await expectToServe(AFTER);
  await expectToServe(AFTER);
  expect((await rotate(AFTER, "--check").finished).code).toBe(0);
});

test("the key of access tokens is changed, and the old one removed at once, by the same command", async () => {
  const kidsNow = async (): Promise<string[]> => {
    const rows = await db.database.prisma.tokenKey.findMany({ orderBy: { createdAt: "desc" } });
    return rows.map(({ kid }) => kid);
  };
  const [old = ""] = await kidsNow();
  expect((await rotate(AFTER, "--signing").finished).code).toBe(0);
  const [current = ""] = await kidsNow();
  expect(await kidsNow()).toEqual([current, old]);
  expect(current).not.toBe(old);
  expect((await rotate(AFTER, "--signing", "--remove", old).finished).code).toBe(0);
  expect(await kidsNow()).toEqual([current]);
  expect((await rotate(AFTER, "--signing", "--remove", old).finished).code).toBe(1);
  // Tokens of the removed key are refused; the session issues new ones.
  await withInstance(AFTER, async () => {
    await expect(customer.session.client.call(whoAmI, {})).rejects.toMatchObject({
      code: "unauthorized",
    });
    const { accessToken } = await api
      .client()
      .call(refreshToken, { body: { refreshToken: refresh } });
    const client = api.client({ authorization: `Bearer ${accessToken}` });
    expect(await client.call(whoAmI, {})).toMatchObject({ type: "user" });
  });
});

test("never finishes while rows are under a key that is not configured, and nothing starts", async () => {
  const store = createManagedKeyRepository(db.database);
  const envelopes = createEnvelopes(createKeyring([Buffer.from(FOREIGN_KEY, "hex")]));
  await createLocalSigner({ store, envelopes }).create({ keyId: "foreign", projectId: null });
  const { code, output } = await rotate(AFTER).finished;
  expect(code).toBe(1);
  expect(output).toContain(`The key ${idOf(FOREIGN_KEY)} of wallet keys is not configured.`);
  await expect(withInstance(AFTER, () => Promise.resolve())).rejects.toThrow(
    `The database has wallet keys under key ${idOf(FOREIGN_KEY)}, which is not configured.`,
  );
});
