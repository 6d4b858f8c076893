import { redactSecrets } from "@/lib/core/redaction";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { type ChainConfig, chainsFile } from "./chains";
import {
  ConfigError,
  type DatabaseConfig,
  databaseOf,
  databaseVariables,
  postgresUrl,
  variableProblem,
  withoutEmpty,
} from "./database";
import { developmentHostProblem, isLoopback, productionProblems } from "./production";
import { issueText, missingText } from "./problem-texts";
import { headerOf, protect } from "./protect";
import {
  anchorProblems,
  auditAnchorVariables,
  CHAIN_VARIABLES,
  chainVariable,
  encryptionKey,
  privateKey,
  pushKey,
  type Retention,
  retentionOf,
  retentionVariables,
  type ScreeningConfig,
  screeningOf,
  screeningVariables,
  secret,
  type SignUp,
  signUpOf,
  withChainVariables,
} from "./variables";
import { listOf, type Variables, withoutPrefix } from "./values";

export const DEFAULT_CHAINS_FILE = "lib/platform/config/chains/local.json";
const ANONYMITY_SET_MIN = 100;
const METRICS_TOKEN_LENGTH_MIN = 16;

// Makes a variable optional. An empty variable counts as absent, because `loadConfig` removes it
// first.
const optional = <T extends z.ZodType>(type: T): z.ZodOptional<T> => type.optional();

const environment = z.object({
  CAUSEWAY_ENV: z.enum(["development", "production"]).default("development"),
  ...databaseVariables,
  /** URL of a streaming replica, for reads that may be some seconds old. */
  DATABASE_REPLICA_URL: optional(postgresUrl),
  /**
   * Maximum number of database connections of one process over all pools.
   * lib/platform/db/connections.ts divides them between the pools.
   */
  DATABASE_CONNECTIONS_MAX: z.coerce.number().int().min(6).max(200).default(20),
  ...retentionVariables,
  ...screeningVariables,
  ...auditAnchorVariables,
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: optional(z.url()),
  ROLE: z.enum(["web", "worker", "all"]).default("all"),
  LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info"),
  APP_SECRET: secret,
  /**
   * The earlier secret while `APP_SECRET` is being changed. Tokens and hashes made with it stay
   * valid.
   */
  APP_SECRET_PREVIOUS: optional(secret),
  KEY_ENCRYPTION_KEY: encryptionKey,
  /**
   * Earlier keys, comma separated, with which stored values can still be decrypted while
   * `KEY_ENCRYPTION_KEY` is being changed.
   */
  KEY_ENCRYPTION_KEY_PREVIOUS: z
    .string()
    .transform(listOf)
    .pipe(z.array(encryptionKey))
    .prefault(""),
  EXECUTOR_PRIVATE_KEY: optional(privateKey),
  /** Further executor keys, comma separated, which share the transactions with the first one. */
  EXECUTOR_PRIVATE_KEYS: z.string().transform(listOf).pipe(z.array(privateKey)).prefault(""),
  SMTP_URL: optional(
    z.url({
      protocol: /^smtps?$/,
      error: "must be a URL that begins with smtps:// or smtp://",
    }),
  ),
  MAIL_FROM: z.string().default("Causeway <no-reply@localhost>"),
  WEBHOOK_SECRET: optional(z.string().min(1)),
  /** Secret with which Relay signs its callbacks, when it differs from `WEBHOOK_SECRET`. */
  RELAY_WEBHOOK_SECRET: optional(z.string().min(1)),
  /** Secret with which Across signs its callbacks, when it differs from `WEBHOOK_SECRET`. */
  ACROSS_WEBHOOK_SECRET: optional(z.string().min(1)),
  /** Identifies the service to push services (RFC 8292): a private key on P-256, base64url. */
  VAPID_PRIVATE_KEY: optional(pushKey),
  /** Bearer token for `GET /api/metrics`. */
  METRICS_TOKEN: optional(z.string().min(METRICS_TOKEN_LENGTH_MIN)),
  /**
   * Port on which a process with `ROLE=worker` serves its metrics, because such a process has no
   * web server.
   */
  METRICS_PORT: optional(z.coerce.number().int().min(0).max(65535)),
  /** OTLP/HTTP address of an OpenTelemetry collector; nothing is traced without it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    z.url({
      protocol: /^https?$/,
      error: "must be a URL that begins with https:// or http://",
    }),
  ),
  /** Headers of each export as `name=value`, comma separated. */
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform(listOf)
    .pipe(z.array(z.string().regex(/^[^=\s]+=./, "must be name=value")))
    .prefault(""),
  OTEL_SERVICE_NAME: z.string().default("causeway"),
  CHAINS_FILE: z.string().default(DEFAULT_CHAINS_FILE),
  /** JSON file of currency rates, in place of price feeds; see lib/adapters/rate-file. */
  FX_RATES_FILE: optional(z.string()),
  WALLETCONNECT_PROJECT_ID: optional(z.string().min(1)),
  /**
   * The supervisor sets this to 1 when it runs local chains. It enables the faucet and the burner
   * wallet.
   */
  DEVNET: z.enum(["0", "1"]).default("0"),
  /**
   * Who may sign in for the first time: anybody, the addresses of `SIGN_UP_ALLOW`, or only the
   * first person of the installation.
   */
  SIGN_UP: optional(z.enum(["open", "allow-list", "closed"])),
  SIGN_UP_ALLOW: optional(z.string()),
  /** Number of trusted proxies whose `X-Forwarded-For` is used; 0 trusts none. */
  TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).max(10).default(0),
  /** Seconds that a request to the API may take; see lib/core/request-time.ts. */
  REQUEST_SECONDS_MAX: z.coerce.number().int().min(1).max(120).default(10),
  /** Requests per 60 s of one API key or person; 0 means no limit. */
  RATE_LIMIT_PER_KEY: z.coerce.number().int().min(0).default(3600),
  /** Requests per 60 s of one address; 0 means no limit. */
  RATE_LIMIT_PER_IP: z.coerce.number().int().min(0).default(7200),
  RATE_LIMIT_SIGN_IN_PER_IP: z.coerce.number().int().min(0).default(120),
  /**
   * Number of approved deposits that a pool should have for a private transfer without a second
   * confirmation. With 0 no confirmation is required.
   */
  PRIVACY_ANONYMITY_SET_MIN: optional(z.coerce.number().int().min(0)),
  /**
   * Lets a development server listen on addresses that other machines can reach; see
   * `developmentHostProblem`.
   */
  DEVELOPMENT_ON_ALL_INTERFACES: optional(z.string()),
});

