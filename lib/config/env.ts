import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { chainsFile, type ChainConfig } from "./chains";

/** Secrets that begin with this were made for development; production refuses them. */
export const DEVELOPMENT_SECRET_PREFIX = "dev_";
const DEFAULT_CHAINS_FILE = "lib/config/chains/local.json";
const SECRET_LENGTH_MIN = 32;

const optional = <T extends z.ZodType>(type: T): z.ZodOptional<z.ZodPreprocess<T>> =>
  z.preprocess((value) => (value === "" ? undefined : value), type).optional();

const privateKey = z.string().regex(/^(dev_)?0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
const secret = z.string().min(SECRET_LENGTH_MIN, `must have at least ${String(SECRET_LENGTH_MIN)} characters`);

const environment = z.object({
  CAUSEWAY_ENV: z.enum(["development", "production"]).default("development"),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }),
  /** Connections of one process to the database, all its pools together; split by lib/db/connections.ts. */
  DATABASE_CONNECTIONS_MAX: z.coerce.number().int().min(6).max(200).default(20),
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: optional(z.url()),
  ROLE: z.enum(["web", "worker", "all"]).default("all"),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  APP_SECRET: secret,
  KEY_ENCRYPTION_KEY: z.string().regex(/^(dev_)?[0-9a-fA-F]{64}$/, "must be 64 hex digits (32 bytes)"),
  EXECUTOR_PRIVATE_KEY: optional(privateKey),
  SMTP_URL: optional(z.url({ protocol: /^smtps?$/ })),
  MAIL_FROM: z.string().default("Causeway <no-reply@localhost>"),
  WEBHOOK_SECRET: optional(z.string().min(1)),
  CHAINS_FILE: z.string().default(DEFAULT_CHAINS_FILE),
  WALLETCONNECT_PROJECT_ID: optional(z.string().min(1)),
  /** Set by the supervisor where it runs local chains: opens the faucet and the burner wallet. */
  DEVNET: z.enum(["0", "1"]).default("0"),
  /** Proxies whose `X-Forwarded-For` is believed, as a count of hops; 0 believes none. */
  TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).max(10).default(0),
  /** Requests per 60 s, for each API key or person, and for each address; 0 is no limit. */
  RATE_LIMIT_PER_KEY: z.coerce.number().int().min(0).default(3600),
  RATE_LIMIT_PER_IP: z.coerce.number().int().min(0).default(7200),
  RATE_LIMIT_SIGN_IN_PER_IP: z.coerce.number().int().min(0).default(120),
});

export interface Config {
  readonly env: "development" | "production";
  readonly databaseUrl: string;
  readonly databaseConnectionsMax: number;
  readonly port: number;
  readonly host: string;
  /** Origin of the app as browsers see it, without a slash at the end. */
  readonly publicUrl: string;
  readonly role: "web" | "worker" | "all";
  readonly logLevel: string;
  readonly appSecret: string;
  readonly keyEncryptionKey: Buffer;
  readonly executorPrivateKey: `0x${string}` | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly webhookSecret: string | null;
  readonly walletConnectProjectId: string | null;
  readonly devnet: boolean;
  readonly trustedProxyHops: number;
  /** Requests per 60 s; 0 is no limit. */
  readonly rateLimitPerKey: number;
  readonly rateLimitPerIp: number;
  /** Of nonces and signatures to sign in with. */
  readonly rateLimitSignInPerIp: number;
  readonly chains: readonly ChainConfig[];
  /** ERC-4337 bundler by chain id (`BUNDLER_URL_<id>`); chains without one use the service's own executor. */
  readonly bundlerUrls: ReadonlyMap<number, string>;
}

/** What a process that this one starts is given, before settings of its own. */
export const inheritedEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env });

