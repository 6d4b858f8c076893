import { z } from "zod";
import type { ChainConfig } from "./chains";
import { listOf, type Variables } from "./values";
import { type Address, getAddress, isAddress } from "viem";

export const auditAnchorVariables = {
  /** The chain on which the executor anchors the audit log each day. */
  AUDIT_ANCHOR_CHAIN_ID: z.coerce.number().int().positive().optional(),
};

export const anchorProblems = (chains: readonly ChainConfig[], given: Variables): string[] => {
  const { AUDIT_ANCHOR_CHAIN_ID: chainId, EXECUTOR_PRIVATE_KEY: executor } = given;
  if (chainId === undefined) return [];
  const isConfigured = chains.some(({ id }) => String(id) === chainId);
  return [
    ...(isConfigured
      ? []
      : [`AUDIT_ANCHOR_CHAIN_ID is ${chainId}, and CHAINS_FILE has no such chain`]),
    ...(executor === undefined
      ? ["AUDIT_ANCHOR_CHAIN_ID needs EXECUTOR_PRIVATE_KEY, which pays for the anchors"]
      : []),
  ];
};

// The environment variables of single chains, and how they replace fields of the chains file.

/**
 * Names of variables that exist once for each chain. The id of the chain is at the end:
 * `RPC_URL_8453`.
 */
export const CHAIN_VARIABLES = [
  "RPC_URL",
  "RPC_BUDGET",
  "PUBLIC_RPC_URL",
  "BUNDLER_URL",
  "ASP_URL",
  "PRIVATE_RELAY_URL",
  "SANCTIONS_ORACLE",
] as const;

export const chainVariable = (
  given: Variables,
  name: (typeof CHAIN_VARIABLES)[number],
  id: unknown,
): string | undefined => given[`${name}_${String(id)}`];

const looseChains = z.object({
  chains: z.array(
    z.looseObject({
      id: z.unknown(),
      contracts: z.looseObject({}).optional(),
      privacyPools: z.looseObject({}).optional(),
    }),
  ),
});

/**
 * The content of a chains file, in which values from the environment replace fields. It is not
 * parsed, because it may be invalid.
 */
export const withChainVariables = (json: unknown, given: Variables): unknown => {
  const loose = looseChains.safeParse(json);
  if (!loose.success) return json;
  return {
    chains: loose.data.chains.map((chain) => {
      const rpc = chainVariable(given, "RPC_URL", chain.id);
      const budget = chainVariable(given, "RPC_BUDGET", chain.id);
      const publicRpc = chainVariable(given, "PUBLIC_RPC_URL", chain.id);
      const aspSource = chainVariable(given, "ASP_URL", chain.id);
      const privateRelay = chainVariable(given, "PRIVATE_RELAY_URL", chain.id);
      const sanctionsOracle = chainVariable(given, "SANCTIONS_ORACLE", chain.id);
      const { contracts, privacyPools } = chain;
      return {
        ...chain,
        ...(rpc ? { rpcUrls: listOf(rpc) } : {}),
        ...(budget ? { rpcBudgetPerSecond: Number(budget) } : {}),
        ...(publicRpc ? { publicRpcUrl: publicRpc } : {}),
        ...(privateRelay ? { privateRelayUrl: privateRelay } : {}),
        ...(contracts && sanctionsOracle
          ? { contracts: { ...contracts, sanctionsOracle } }
          : {}),
        ...(privacyPools && aspSource ? { privacyPools: { ...privacyPools, aspSource } } : {}),
      };
    }),
  };
};

// Formats of the secrets in the environment. Production refuses keys with the prefix `dev_`.

const SECRET_LENGTH_MIN = 32;

