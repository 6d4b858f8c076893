import { z } from "zod";
import type { ApiKeyPolicy } from "@/lib/core/actor";
import { isMoreUsd } from "@/lib/core/usd";
import { SCOPES } from "@/lib/contracts/contract";
import { type Change, quoted } from "@/lib/trust/proofs/service";
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "@/lib/core/base62";

/** An API key without its secret. Only `findByLookup` returns the hash of the secret. */
export interface ApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly createdBy: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
  /** In CIDR notation: the only networks from which the key may be used; empty for any. */
  readonly networks: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** IP address of the last caller; null when unknown. */
  readonly lastUsedAddress: string | null;
  readonly revokedAt: Date | null;
  /**
   * The session that created the key without a code or a second factor; null when the person gave
   * such a proof.
   */
  readonly madeBySession: string | null;
  /**
   * When the key was suspended because its session (`madeBySession`) was ended; null when it is not
   * suspended.
   */
  readonly suspendedAt: Date | null;
  /** The secret before the last rotation; null once it has ended. */
  readonly previous: { readonly last4: string; readonly until: Date } | null;
  /**
   * People who received a secret of the key by a rotation, the holder of the present secret last.
   */
  readonly rotatedBy: readonly string[];
}

export interface StoredApiKey extends ApiKey {
  readonly secretHash: Uint8Array;
  /** Identifies the application secret under which the secret was hashed. */
  readonly appSecretId: string;
  /** When the presented secret ends because of a rotation; null for the current secret. */
  readonly replacedAt: Date | null;
}

interface ApiKeyColumns extends Omit<ApiKey, "policy" | "previous"> {
  readonly otpPolicy: string;
  readonly dailyCapUsd: { toFixed(): string } | null;
  readonly recipients: readonly string[];
  readonly previousLast4: string | null;
  readonly previousUntil: Date | null;
}

const otpPolicy = z.enum(["required", "exempt"]);

/** @throws ZodError when a column does not have the expected shape */
export const parseApiKey = (row: ApiKeyColumns): ApiKey => ({
  id: row.id,
  projectId: row.projectId,
  createdBy: row.createdBy,
  name: row.name,
  prefix: row.prefix,
  last4: row.last4,
  scopes: row.scopes,
  policy: {
    otp: otpPolicy.parse(row.otpPolicy),
    dailyCapUsd: row.dailyCapUsd?.toFixed() ?? null,
    recipients: row.recipients,
  },
  networks: row.networks,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  lastUsedAt: row.lastUsedAt,
  lastUsedAddress: row.lastUsedAddress,
  revokedAt: row.revokedAt,
  madeBySession: row.madeBySession,
  suspendedAt: row.suspendedAt,
  rotatedBy: row.rotatedBy,
  previous:
    row.previousLast4 === null || row.previousUntil === null
      ? null
      : { last4: row.previousLast4, until: row.previousUntil },
});

export interface KeyRights {
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
  /** In CIDR notation; empty when any network is allowed. */
  readonly networks: readonly string[];
  readonly expiresAt: Date | null;
}

/** The rights of a key that is created with only a name. */
const DEFAULTS: KeyRights = {
  scopes: SCOPES,
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
  networks: [],
  expiresAt: null,
};

const addsToList = (before: readonly string[], after: readonly string[]): boolean => {
  if (before.length === 0) return false;
  // An empty list allows any value.
  return after.length === 0 || after.some((entry) => !before.includes(entry));
};

const movesMore = (before: ApiKeyPolicy, after: ApiKeyPolicy): boolean => {
  if (after.otp !== "exempt" || after.dailyCapUsd === null) return false;
  return (
    before.otp !== "exempt" ||
    before.dailyCapUsd === null ||
    isMoreUsd(after.dailyCapUsd, before.dailyCapUsd)
  );
};

const livesLonger = (before: Date | null, after: Date | null): boolean =>
  before !== null && (after === null || after > before);

/** Whether the change allows the key more than before, in any respect. */
export const isWider = (before: KeyRights, after: KeyRights): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) ||
  movesMore(before.policy, after.policy) ||
  addsToList(before.policy.recipients, after.policy.recipients) ||
  addsToList(before.networks, after.networks) ||
  livesLonger(before.expiresAt, after.expiresAt);

export const isWiderThanDefault = (rights: KeyRights): boolean => isWider(DEFAULTS, rights);

const WORDS: Readonly<
  Record<
    "scopes" | "code" | "recipients" | "networks" | "expires",
    (rights: KeyRights) => string
  >