/** The names of all environment variables. Variables for single chains end in `_<id>`. */
export const variableNames: readonly string[] = [
  ...Object.keys(environment.shape),
  ...CHAIN_VARIABLES.map((name) => `${name}_<id>`),
];

export interface Config extends DatabaseConfig {
  readonly env: "development" | "production";
  readonly databaseReplicaUrl: string | null;
  readonly databaseConnectionsMax: number;
  readonly retention: Retention;
  readonly screening: ScreeningConfig;
  readonly port: number;
  readonly host: string;
  /** Origin of the app in browsers, without a trailing slash. */
  readonly publicUrl: string;
  readonly role: "web" | "worker" | "all";
  readonly logLevel: string;
  readonly appSecret: string;
  readonly appSecretPrevious: string | null;
  /** Keys of 32 bytes. The first one encrypts; the others only decrypt. */
  readonly keyEncryptionKeys: readonly [Buffer, ...Buffer[]];
  readonly auditAnchorChainId: number | null;
  readonly executorPrivateKey: `0x${string}` | null;
  /** All executor keys, `executorPrivateKey` first; empty when there is none. */
  readonly executorPrivateKeys: readonly `0x${string}`[];
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  readonly webhookSecret: string | null;
  readonly relayWebhookSecret: string | null;
  readonly acrossWebhookSecret: string | null;
  /** Private key for push messages; null when none are sent. */
  readonly vapidPrivateKey: string | null;
  readonly currencyRatesFile: string | null;
  readonly metricsToken: string | null;
  readonly metricsPort: number | null;
  /** Where and how spans are exported; null when nothing is traced. */
  readonly tracing: {
    readonly endpoint: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly serviceName: string;
  } | null;
  readonly walletConnectProjectId: string | null;
  readonly devnet: boolean;
  readonly privacyAnonymitySetMin: number;
  readonly signUp: SignUp;
  readonly trustedProxyHops: number;
  /** Requests per 60 s of one API key or person; 0 means no limit. */
  /** Maximum duration of a request to the API, in milliseconds. */
  readonly requestMsMax: number;
  readonly rateLimitPerKey: number;
  /** Requests per 60 s of one address; 0 means no limit. */
  readonly rateLimitPerIp: number;
  /** Requests of one address per 60 s for sign-in nonces and signatures; 0 means no limit. */
  readonly rateLimitSignInPerIp: number;
  readonly chains: readonly ChainConfig[];
  /**
   * ERC-4337 bundler URLs by chain id (`BUNDLER_URL_<id>`); other chains use the service's own
   * executor.
   */
  readonly bundlerUrls: ReadonlyMap<number, string>;
}

