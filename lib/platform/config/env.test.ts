import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { redactSecrets } from "@/lib/core/redaction";
import { ConfigError, loadDatabaseConfig } from "./database";
import { loadConfig, variableNames } from "./env";

interface LooseChain {
  contracts: Record<string, unknown>;
}

const good = {
  DATABASE_URL: "postgresql://user@127.0.0.1:5432/causeway",
  APP_SECRET: "a-secret-that-is-long-enough-for-it",
  KEY_ENCRYPTION_KEY: "4fd1c9e07b3a52867ce0d94b18f6a325d07b9c41ee6f8a1350b2c7d83e94f61a",
};

const EXECUTOR_KEY = "0x8d3c91f6a50be2748c1f4a0b9d72e65317c8fae04b2d6e95a13f70c8d4b62e1f";

const production = {
  ...good,
  CAUSEWAY_ENV: "production",
  CHAINS_FILE: "lib/platform/config/chains/public.example.json",
  EXECUTOR_PRIVATE_KEY: EXECUTOR_KEY,
  WEBHOOK_SECRET: "wh-8Kd02nQpZr5LxT7y",
  SMTP_URL: "smtps://user:pass-for-mail@mail.example.org",
  PUBLIC_URL: "https://pay.example.org/",
};

const problems = (variables: Record<string, string>): readonly string[] => {
  try {
    loadConfig(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

describe("who may sign up", () => {
  const [ada, bob] = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  ];

  test("is everybody in development, and nobody but the first person in production, unless it is said", () => {
    expect(loadConfig(good).signUp).toEqual({ mode: "open" });
    expect(loadConfig(production).signUp).toEqual({ mode: "closed" });
    expect(loadConfig({ ...production, SIGN_UP: "open" }).signUp).toEqual({ mode: "open" });
    expect(loadConfig({ ...good, SIGN_UP: "closed", SIGN_UP_ALLOW: "" }).signUp).toEqual({
      mode: "closed",
    });
  });

  test("is a list of addresses, checksummed", () => {
    const variables = {
      ...good,
      SIGN_UP: "allow-list",
      SIGN_UP_ALLOW: `${ada.toLowerCase()}, ${bob},`,
    };
    expect(loadConfig(variables).signUp).toEqual({ mode: "allow-list", addresses: [ada, bob] });
  });

  test("is refused where it makes no sense", () => {
    expect(problems({ ...good, SIGN_UP: "allow-list" })).toEqual([
      expect.stringContaining("needs SIGN_UP_ALLOW"),
    ]);
    expect(problems({ ...good, SIGN_UP_ALLOW: ada })).toEqual([
      expect.stringContaining("only read with"),
    ]);
    expect(problems({ ...good, SIGN_UP: "allow-list", SIGN_UP_ALLOW: `${ada},0x12` })).toEqual([
      expect.stringContaining("0x12 is no address"),
    ]);
    expect(problems({ ...good, SIGN_UP: "invite" })).toEqual([
      "SIGN_UP must be one of open, allow-list, closed",
    ]);
  });
});

test("names every problem at once, and no value of a secret", () => {
  const found = problems({
    DATABASE_URL: "mysql://x",
    APP_SECRET: "short-secret",
    KEY_ENCRYPTION_KEY: "zz",
    PORT: "99999",
  });
  expect(found).toEqual([
    "DATABASE_URL must be a URL that begins with postgresql://",
    "PORT must be at most 65535",
    "APP_SECRET must have at least 32 characters",
    "KEY_ENCRYPTION_KEY must be 64 hex digits (32 bytes)",
  ]);
  expect(found.join()).not.toContain("short-secret");
});

test("in production refuses development secrets and asks for what it needs", () => {
  const dev = {
    ...good,
    CAUSEWAY_ENV: "production",
    APP_SECRET: `dev_${good.APP_SECRET}`,
    DEVNET: "1",
  };
  const found = problems(dev).join("\n");
  for (const name of ["APP_SECRET", "WEBHOOK_SECRET", "SMTP_URL", "PUBLIC_URL", "DEVNET"])
    expect(found).toContain(name);
  expect(problems(production)).toEqual([]);
});

test("production names everything that is missing at once, and how it is made", () => {
  const found = problems({ CAUSEWAY_ENV: "production" });
  expect(found.map((problem) => problem.split(" is missing; ")[0]).sort()).toEqual([
    "APP_SECRET",
    "CHAINS_FILE",
    "DATABASE_URL",
    "EXECUTOR_PRIVATE_KEY",
    "KEY_ENCRYPTION_KEY",
    "PUBLIC_URL",
    "SMTP_URL",
    "WEBHOOK_SECRET",
  ]);
  for (const problem of found) expect(problem).toMatch(/ is missing; (make one|set it)/);
});

test("production needs no executor where every chain has a bundler and no paymaster", () => {
  const { EXECUTOR_PRIVATE_KEY: _executor, ...without } = production;
  const one = { ...without, BUNDLER_URL_1: "https://bundler.example.org" };
  expect(problems(one)).toEqual([expect.stringContaining("EXECUTOR_PRIVATE_KEY is missing")]);
  const both = { ...one, BUNDLER_URL_8453: "https://bundler.example.org" };
  expect(problems(both).join()).not.toContain("is missing");
});

test("a migration needs the database's URL and nothing else", () => {
  expect(loadDatabaseConfig({ DATABASE_URL: good.DATABASE_URL, PORT: "x" })).toEqual({
    databaseUrl: good.DATABASE_URL,
    isDatabasePooled: false,
    listenUrl: good.DATABASE_URL,
    databaseOwnerUrl: null,
  });
  expect(() => loadDatabaseConfig({})).toThrow(/DATABASE_URL is missing; set it to/);
});

test("refuses development where a chain carries real money", () => {
  expect(
    problems({ ...good, CHAINS_FILE: "lib/platform/config/chains/public.example.json" }).join(),
  ).toContain("real money");
  expect(problems(good)).toEqual([]);
});

test("wants an executor where a bundler serves a chain with a paymaster", () => {
  const bundler = { ...good, BUNDLER_URL_31338: "http://127.0.0.1:4337" };
  expect(problems(bundler).join()).toContain("EXECUTOR_PRIVATE_KEY is needed on Local 2");
  expect(problems({ ...bundler, EXECUTOR_PRIVATE_KEY: `0x${"ab".repeat(32)}` })).toEqual([]);
});

test("takes several executor keys, the first one apart, and hides all of them", () => {
  const [one, two, three] = [
    `0x${"a1".repeat(32)}`,
    `0x${"b2".repeat(32)}`,
    `0x${"c3".repeat(32)}`,
  ];
  const keys = { EXECUTOR_PRIVATE_KEY: one, EXECUTOR_PRIVATE_KEYS: `${two}, dev_${three}` };
  const config = loadConfig({ ...good, ...keys });
  expect([config.executorPrivateKey, config.executorPrivateKeys]).toEqual([
    one,
    [one, two, three],
  ]);
  expect(redactSecrets(`${two} ${three}`)).not.toMatch(/b2b2|c3c3/);
  expect(problems({ ...good, EXECUTOR_PRIVATE_KEYS: two }).join()).toContain(
    "needs EXECUTOR_PRIVATE_KEY",
  );
  expect(problems({ ...good, ...keys, EXECUTOR_PRIVATE_KEYS: "0x12" }).join()).toContain(
    "EXECUTOR_PRIVATE_KEYS",
  );
});

test("takes a chain's private relay, which is never shown", () => {
  const url = "https://relay.example.org/secret-path-of-the-relay";
  const config = loadConfig({ ...good, PRIVATE_RELAY_URL_31338: url });
  expect(config.chains.map(({ privateRelayUrl }) => privateRelayUrl)).toEqual([
    undefined,
    url,
    undefined,
  ]);
  expect(redactSecrets(`no answer from ${url}`)).not.toContain("secret-path-of-the-relay");
});

test("refuses a paymaster of the kind that consents by its signature, and says what to do", () => {
  const { chains } = JSON.parse(
    readFileSync("lib/platform/config/chains/local.json", "utf8"),
  ) as {
    chains: LooseChain[];
  };
  const [chain] = chains;
  if (chain === undefined) throw new Error("The file names no chain.");
  chain.contracts.verifyingPaymaster = chain.contracts.paymaster;
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  writeFileSync(join(folder, "chains.json"), JSON.stringify({ chains }));
  const found = problems({ ...good, CHAINS_FILE: join(folder, "chains.json") });
  rmSync(folder, { recursive: true });
  expect(found.join()).toContain(
    "chains.0.contracts.verifyingPaymaster is not supported any more",
  );
});

test("takes the RPC URLs of a chain from the environment", () => {
  const { chains, publicUrl } = loadConfig({
    ...production,
    RPC_URL_8453: "http://10.0.0.1:8545, http://10.0.0.2:8545",
  });
  expect(chains.find((chain) => chain.id === 8453)?.rpcUrls).toEqual([
    "http://10.0.0.1:8545",
    "http://10.0.0.2:8545",
  ]);
  expect(publicUrl).toBe("https://pay.example.org");
});

test("takes the budget of requests of a chain from the environment, and refuses one that is no number", () => {
  const { chains } = loadConfig({ ...production, RPC_BUDGET_8453: "50" });
  expect(chains.map(({ rpcBudgetPerSecond }) => rpcBudgetPerSecond)).toEqual([undefined, 50]);
  expect(problems({ ...good, RPC_BUDGET_31338: "many" }).join()).toContain(
    "chains.1.rpcBudgetPerSecond must be a whole number of requests a second",
  );
});

test("keeps the service's own RPC URLs to itself in production, and in development those of other machines", () => {
  const publicUrls = (variables: Record<string, string>) =>
    loadConfig(variables).chains.map((chain) => chain.publicRpcUrl);
  const own = { RPC_URL_1: "http://127.0.0.1:8545", RPC_URL_8453: "http://127.0.0.1:8546" };
  const named = { PUBLIC_RPC_URL_8453: "https://public.example.org" };
  const [ethereum] = publicUrls(production);
  expect(publicUrls({ ...production, ...own, ...named })).toEqual([
    ethereum,
    "https://public.example.org",
  ]);
  const local = {
    RPC_URL_31337: "http://127.0.0.1:8545",
    RPC_URL_31338: "https://rpc.example.org/v2/the-operators-key",
    PUBLIC_RPC_URL_31339: "https://public.example.org",
  };
  expect(publicUrls({ ...good, ...local })).toEqual([
    "http://127.0.0.1:8545",
    undefined,
    "https://public.example.org",
  ]);
});

test("takes every empty variable for an unset one", () => {
  const empty = Object.fromEntries(
    variableNames
      .filter((name) => !(name in good))
      .map((name) => [name.replace("<id>", "31337"), ""]),
  );
  expect(loadConfig({ ...empty, ...good })).toEqual(loadConfig(good));
  expect(problems({ ...production, SMTP_URL: "" })).toEqual([
    expect.stringMatching(/^SMTP_URL is missing; set it to your mail server/),
  ]);
});

test("reads the example for public networks", () => {
  const { chains } = loadConfig(production);
  expect(chains.map((chain) => chain.id)).toEqual([1, 8453]);
  expect(chains.map((chain) => chain.publicRpcUrl)).not.toContain(undefined);
});
