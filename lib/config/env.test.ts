import { describe, expect, test } from "vitest";
import { ConfigError, loadConfig } from "./env";

const good = {
  DATABASE_URL: "postgresql://user@127.0.0.1:5432/causeway",
  APP_SECRET: "a-secret-that-is-long-enough-for-it",
  KEY_ENCRYPTION_KEY: "ab".repeat(32),
};

const production = {
  ...good,
  CAUSEWAY_ENV: "production",
  WEBHOOK_SECRET: "hook",
  SMTP_URL: "smtp://mail.example.org:587",
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

describe("the configuration", () => {
  test("names every problem at once, and no value of a secret", () => {
    const found = problems({
      DATABASE_URL: "mysql://x",
      APP_SECRET: "short-secret",
      KEY_ENCRYPTION_KEY: "zz",
      PORT: "99999",
    });
    expect(found.map((problem) => problem.split(":")[0])).toEqual([
      "DATABASE_URL",
      "PORT",
      "APP_SECRET",
      "KEY_ENCRYPTION_KEY",
    ]);
    expect(found.join()).not.toContain("short-secret");
  });

  test("in production refuses development secrets and asks for what it needs", () => {
    const dev = { ...good, CAUSEWAY_ENV: "production", APP_SECRET: `dev_${good.APP_SECRET}`, DEVNET: "1" };
    const found = problems(dev).join("\n");
    for (const name of ["APP_SECRET", "WEBHOOK_SECRET", "SMTP_URL", "PUBLIC_URL", "DEVNET"])
      expect(found).toContain(name);
    expect(problems(production)).toEqual([]);
  });

  test("refuses development where a chain carries real money", () => {
    expect(problems({ ...good, CHAINS_FILE: "lib/config/chains/public.example.json" }).join()).toContain("real money");
    expect(problems(good)).toEqual([]);
  });

  test("takes the RPC URLs of a chain from the environment", () => {
    const { chains, publicUrl } = loadConfig({
      ...production,
      RPC_URL_31338: "http://10.0.0.1:8545, http://10.0.0.2:8545",
    });
    expect(chains.find((chain) => chain.id === 31338)?.rpcUrls).toEqual([
      "http://10.0.0.1:8545",
      "http://10.0.0.2:8545",
    ]);
    expect(publicUrl).toBe("https://pay.example.org");
  });

  test("reads the example for public networks", () => {
    const { chains } = loadConfig({ ...production, CHAINS_FILE: "lib/config/chains/public.example.json" });
    expect(chains.map((chain) => chain.id)).toEqual([1, 8453]);
  });
});