export const inheritedEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env });

/** The chains of a file, with the URLs from the environment. Problems are added to `problems`. */
export const readChains = (
  file: string,
  variables: Variables,
  problems: string[],
): ChainConfig[] => {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(resolve(file), "utf8"));
  } catch (error) {
    problems.push(
      `CHAINS_FILE ${file}: ${error instanceof Error ? redactSecrets(error.message) : "cannot be read"}`,
    );
    return [];
  }
  const overridden = withChainVariables(json, variables);
  const parsed = chainsFile.safeParse(overridden);
  if (!parsed.success) {
    problems.push(
      ...parsed.error.issues.map((issue) =>
        issueText(`CHAINS_FILE ${file}: ${issue.path.join(".")}`, issue),
      ),
    );
    return [];
  }
  return parsed.data.chains;
};

/**
 * For development: uses the URL of a local node as the chain's public URL too, because it contains
 * no key.
 */
const withLocalPublicUrl = (chain: ChainConfig): ChainConfig => {
  const [first] = chain.rpcUrls;
  const isLocal = first !== undefined && isLoopback(new URL(first).hostname);
  return chain.publicRpcUrl === undefined && isLocal
    ? { ...chain, publicRpcUrl: first }
    : chain;
};

const keyBytes = (hex: string): Buffer => Buffer.from(withoutPrefix(hex), "hex");

const developmentProblems = (given: Variables, chains: readonly ChainConfig[]): string[] => {
  const live = chains.filter((chain) => !chain.testnet).map((chain) => chain.name);
  const host = given.ROLE === "worker" ? null : developmentHostProblem(given);
  return [
    // Development refuses chains with real money, because anybody can read the one-time codes in
    // the inbox, and the secrets are predictable.
    ...(live.length > 0
      ? [
          `CAUSEWAY_ENV is development, and ${live.join(", ")} carry real money; set CAUSEWAY_ENV=production`,
        ]
      : []),
    ...(host === null ? [] : [host]),
  ];
};

/**
 * Reports a missing executor key. A chain without a bundler needs the executor to send operations.
 * With a bundler, a paymaster pays only for operations that the executor has marked.
 */
const executorProblems = (
  chains: readonly ChainConfig[],
  given: Variables,
  isProduction: boolean,
): string[] => {
  if (given.EXECUTOR_PRIVATE_KEY !== undefined) return [];
  const hasBundler = ({ id }: ChainConfig): boolean =>
    chainVariable(given, "BUNDLER_URL", id) !== undefined;
  if (isProduction && !(chains.length > 0 && chains.every(hasBundler)))
    return [missingText("EXECUTOR_PRIVATE_KEY")];
  return [
    ...chains
      .filter((chain) => chain.contracts.paymaster !== undefined && hasBundler(chain))
      .map(
        ({ name }) =>
          `EXECUTOR_PRIVATE_KEY is needed on ${name}: its paymaster pays for what this account marks alone`,
      ),
    ...(given.EXECUTOR_PRIVATE_KEYS === undefined
      ? []
      : ["EXECUTOR_PRIVATE_KEYS needs EXECUTOR_PRIVATE_KEY, which is the first of them"]),
  ];
};

const tracingOf = (env: z.output<typeof environment>): Config["tracing"] => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = env;
  if (endpoint === undefined) return null;
  return {
    endpoint,
    headers: Object.fromEntries(headers.map(headerOf)),
    serviceName: env.OTEL_SERVICE_NAME,
  };
};

/**
 * Reads the chains file. Only development has a default file. In production `productionProblems`
 * reports a missing file.
 */
