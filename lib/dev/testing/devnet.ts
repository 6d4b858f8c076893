import { randomBytes } from "node:crypto";
import { createTestClient, http, parseEther, toHex, type Address } from "viem";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { loadConfig, type Config } from "@/lib/platform/config/env";
import { allowMarker } from "@/lib/dev/devnet/marker";
import { heedDepositsOf, ignoreDepositsOf, sharedDevnet } from "./hub";

export interface TestDevnet {
  /** The chains of `lib/platform/config/chains/local.json`, with the RPC URLs of this run. */
  readonly chains: readonly ChainConfig[];
  /** JSON-RPC URLs by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** URL of the provider of association sets. */
  readonly associationUrl: string;
  /** Sets the balance of an account, in whole coins, on every chain. */
  setCoins(address: Address, coins: string): Promise<void>;
  /** Allows an account to mark operations for the paymaster, on every chain. */
  allowMarker(address: Address): Promise<void>;
  /**
   * While `work` runs, the solver does not fill deposits of this depositor. Such deposits are
   * refunded after their deadline.
   */
  unfilled<T>(depositor: Address, work: () => Promise<T>): Promise<T>;
}

type Variables = Readonly<Record<string, string>>;

// URL for services that were not started. It has the discard port, so that no other server is
// reached by chance.
const NOWHERE = "http://127.0.0.1:9";
const LOCAL_CHAIN_IDS = ["31337", "31338", "31339"];

const associationVariables = (url: string | undefined): Variables =>
  Object.fromEntries(LOCAL_CHAIN_IDS.map((id) => [`ASP_URL_${id}`, url ?? NOWHERE]));

const rpcVariables = (rpcUrls: Readonly<Record<string, string>> | null): Variables =>
  Object.fromEntries(LOCAL_CHAIN_IDS.map((id) => [`RPC_URL_${id}`, rpcUrls?.[id] ?? NOWHERE]));

/**
 * The configuration of a test: development, no rate limits, random secrets, the local chains.
 * Without `rpcUrls` the chains are configured but unreachable.
 */
export const testConfig = (own: {
  readonly databaseUrl: string;
  readonly rpcUrls?: Readonly<Record<string, string>> | null;
  readonly associationUrl?: string | undefined;
  readonly variables?: Variables;
}): Config =>
  loadConfig({
    CAUSEWAY_ENV: "development",
    DATABASE_URL: own.databaseUrl,
    LOG_LEVEL: "silent",
    APP_SECRET: `dev_${randomBytes(32).toString("hex")}`,
    KEY_ENCRYPTION_KEY: `dev_${randomBytes(32).toString("hex")}`,
    EXECUTOR_PRIVATE_KEY: `dev_${toHex(randomBytes(32))}`,
    VAPID_PRIVATE_KEY: `dev_${randomBytes(32).toString("base64url")}`,
    DEVNET: own.rpcUrls ? "1" : "0",
    // Loaded machines need longer than a service in use.
    REQUEST_SECONDS_MAX: "60",
    RATE_LIMIT_PER_KEY: "0",
    RATE_LIMIT_PER_IP: "0",
    RATE_LIMIT_SIGN_IN_PER_IP: "0",
    ...rpcVariables(own.rpcUrls ?? null),
    ...associationVariables(own.associationUrl),
    ...own.variables,
  });

/**
 * The three local chains with all contracts and the solver, which all files of the run share. Use
 * separate accounts, and never move the chains' time: for that, start separate chains with
 * `startDevnet`.
 */
export const testDevnet = async (): Promise<TestDevnet> => {
  const { rpcUrls, associationUrl } = await sharedDevnet();
  const { chains } = testConfig({
    databaseUrl: "postgresql://unused@127.0.0.1:9/unused",
    rpcUrls,
    associationUrl,
  });
  return {
    chains,
    rpcUrls,
    associationUrl,
    setCoins: async (address, coins) => {
      const clients = chains.map(({ rpcUrls: [url] }) =>
        createTestClient({ mode: "anvil", transport: http(url) }),
      );
      await Promise.all(
        clients.map((client) => client.setBalance({ address, value: parseEther(coins) })),
      );
    },
    allowMarker: async (address) => {
      await Promise.all(Object.values(rpcUrls).map((url) => allowMarker(url, address)));
    },
    unfilled: async (depositor, work) => {
      await ignoreDepositsOf(depositor);
      try {
        return await work();
      } finally {
        await heedDepositsOf(depositor);
      }
    },
  };
};