/** The configuration cannot be used; the message lists every problem, never a value of a secret. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${String(problems.length)} problem(s):\n${problems.map((problem) => `  - ${problem}`).join("\n")}`,
    );
    this.name = "ConfigError";
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

const list = (value: string): string[] => value.split(",").map((part) => part.trim());

const readChains = (file: string, variables: Variables, problems: string[]): ChainConfig[] => {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(resolve(file), "utf8"));
  } catch (error) {
    problems.push(`CHAINS_FILE ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
    return [];
  }
  const overridden = overrideUrls(json, variables);
  const parsed = chainsFile.safeParse(overridden);
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues.map((issue) => `CHAINS_FILE ${file}: ${issue.path.join(".")}: ${issue.message}`),
    );
    return [];
  }
  return parsed.data.chains;
};

const looseChains = z.object({ chains: z.array(z.looseObject({ id: z.unknown() })) });

const overrideUrls = (json: unknown, variables: Variables): unknown => {
  const loose = looseChains.safeParse(json);
  if (!loose.success) return json;
  return {
    chains: loose.data.chains.map((chain) => {
      const rpc = variables[`RPC_URL_${String(chain.id)}`];
      const publicRpc = variables[`PUBLIC_RPC_URL_${String(chain.id)}`];
      return { ...chain, ...(rpc ? { rpcUrls: list(rpc) } : {}), ...(publicRpc ? { publicRpcUrl: publicRpc } : {}) };
    }),
  };
};

const withoutPrefix = (value: string): string =>
  value.startsWith(DEVELOPMENT_SECRET_PREFIX) ? value.slice(DEVELOPMENT_SECRET_PREFIX.length) : value;

const SECRETS = ["APP_SECRET", "KEY_ENCRYPTION_KEY", "EXECUTOR_PRIVATE_KEY"] as const;

const productionProblems = (env: z.output<typeof environment>): string[] => {
  if (env.CAUSEWAY_ENV !== "production") return [];
  const problems = SECRETS.filter((name) => env[name]?.startsWith(DEVELOPMENT_SECRET_PREFIX)).map(
    (name) => `${name} is a development secret; make one of your own`,
  );
  if (!env.WEBHOOK_SECRET) problems.push("WEBHOOK_SECRET is needed in production, or callbacks could not be trusted");
  if (!env.SMTP_URL) problems.push("SMTP_URL is needed in production, or one-time codes could not be sent");
  if (!env.PUBLIC_URL) problems.push("PUBLIC_URL is needed in production; sign-in messages name it");
  if (env.DEVNET === "1") problems.push("DEVNET=1 is for development");
  return problems;
};

/** Another bundler brings the operations on chain there, but only the executor can make the paymaster pay for them. */
const markerProblems = (chains: readonly ChainConfig[], variables: Variables): string[] =>
  chains
    .filter(({ id, contracts }) => contracts.paymaster !== undefined && variables[`BUNDLER_URL_${String(id)}`])
    .map(
      ({ name }) => `EXECUTOR_PRIVATE_KEY is needed on ${name}: its paymaster pays for what this account marks alone`,
    );

/**
 * Reads and checks the whole configuration.
 * @throws ConfigError with every problem at once
 */
export const loadConfig = (variables: Variables = process.env): Config => {
  const parsed = environment.safeParse(variables);
  const problems: string[] = [];
  if (!parsed.success)
    problems.push(...parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
  const chains = readChains(variables.CHAINS_FILE ?? DEFAULT_CHAINS_FILE, variables, problems);
  if (parsed.success) problems.push(...productionProblems(parsed.data));
  const live = chains.filter((chain) => !chain.testnet).map((chain) => chain.name);
  if (live.length > 0 && parsed.data?.CAUSEWAY_ENV === "development") {
    // In development anybody may read the one-time codes in the inbox, and the secrets are made up.
    problems.push(`CAUSEWAY_ENV is development, and ${live.join(", ")} carry real money; set CAUSEWAY_ENV=production`);
  }
  if (!variables.EXECUTOR_PRIVATE_KEY) problems.push(...markerProblems(chains, variables));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const env = parsed.data;
  const key = (value: string | undefined): `0x${string}` | null =>
    value === undefined ? null : (withoutPrefix(value) as `0x${string}`);
  return {
    env: env.CAUSEWAY_ENV,
    databaseUrl: env.DATABASE_URL,
    databaseConnectionsMax: env.DATABASE_CONNECTIONS_MAX,
    port: env.PORT,
    host: env.HOST,
    publicUrl: (env.PUBLIC_URL ?? `http://localhost:${String(env.PORT)}`).replace(/\/$/, ""),
    role: env.ROLE,
    logLevel: env.LOG_LEVEL,
    appSecret: env.APP_SECRET,
    keyEncryptionKey: Buffer.from(withoutPrefix(env.KEY_ENCRYPTION_KEY), "hex"),
    executorPrivateKey: key(env.EXECUTOR_PRIVATE_KEY),
    smtpUrl: env.SMTP_URL ?? null,
    mailFrom: env.MAIL_FROM,
    webhookSecret: env.WEBHOOK_SECRET ?? null,
    walletConnectProjectId: env.WALLETCONNECT_PROJECT_ID ?? null,
    devnet: env.DEVNET === "1",
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    rateLimitPerKey: env.RATE_LIMIT_PER_KEY,
    rateLimitPerIp: env.RATE_LIMIT_PER_IP,
    rateLimitSignInPerIp: env.RATE_LIMIT_SIGN_IN_PER_IP,
    chains,
    bundlerUrls: new Map(
      chains.flatMap((chain) => {
        const url = variables[`BUNDLER_URL_${String(chain.id)}`];
        return url ? [[chain.id, url] as const] : [];
      }),
    ),
  };
};