const chainsOf = (
  given: Variables,
  isProduction: boolean,
  problems: string[],
): readonly ChainConfig[] => {
  if (given.CHAINS_FILE === undefined && isProduction) return [];
  return readChains(given.CHAINS_FILE ?? DEFAULT_CHAINS_FILE, given, problems);
};

/**
 * Reads and checks the whole configuration.
 * @throws ConfigError that lists every problem
 */
export const loadConfig = (variables: Variables = process.env): Config => {
  const given = withoutEmpty(variables);
  protect(given, []);
  const parsed = environment.safeParse(given);
  const problems = parsed.success
    ? []
    : parsed.error.issues.map((issue) => variableProblem(given, issue));
  const isProduction = given.CAUSEWAY_ENV === "production";
  const read = chainsOf(given, isProduction, problems);
  const chains = isProduction ? read : read.map(withLocalPublicUrl);
  protect(given, chains);
  problems.push(
    ...(isProduction ? productionProblems(given) : developmentProblems(given, chains)),
  );
  problems.push(...executorProblems(chains, given, isProduction));
  problems.push(...anchorProblems(chains, given));
  const signUp = signUpOf(given, problems);
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const env = parsed.data;
  const key = (value: string | undefined): `0x${string}` | null =>
    value === undefined ? null : (withoutPrefix(value) as `0x${string}`);
  return {
    env: env.CAUSEWAY_ENV,
    ...databaseOf(env),
    databaseReplicaUrl: env.DATABASE_REPLICA_URL ?? null,
    databaseConnectionsMax: env.DATABASE_CONNECTIONS_MAX,
    retention: retentionOf(env),
    screening: screeningOf(env),
    port: env.PORT,
    host: env.HOST,
    publicUrl: (env.PUBLIC_URL ?? `http://localhost:${String(env.PORT)}`).replace(/\/$/, ""),
    role: env.ROLE,
    logLevel: env.LOG_LEVEL,
    appSecret: env.APP_SECRET,
    appSecretPrevious: env.APP_SECRET_PREVIOUS ?? null,
    keyEncryptionKeys: [
      keyBytes(env.KEY_ENCRYPTION_KEY),
      ...env.KEY_ENCRYPTION_KEY_PREVIOUS.map(keyBytes),
    ],
    executorPrivateKey: key(env.EXECUTOR_PRIVATE_KEY),
    auditAnchorChainId: env.AUDIT_ANCHOR_CHAIN_ID ?? null,
    executorPrivateKeys: [env.EXECUTOR_PRIVATE_KEY, ...env.EXECUTOR_PRIVATE_KEYS].flatMap(
      (each) => key(each) ?? [],
    ),
    smtpUrl: env.SMTP_URL ?? null,
    mailFrom: env.MAIL_FROM,
    webhookSecret: env.WEBHOOK_SECRET ?? null,
    relayWebhookSecret: env.RELAY_WEBHOOK_SECRET ?? null,
    acrossWebhookSecret: env.ACROSS_WEBHOOK_SECRET ?? null,
    currencyRatesFile: env.FX_RATES_FILE ?? null,
    vapidPrivateKey:
      env.VAPID_PRIVATE_KEY === undefined ? null : withoutPrefix(env.VAPID_PRIVATE_KEY),
    metricsToken: env.METRICS_TOKEN ?? null,
    metricsPort: env.METRICS_PORT ?? null,
    tracing: tracingOf(env),
    walletConnectProjectId: env.WALLETCONNECT_PROJECT_ID ?? null,
    devnet: env.DEVNET === "1",
    privacyAnonymitySetMin:
      env.PRIVACY_ANONYMITY_SET_MIN ?? (isProduction ? ANONYMITY_SET_MIN : 0),
    signUp,
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    requestMsMax: env.REQUEST_SECONDS_MAX * 1000,
    rateLimitPerKey: env.RATE_LIMIT_PER_KEY,
    rateLimitPerIp: env.RATE_LIMIT_PER_IP,
    rateLimitSignInPerIp: env.RATE_LIMIT_SIGN_IN_PER_IP,
    chains,
    bundlerUrls: new Map(
      chains.flatMap((chain) => {
        const url = chainVariable(given, "BUNDLER_URL", chain.id);
        return url ? [[chain.id, url] as const] : [];
      }),
    ),
  };
};
