import { z } from "zod";
import type { createApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { address, usdAmount } from "@/lib/contracts/common";
import { type BodyInput, type Scope, SCOPES } from "@/lib/contracts/contract";
import { plainNetwork } from "@/lib/core/network";
import { groupedAmount, readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { isMoreUsd } from "@/lib/core/usd";
import type { ApiKey } from "./use-api-keys";

interface ScopePreset {
  readonly id: "read" | "payments" | "everything";
  readonly label: string;
  readonly description: string;
  readonly scopes: readonly Scope[];
}

const PAYMENTS: readonly Scope[] = [
  "wallets:read",
  "swaps:write",
  "transfers:read",
  "transfers:write",
  "operations:read",
  "operations:write",
  "balances:read",
  "payouts:read",
  "payouts:write",
];

/**
 * The sets of scopes that the form offers. None of them may manage keys, because a leaked key must
 * not be able to create other keys.
 */
export const SCOPE_PRESETS: readonly ScopePreset[] = [
  {
    id: "read",
    label: "Read only",
    description: "Sees balances, wallets and operations; moves nothing.",
    scopes: SCOPES.filter((scope) => scope.endsWith(":read")),
  },
  {
    id: "payments",
    label: "Payments",
    description: "Swaps, transfers and payouts, with a code where the policy asks for one.",
    scopes: PAYMENTS,
  },
  {
    id: "everything",
    label: "Everything",
    description: "Everything that an API key can do.",
    scopes: SCOPES,
  },
];

/** The preset that has exactly the scopes `scopes`; undefined when there is none. */
export const presetOf = (scopes: readonly string[]): ScopePreset | undefined =>
  SCOPE_PRESETS.find(
    (candidate) =>
      candidate.scopes.length === scopes.length &&
      candidate.scopes.every((scope) => scopes.includes(scope)),
  );

export const describeScopes = (scopes: readonly string[]): string =>
  presetOf(scopes)?.label ??
  `${String(scopes.length)} ${scopes.length === 1 ? "scope" : "scopes"}`;

export interface KeyValues {
  readonly name: string;
  /** `kept`: the key keeps its scopes, which match no preset. */
  readonly preset: ScopePreset["id"] | "kept";
  /** A number of days, `never`, or `kept` to leave the expiry unchanged. */
  readonly expiry: string;
  readonly otp: "required" | "exempt";
  readonly dailyCapUsd: string;
  /** Addresses, one per line. */
  readonly recipients: string;
  /** Networks in CIDR notation, one per line. */
  readonly networks: string;
}

export type KeyErrors = Partial<
  Record<"name" | "dailyCapUsd" | "recipients" | "networks", string>
>;

const DAY_MS = 24 * 60 * 60 * 1000;
const RECIPIENTS_MAX = 100;
const NETWORKS_MAX = 50;

/** Whether the key can move money. Otherwise the fields of its policy have no effect. */
export const movesMoney = ({ preset }: Pick<KeyValues, "preset">): boolean => preset !== "read";

const linesOf = (text: string): string[] =>
  text
    .split(/[\s,;]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

const recipientsProblem = (text: string): string | null => {
  const lines = linesOf(text);
  if (lines.length > RECIPIENTS_MAX) return `At most ${String(RECIPIENTS_MAX)} addresses.`;
  for (const line of lines) {
    const problem = address.safeParse(line).error?.issues[0]?.message;
    if (problem !== undefined) return `“${line}” ${problem}.`;
  }
  return null;
};

const networksProblem = (text: string): string | null => {
  const lines = linesOf(text);
  if (lines.length > NETWORKS_MAX) return `At most ${String(NETWORKS_MAX)} networks.`;
  const wrong = lines.find((line) => plainNetwork(line) === null);
  return wrong === undefined
    ? null
    : `“${wrong}” is not a network such as 203.0.113.0/24 or an address.`;
};

const networksOf = (text: string): string[] =>
  linesOf(text).map((line) => plainNetwork(line) ?? line);

const capProblem = (cap: string, projectCap: string | undefined): string | null => {
  if (!usdAmount.safeParse(cap).success || !/[1-9]/.test(cap))
    return "Enter an amount such as 250: without a code there has to be a limit.";
  if (projectCap !== undefined && isMoreUsd(cap, projectCap))
    return `At most ${groupedAmount(projectCap)}: the project's daily cap. It can be raised in the settings.`;
  return null;
};

/**
 * Checks the form in the browser. The service repeats the checks.
 * @param projectCap US dollars; undefined skips this check
 */
export const keyErrors = (values: KeyValues, projectCap?: string): KeyErrors => {
  const errors: KeyErrors = {};
  if (values.name.trim() === "") errors.name = "Give the key a name.";
  const networks = networksProblem(values.networks);
  if (networks !== null) errors.networks = networks;
  if (!movesMoney(values)) return errors;
  const cap =
    values.otp === "exempt" ? capProblem(readOrTyped(values.dailyCapUsd), projectCap) : null;
  if (cap !== null) errors.dailyCapUsd = cap;
  const recipients = recipientsProblem(values.recipients);
  if (recipients !== null) errors.recipients = recipients;
  return errors;
};

const keyValues = z.object({
  name: z.string(),
  preset: z.enum(["kept", ...SCOPE_PRESETS.map(({ id }) => id)]),
  expiry: z.string(),
  otp: z.enum(["required", "exempt"]),
  dailyCapUsd: z.string(),
  recipients: z.string(),
  networks: z.string(),
});

/**
 * Builds the schema of the form, which runs `keyErrors`.
 * @param capOf the highest daily limit in US dollars; undefined when it is unknown or must not be
 * checked
 */
export const keyForm = (capOf: (values: KeyValues) => string | undefined) =>
  keyValues.superRefine((values, context) => {
    for (const [field, message] of Object.entries(keyErrors(values, capOf(values))))
      context.addIssue({ code: "custom", path: [field], message });
  });

export const toKeyBody = (values: KeyValues, now: number): BodyInput<typeof createApiKey> => {
  const preset = SCOPE_PRESETS.find((candidate) => candidate.id === values.preset);
  const days = Number(values.expiry);
  const recipients = movesMoney(values) ? linesOf(values.recipients) : [];
  const networks = networksOf(values.networks);
  return {
    name: values.name.trim(),
    ...(preset === undefined ? {} : { scopes: [...preset.scopes] }),
    ...(Number.isNaN(days) ? {} : { expiresAt: new Date(now + days * DAY_MS).toISOString() }),
    ...(movesMoney(values) && values.otp === "exempt"
      ? { otp: "exempt" as const, dailyCapUsd: readOrTyped(values.dailyCapUsd) }
      : {}),
    ...(recipients.length === 0 ? {} : { recipients }),
    ...(networks.length === 0 ? {} : { networks }),
  };
};

export const valuesOfKey = (key: ApiKey): KeyValues => ({
  name: key.name,
  preset: presetOf(key.scopes)?.id ?? "kept",
  expiry: "kept",
  otp: key.otp,
  dailyCapUsd: typedAmount(key.dailyCapUsd ?? ""),
  recipients: key.recipients.join("\n"),
  networks: key.networks.join("\n"),
});

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item) => b.includes(item));

const expiryChange = (
  key: ApiKey,
  expiry: string,
  now: number,
): { expiresAt?: string | null } => {
  if (expiry === "kept") return {};
  if (expiry === "never") return key.expiresAt === null ? {} : { expiresAt: null };
  return { expiresAt: new Date(now + Number(expiry) * DAY_MS).toISOString() };
};

const policyChange = (key: ApiKey, values: KeyValues): BodyInput<typeof updateApiKey> => {
  if (!movesMoney(values)) return {};
  const recipients = linesOf(values.recipients);
  const cap = readOrTyped(values.dailyCapUsd);
  return {
    ...(values.otp === key.otp ? {} : { otp: values.otp }),
    ...(values.otp !== "exempt" || cap === key.dailyCapUsd ? {} : { dailyCapUsd: cap }),
    ...(sameMembers(recipients, key.recipients) ? {} : { recipients }),
  };
};

/**
 * The body of `PATCH /auth/api-keys/{id}`, with only the changed fields; null when nothing changed.
 */
export const toKeyChange = (
  key: ApiKey,
  values: KeyValues,
  now: number,
): BodyInput<typeof updateApiKey> | null => {
  const name = values.name.trim();
  const preset = SCOPE_PRESETS.find((candidate) => candidate.id === values.preset);
  const networks = networksOf(values.networks);
  const change = {
    ...(name === key.name ? {} : { name }),
    ...(preset === undefined || sameMembers(preset.scopes, key.scopes)
      ? {}
      : { scopes: [...preset.scopes] }),
    ...expiryChange(key, values.expiry, now),
    ...(sameMembers(networks, key.networks) ? {} : { networks }),
    ...policyChange(key, values),
  };
  return Object.keys(change).length === 0 ? null : change;
};
