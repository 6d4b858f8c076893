import type { ApiKeyPolicy } from "@/lib/core/actor";
import { isMoreUsd } from "@/lib/core/usd";
import { SCOPES } from "@/lib/contracts/contract";
import { quoted, type Change } from "@/lib/modules/approvals/service";

/** The rights of a key and their expiry. */
export interface KeyRights {
  readonly scopes: readonly string[];
  readonly policy: ApiKeyPolicy;
  /** In CIDR notation; empty for any. */
  readonly networks: readonly string[];
  readonly expiresAt: Date | null;
}

/** The rights of a key that is created with a name alone. */
const DEFAULTS: KeyRights = {
  scopes: SCOPES,
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
  networks: [],
  expiresAt: null,
};

/** Whether a list of what is allowed grows. */
const addsToList = (before: readonly string[], after: readonly string[]): boolean => {
  if (before.length === 0) return false;
  // An empty list allows any.
  return after.length === 0 || after.some((entry) => !before.includes(entry));
};

const movesMore = (before: ApiKeyPolicy, after: ApiKeyPolicy): boolean => {
  if (after.otp !== "exempt" || after.dailyCapUsd === null) return false;
  return before.otp !== "exempt" || before.dailyCapUsd === null || isMoreUsd(after.dailyCapUsd, before.dailyCapUsd);
};

const livesLonger = (before: Date | null, after: Date | null): boolean =>
  before !== null && (after === null || after > before);

/** Whether a key may do more after the change than before it, in any respect. */
export const isWider = (before: KeyRights, after: KeyRights): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) ||
  movesMore(before.policy, after.policy) ||
  addsToList(before.policy.recipients, after.policy.recipients) ||
  addsToList(before.networks, after.networks) ||
  livesLonger(before.expiresAt, after.expiresAt);

/** Whether a new key may do more than one that is made with a name alone. */
export const isWiderThanDefault = (rights: KeyRights): boolean => isWider(DEFAULTS, rights);

const WORDS: Readonly<
  Record<"scopes" | "code" | "recipients" | "networks" | "expires", (rights: KeyRights) => string>
> = {
  scopes: ({ scopes }) => `May: ${scopes.join(", ")}`,
  code: ({ policy }) =>
    policy.dailyCapUsd === null
      ? "Moves money without a code: nothing"
      : `Moves money without a code: up to ${policy.dailyCapUsd} US dollars per UTC day`,
  recipients: ({ policy }) =>
    `Sends to: ${policy.recipients.length === 0 ? "any address" : policy.recipients.join(", ")}`,
  networks: ({ networks }) => `Is used from: ${networks.length === 0 ? "any network" : networks.join(", ")}`,
  expires: ({ expiresAt }) => `Expires: ${expiresAt?.toISOString() ?? "never"}`,
};

/** Each right in words, a line each. */
export const rightsLines = (rights: KeyRights): string[] => Object.values(WORDS).map((words) => words(rights));

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

/** Lines of what differs, each with the value of now. */
const differences = (before: NamedKey, after: KeyRights & { readonly name: string }): string[] => {
  const renamed = before.name === after.name ? [] : [`Name: ${quoted(after.name)} (now ${quoted(before.name)})`];
  const others = Object.values(WORDS).flatMap((words) => {
    const [was, is] = [words(before), words(after)];
    return was === is ? [] : [`${is} (now ${was.slice(was.indexOf(": ") + 2)})`];
  });
  return [...renamed, ...others];
};

export const wideningOf = (before: NamedKey, after: KeyRights & { readonly name: string }): Change => ({
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

/** A new secret for a key that may do more than one made with a name alone. */
export const rotationOf = (key: NamedKey, overlapSeconds: number): Change => ({
  kind: "api_key.rotate",
  title: `Make a new secret for the API key ${quoted(key.name)} (${key.prefix}…${key.last4}, ${key.id})`,
  lines: [...rightsLines(key), `The present secret ends: ${overlapText(overlapSeconds)}`],
  values: { keyId: key.id, last4: key.last4, overlapSeconds },
});
