import { randomBytes } from "node:crypto";
import { toHex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { ConfigError } from "./database";
import { loadConfig } from "./env";
import { DEVELOPMENT_CONSENT, productionProblems } from "./production";

type Given = Record<string, string>;

const random = (): string => randomBytes(32).toString("hex");

const development = {
  DATABASE_URL: "postgresql://user@127.0.0.1:5432/causeway",
  APP_SECRET: random(),
  KEY_ENCRYPTION_KEY: random(),
};

const production = {
  ...development,
  CAUSEWAY_ENV: "production",
  CHAINS_FILE: "lib/platform/config/chains/public.example.json",
  EXECUTOR_PRIVATE_KEY: `0x${random()}`,
  WEBHOOK_SECRET: randomBytes(8).toString("hex"),
  SMTP_URL: "smtps://mail.example.org",
  PUBLIC_URL: "https://pay.example.org",
};

const problems = (given: Given): readonly string[] => {
  try {
    loadConfig(given);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

/** The variables about which production complains. */
const blamed = (given: Given): string[] =>
  problems({ ...production, ...given }).map((problem) => problem.split(/[ :]/)[0] ?? "");

describe("production starts", () => {
  test("with secrets from a random generator, whichever they are", () => {
    for (let round = 0; round < 200; round += 1) {
      const keys = {
        APP_SECRET: random(),
        APP_SECRET_PREVIOUS: randomBytes(24).toString("base64"),
        KEY_ENCRYPTION_KEY: random(),
        KEY_ENCRYPTION_KEY_PREVIOUS: `${random()},${random()}`,
        WEBHOOK_SECRET: `whsec_${randomBytes(24).toString("base64")}`,
        EXECUTOR_PRIVATE_KEY: toHex(randomBytes(32)),
      };
      expect(productionProblems({ ...production, ...keys })).toEqual([]);
    }
  });

  test("over http and plain SMTP on this machine alone", () => {
    expect(
      blamed({ PUBLIC_URL: "http://localhost:3000", SMTP_URL: "smtp://127.0.0.1:1025" }),
    ).toEqual([]);
    expect(blamed({ SMTP_URL: "smtp://mail.example.org:587?requireTLS=true" })).toEqual([]);
  });
});

describe("production does not start", () => {
  test("with an address that is not https, or mail that is not encrypted", () => {
    expect(
      blamed({ PUBLIC_URL: "http://pay.example.org", SMTP_URL: "smtp://mail.example.org:587" }),
    ).toEqual(["PUBLIC_URL", "SMTP_URL"]);
  });

  test.each([
    ["zeros", "0".repeat(64)],
    ["one letter", "a".repeat(64)],
    ["two letters in turn", "ab".repeat(32)],
    ["the number one", `${"0".repeat(63)}1`],
    ["half of it twice", "0f1e2d3c4b5a69788796a5b4c3d2e1f0".repeat(2)],
    ["counting", "0123456789abcdef".repeat(4)],
  ])("with secrets made of %s", (_what, hex) => {
    expect(blamed({ APP_SECRET: hex })).toContain("APP_SECRET");
    expect(blamed({ KEY_ENCRYPTION_KEY: hex })).toContain("KEY_ENCRYPTION_KEY");
    expect(blamed({ KEY_ENCRYPTION_KEY_PREVIOUS: `${random()},${hex}` })).toContain(
      "KEY_ENCRYPTION_KEY_PREVIOUS",
    );
    expect(blamed({ WEBHOOK_SECRET: hex })).toContain("WEBHOOK_SECRET");
    expect(blamed({ EXECUTOR_PRIVATE_KEY: `0x${hex}` })).toContain("EXECUTOR_PRIVATE_KEY");
  });

  test.each(["x", "hook", "fifteen-letters"])("with the webhook secret %s", (secret) => {
    expect(blamed({ WEBHOOK_SECRET: secret })).toContain("WEBHOOK_SECRET");
  });

  test("with one secret for two purposes, however it is written", () => {
    const { APP_SECRET: secret } = production;
    expect(blamed({ KEY_ENCRYPTION_KEY: secret.toUpperCase() })).toEqual([
      "KEY_ENCRYPTION_KEY",
    ]);
    expect(blamed({ EXECUTOR_PRIVATE_KEY: `0x${secret}` })).toEqual(["EXECUTOR_PRIVATE_KEY"]);
    expect(blamed({ WEBHOOK_SECRET: secret })).toEqual(["WEBHOOK_SECRET"]);
    expect(blamed({ APP_SECRET_PREVIOUS: secret })).toEqual(["APP_SECRET_PREVIOUS"]);
  });

  test("with any key of the mnemonic that anvil publishes", () => {
    for (let addressIndex = 0; addressIndex < 10; addressIndex += 1) {
      const account = mnemonicToAccount(
        "test test test test test test test test test test test junk",
        {
          addressIndex,
        },
      );
      const key = toHex(account.getHdKey().privateKey ?? new Uint8Array());
      expect(problems({ ...production, EXECUTOR_PRIVATE_KEY: key })).toEqual([
        "EXECUTOR_PRIVATE_KEY is one of the published test keys of anvil; everybody has it",
      ]);
    }
  });

  test("without rate limits", () => {
    expect(
      blamed({
        RATE_LIMIT_PER_KEY: "0",
        RATE_LIMIT_PER_IP: "0",
        RATE_LIMIT_SIGN_IN_PER_IP: "0",
      }),
    ).toEqual(["RATE_LIMIT_PER_KEY", "RATE_LIMIT_PER_IP", "RATE_LIMIT_SIGN_IN_PER_IP"]);
  });

  test("without naming every problem at once, also beside a variable that cannot be read", () => {
    const given = {
      CAUSEWAY_ENV: "production",
      PORT: "99999",
      APP_SECRET: "a".repeat(40),
      WEBHOOK_SECRET: "x",
      PUBLIC_URL: "http://pay.example.org",
      RATE_LIMIT_PER_IP: "0",
      DEVNET: "1",
    };
    const found = problems(given).join("\n");
    for (const name of [
      "DATABASE_URL",
      "PORT",
      "KEY_ENCRYPTION_KEY",
      "SMTP_URL",
      ...Object.keys(given).slice(2),
    ])
      expect(found).toContain(name);
    expect(found).not.toContain(given.APP_SECRET);
  });
});

describe("development", () => {
  test("listens on this machine alone unless the environment says what that means", () => {
    expect(problems({ ...development, HOST: "0.0.0.0" }).join()).toContain("move money");
    expect(
      problems({ ...development, HOST: "::", DEVELOPMENT_ON_ALL_INTERFACES: "yes" }).join(),
    ).toContain("HOST");
    for (const HOST of ["127.0.0.1", "localhost", "::1", ""])
      expect(problems({ ...development, HOST })).toEqual([]);
    const consent = { HOST: "0.0.0.0", DEVELOPMENT_ON_ALL_INTERFACES: DEVELOPMENT_CONSENT };
    expect(problems({ ...development, ...consent })).toEqual([]);
    expect(problems({ ...production, HOST: "0.0.0.0" })).toEqual([]);
  });
});