> = {
  scopes: ({ scopes }) => `May: ${scopes.join(", ")}`,
  code: ({ policy }) =>
    policy.dailyCapUsd === null
      ? "Moves money without a code: nothing"
      : `Moves money without a code: up to ${policy.dailyCapUsd} US dollars per UTC day`,
  recipients: ({ policy }) =>
    `Sends to: ${policy.recipients.length === 0 ? "any address" : policy.recipients.join(", ")}`,
  networks: ({ networks }) =>
    `Is used from: ${networks.length === 0 ? "any network" : networks.join(", ")}`,
  expires: ({ expiresAt }) => `Expires: ${expiresAt?.toISOString() ?? "never"}`,
};

export const rightsLines = (rights: KeyRights): string[] =>
  Object.values(WORDS).map((words) => words(rights));

const valuesOf = ({ scopes, policy, networks, expiresAt }: KeyRights) => ({
  scopes: [...scopes].sort(),
  otp: policy.otp,
  dailyCapUsd: policy.dailyCapUsd,
  recipients: [...policy.recipients].sort(),
  networks: [...networks].sort(),
  expiresAt: expiresAt?.toISOString() ?? null,
});

export const creationOf = (name: string, rights: KeyRights): Change => ({
  kind: "api_key.create",
  title: `Create the API key ${quoted(name)}`,
  lines: rightsLines(rights),
  values: { name, ...valuesOf(rights) },
});

interface NamedKey extends KeyRights {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
}

const differences = (
  before: NamedKey,
  after: KeyRights & { readonly name: string },
): string[] => {
  const renamed =
    before.name === after.name
      ? []
      : [`Name: ${quoted(after.name)} (now ${quoted(before.name)})`];
  const others = Object.values(WORDS).flatMap((words) => {
    const [was, is] = [words(before), words(after)];
    return was === is ? [] : [`${is} (now ${was.slice(was.indexOf(": ") + 2)})`];
  });
  return [...renamed, ...others];
};

export const wideningOf = (
  before: NamedKey,
  after: KeyRights & { readonly name: string },
): Change => ({
  kind: "api_key.update",
  title: `Let the API key ${quoted(before.name)} (${before.prefix}…${before.last4}, ${before.id}) do more`,
  lines: differences(before, after),
  values: {
    keyId: before.id,
    before: { name: before.name, ...valuesOf(before) },
    after: { name: after.name, ...valuesOf(after) },
  },
});

const HOUR_SECONDS = 3_600;

const overlapText = (seconds: number): string => {
  if (seconds === 0) return "at once";
  if (seconds % HOUR_SECONDS !== 0) return `${String(seconds)} seconds later`;
  const hours = seconds / HOUR_SECONDS;
  return `${String(hours)} ${hours === 1 ? "hour" : "hours"} later`;
};

export const rotationOf = (key: NamedKey, overlapSeconds: number): Change => ({
  kind: "api_key.rotate",
  title: `Make a new secret for the API key ${quoted(key.name)} (${key.prefix}…${key.last4}, ${key.id})`,
  lines: [...rightsLines(key), `The present secret ends: ${overlapText(overlapSeconds)}`],
  values: { keyId: key.id, last4: key.last4, overlapSeconds },
});

export const HASH_PURPOSE = "api-key";
const SECRET_BYTES = 32;
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const LOOKUP_LENGTH = 10;
const SHOWN_LENGTH = 4;
const PATTERN = new RegExp(
  `^(cw_(?:live|test)_)([0-9A-Za-z]{${BODY_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

interface ApiKeySecret {
  /** The complete secret, shown once. */
  readonly secret: string;
  /** The public part, by which the key is found; more than 190 of the 256 bits stay secret. */
  readonly lookup: string;
  /** How the key is shown later: `cw_test_Ab3x` … `9ZqP`. */
  readonly prefix: string;
  readonly last4: string;
}

const checksum = (text: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62(bytes);
};

const describe = (secret: string, kind: string): ApiKeySecret => ({
  secret,
  lookup: secret.slice(0, kind.length + LOOKUP_LENGTH),
  prefix: secret.slice(0, kind.length + SHOWN_LENGTH),
  last4: secret.slice(-4),
});

/**
 * `cw_test_` or `cw_live_`, 32 random bytes in base62, and a CRC-32, so that a mistyped key is
 * detected without the database.
 */
export const newApiKeySecret = (kind: "test" | "live"): ApiKeySecret => {
  const start = `cw_${kind}_`;
  const text = start + base62(randomBytes(SECRET_BYTES));
  return describe(text + checksum(text), start);
};

/** Null when `secret` cannot be a key of this service: wrong form or wrong checksum. */
export const parseApiKeySecret = (secret: string): ApiKeySecret | null => {
  const [, kind, body, sum] = PATTERN.exec(secret) ?? [];
  if (kind === undefined || body === undefined || sum !== checksum(kind + body)) return null;
  return describe(secret, kind);
};
