import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { createServices, setServices } from "@/lib/composition";
import { renumberedChainsFile } from "@/lib/dev/testing/chains-file";
import { loadConfig } from "@/lib/platform/config/env";
import { createPageHeaders } from "./headers";
import { getPublicConfig } from "./public-config";

const config = loadConfig({
  CAUSEWAY_ENV: "production",
  CHAINS_FILE: renumberedChainsFile(),
  EXECUTOR_PRIVATE_KEY: `0x${randomBytes(32).toString("hex")}`,
  DATABASE_URL: "postgresql://user@127.0.0.1:9/causeway",
  APP_SECRET: randomBytes(32).toString("hex"),
  KEY_ENCRYPTION_KEY: randomBytes(32).toString("hex"),
  WEBHOOK_SECRET: randomBytes(32).toString("hex"),
  SMTP_URL: "smtps://mail.example.org",
  PUBLIC_URL: "https://pay.example.org",
  RPC_URL_131337: "https://operator.example.org/v2/key-of-the-operator",
  RPC_URL_131338: "https://operator.example.org/?key=key-of-the-operator",
  PUBLIC_RPC_URL_131338: "https://public.example.org/rpc",
});
const services = createServices(config);
setServices(services);
afterAll(() => services.close());

test("pages get the public RPC URLs alone, and may ask no other node", () => {
  expect(getPublicConfig().chains.map(({ id, rpcUrl }) => [id, rpcUrl])).toEqual([
    [131337, null],
    [131338, "https://public.example.org/rpc"],
    [131339, null],
  ]);
  expect(JSON.stringify(getPublicConfig())).not.toContain("operator");
  const { "content-security-policy": policy } = createPageHeaders({
    ...config,
    walletConnect: false,
  })(null);
  expect(policy).toContain("connect-src 'self' https://public.example.org;");
  expect(policy).not.toContain("operator");
});