export const privateKey = z
  .string()
  .regex(/^(dev_)?0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
export const encryptionKey = z
  .string()
  .regex(/^(dev_)?[0-9a-fA-F]{64}$/, "must be 64 hex digits (32 bytes)");
export const pushKey = z
  .string()
  .regex(/^(dev_)?[A-Za-z0-9_-]{43}$/, "must be 43 base64url characters (32 bytes)");
export const secret = z
  .string()
  .min(SECRET_LENGTH_MIN, `must have at least ${String(SECRET_LENGTH_MIN)} characters`);

const days = (least: number, standard: number) =>
  z.coerce.number().int().min(least).max(36_500).default(standard);

/**
 * Retention of rows that nobody needs any more, in days. Records of money movements are never
 * deleted, and events only by `npm run archive`.
 */
export const retentionVariables = {
  /** Quotes that were never executed, after they expired. */
  RETENTION_QUOTES_DAYS: days(1, 30),
  /** One-time codes, after they expired. */
  RETENTION_CODES_DAYS: days(1, 90),
  /**
   * Signed bytes of the service's transactions, after they became final; hash, block, nonce and
   * call data stay.
   */
  RETENTION_RAW_TRANSACTIONS_DAYS: days(7, 90),
  /** Hourly points of the balance history, which shows a year at most. */
  RETENTION_SNAPSHOTS_DAYS: days(1, 400),
  /** Requests that were made with API keys. */
  RETENTION_API_REQUESTS_DAYS: days(1, 30),
  /** Notifications of people, read or not. */
  RETENTION_NOTIFICATIONS_DAYS: days(1, 90),
  /**
   * Webhook deliveries and their attempts. An archive of a closed month contains the deliveries
   * that still exist when it is written.
   */
  RETENTION_DELIVERIES_DAYS: days(7, 30),
  /** Answers that are repeated for the same Idempotency-Key. */
  RETENTION_IDEMPOTENCY_KEYS_HOURS: z.coerce.number().int().min(24).max(8760).default(24),
};

export interface Retention {
  readonly quotesDays: number;
  readonly codesDays: number;
  readonly rawTransactionsDays: number;
  readonly snapshotsDays: number;
  readonly apiRequestsDays: number;
  readonly notificationsDays: number;
  readonly deliveriesDays: number;
  readonly idempotencyKeysHours: number;
}

export const retentionOf = (
  env: Readonly<Record<keyof typeof retentionVariables, number>>,
): Retention => ({
  quotesDays: env.RETENTION_QUOTES_DAYS,
  codesDays: env.RETENTION_CODES_DAYS,
  rawTransactionsDays: env.RETENTION_RAW_TRANSACTIONS_DAYS,
  snapshotsDays: env.RETENTION_SNAPSHOTS_DAYS,
  apiRequestsDays: env.RETENTION_API_REQUESTS_DAYS,
  notificationsDays: env.RETENTION_NOTIFICATIONS_DAYS,
  deliveriesDays: env.RETENTION_DELIVERIES_DAYS,
  idempotencyKeysHours: env.RETENTION_IDEMPOTENCY_KEYS_HOURS,
});

// Sources of verdicts on addresses, in addition to the oracles of the chains file.

const KEY_BYTES = 32;

const listKey = z
  .string()
  .regex(
    /^[^:\s]{1,100}:[A-Za-z0-9+/]{43}=$/,
    "must be name:key, the key being 32 bytes in base64",
  )
  .transform((text): readonly [string, Uint8Array] => {
    const at = text.indexOf(":");
    return [text.slice(0, at), new Uint8Array(Buffer.from(text.slice(at + 1), "base64"))];
  })
  .refine(([, bytes]) => bytes.byteLength === KEY_BYTES, "must have a key of 32 bytes");

export const screeningVariables = {
  /**
   * Ed25519 public keys with which sanctions lists may be signed: `name:base64`, comma separated.
   */
  SCREENING_LIST_KEYS: z.string().transform(listOf).pipe(z.array(listKey)).prefault(""),
  SCREENING_URL: z.url({ protocol: /^https?$/ }).optional(),
  SCREENING_TOKEN: z.string().min(1).optional(),
};

export interface ScreeningConfig {
  /** Public keys, 32 bytes each, by their name. */
  readonly listKeys: ReadonlyMap<string, Uint8Array>;
  /** The screening provider; null when there is none. */
  readonly provider: { readonly url: string; readonly token: string | null } | null;
}

export const screeningOf = (env: {
  readonly SCREENING_LIST_KEYS: readonly (readonly [string, Uint8Array])[];
  readonly SCREENING_URL?: string | undefined;
  readonly SCREENING_TOKEN?: string | undefined;
}): ScreeningConfig => ({
  listKeys: new Map(env.SCREENING_LIST_KEYS),
  provider:
    env.SCREENING_URL === undefined
      ? null
      : { url: env.SCREENING_URL, token: env.SCREENING_TOKEN ?? null },
});

/**
 * Who may sign in for the first time. `closed` admits only the first person of an empty
 * installation.
 */
export type SignUp =
  | { readonly mode: "open" | "closed" }
  | { readonly mode: "allow-list"; readonly addresses: readonly Address[] };

const addressesOf = (list: string, problems: string[]): Address[] => {
  const parts = list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const wrong = parts.filter((part) => !isAddress(part));
  problems.push(
    ...wrong.map(
      (part) => `SIGN_UP_ALLOW: ${part} is no address, or has a wrong checksum (EIP-55)`,
    ),
  );
  return parts.filter((part) => isAddress(part)).map((part) => getAddress(part));
};

/**
 * Reads the variables `SIGN_UP` and `SIGN_UP_ALLOW`. By default development admits everybody, and
 * production only the first person.
 */
export const signUpOf = (variables: Variables, problems: string[]): SignUp => {
  const otherwise = variables.CAUSEWAY_ENV === "production" ? "closed" : "open";
  const mode = variables.SIGN_UP ?? otherwise;
  const list = variables.SIGN_UP_ALLOW ?? "";
  if (mode !== "allow-list") {
    if (list !== "") problems.push("SIGN_UP_ALLOW is only read with SIGN_UP=allow-list");
    return { mode: mode === "open" ? "open" : "closed" };
  }
  const addresses = addressesOf(list, problems);
  if (list.trim() === "")
    problems.push("SIGN_UP=allow-list needs SIGN_UP_ALLOW, the addresses that may sign up");
  return { mode, addresses };
};
