import { createApiKey } from "@/lib/contracts/api-keys";
import { address } from "@/lib/contracts/common";
import type { BodyInput } from "@/lib/contracts/contract";
import { SCOPE_PRESETS, type ScopePreset } from "./presets";

/** What stands in the form, as typed. */
export interface KeyValues {
  readonly name: string;
  readonly preset: ScopePreset["id"];
  /** Days, or `never`. */
  readonly expiry: string;
  readonly otp: "required" | "exempt";
  readonly dailyCapUsd: string;
  /** Addresses, one a line. */
  readonly recipients: string;
}

export type KeyErrors = Partial<Record<"name" | "dailyCapUsd" | "recipients", string>>;

const DAY_MS = 24 * 60 * 60 * 1000;
const RECIPIENTS_MAX = 100;

/** Whether the key can move money at all; if not, the policy says nothing. */
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

/** The form's own checks; the service checks everything again. */
export const keyErrors = (values: KeyValues): KeyErrors => {
  const errors: KeyErrors = {};
  if (values.name.trim() === "") errors.name = "Give the key a name.";
  if (!movesMoney(values)) return errors;
  const cap = values.dailyCapUsd.trim();
  if (values.otp === "exempt" && !(createApiKey.body.shape.dailyCapUsd.safeParse(cap).success && /[1-9]/.test(cap))) {
    errors.dailyCapUsd = "Type an amount such as 2500: without a code there has to be a limit.";
  }
  const recipients = recipientsProblem(values.recipients);
  if (recipients !== null) errors.recipients = recipients;
  return errors;
};

/** The body of `POST /auth/api-keys`. */
export const toKeyBody = (values: KeyValues, now: number): BodyInput<typeof createApiKey> => {
  const preset = SCOPE_PRESETS.find((candidate) => candidate.id === values.preset);
  const days = Number(values.expiry);
  const recipients = movesMoney(values) ? linesOf(values.recipients) : [];
  return {
    name: values.name.trim(),
    ...(preset === undefined ? {} : { scopes: [...preset.scopes] }),
    ...(Number.isNaN(days) ? {} : { expiresAt: new Date(now + days * DAY_MS).toISOString() }),
    ...(movesMoney(values) && values.otp === "exempt"
      ? { otp: "exempt" as const, dailyCapUsd: values.dailyCapUsd.trim() }
      : {}),
    ...(recipients.length === 0 ? {} : { recipients }),
  };
};
