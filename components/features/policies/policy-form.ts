/** The form of a policy: its values as they are typed, and the rules that they mean. An empty field is no limit. */
import { z } from "zod";
import { readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { policyRules, type PolicyRules } from "@/lib/contracts/policy-rules";

const ROLES = ["owner", "admin", "operator"] as const;
const HOURS_MAX = 24 * 90;
const PEOPLE_MAX = 10;
const AMOUNT = "Enter an amount such as 2,500, or leave it empty for no limit.";
const NEEDED_AMOUNT = "Enter an amount such as 2,500.";

const assetCap = z.object({ asset: z.string(), amount: z.string() });
const timeWindow = z.object({ days: z.array(z.number()), from: z.string(), to: z.string() });

export const policyValues = z.object({
  perOperationUsd: z.string(),
  perDayUsd: z.string(),
  perOperationAssets: z.array(assetCap),
  perDayAssets: z.array(assetCap),
  recipients: z.enum(["any", "approved_contacts"]),
  newRecipientHours: z.string(),
  /** `default`: the policy does not say, so the project's policy or `block_hits` applies. */
  screening: z.enum(["default", "off", "block_hits", "require_clear"]),
  /** Ids. */
  chains: z.array(z.string()),
  /** `chainId:token`. */
  tokens: z.array(z.string()),
  hasHours: z.boolean(),
  timeZone: z.string(),
  windows: z.array(timeWindow),
  code: z.enum(["none", "always", "above", "exempt"]),
  codeUsd: z.string(),
  hasApprovals: z.boolean(),
  approvalsAboveUsd: z.string(),
  approvalsCount: z.string(),
  owner: z.boolean(),
  admin: z.boolean(),
  operator: z.boolean(),
  excludeMaker: z.boolean(),
});

export type PolicyValues = z.infer<typeof policyValues>;

export const keyOfToken = (chainId: number, token: string): string => `${String(chainId)}:${token.toLowerCase()}`;

type AssetCaps = readonly z.infer<typeof assetCap>[];
const typedCaps = (caps: AssetCaps = []): z.infer<typeof assetCap>[] =>
  caps.map(({ asset, amount }) => ({ asset, amount: typedAmount(amount) }));

/** @param timeZone that the hours begin with, where the policy has none */
export const valuesOf = (rules: PolicyRules, timeZone: string): PolicyValues => {
  const { perOperation, perDay, code, approvals, hours } = rules;
  const hasRole = (role: (typeof ROLES)[number]): boolean => approvals?.roles.includes(role) ?? role !== "operator";
  return {
    perOperationUsd: typedAmount(perOperation?.usd ?? ""),
    perDayUsd: typedAmount(perDay?.usd ?? ""),
    perOperationAssets: typedCaps(perOperation?.assets),
    perDayAssets: typedCaps(perDay?.assets),
    recipients: rules.recipients ?? "any",
    newRecipientHours: rules.newRecipientHours === undefined ? "" : String(rules.newRecipientHours),
    screening: rules.screening ?? "default",
    chains: (rules.chains ?? []).map(String),
    tokens: (rules.tokens ?? []).map(({ chainId, token }) => keyOfToken(chainId, token)),
    hasHours: hours !== undefined,
    timeZone: hours?.timeZone ?? timeZone,
    windows: hours?.windows ?? [{ days: [1, 2, 3, 4, 5], from: "09:00", to: "17:00" }],
    code: code?.mode ?? "none",
    codeUsd: typedAmount(code?.mode === "above" ? code.usd : code?.mode === "exempt" ? code.dailyCapUsd : ""),
    hasApprovals: approvals !== undefined,
    approvalsAboveUsd: typedAmount(approvals?.aboveUsd ?? ""),
    approvalsCount: String(approvals?.count ?? 1),
    owner: hasRole("owner"),
    admin: hasRole("admin"),
    operator: hasRole("operator"),
    excludeMaker: approvals?.excludeMaker ?? true,
  };
};

const capsOf = (usd: string, assets: PolicyValues["perDayAssets"]): PolicyRules["perDay"] => {
  const isCapped = usd.trim() !== "";
  if (!isCapped && assets.length === 0) return undefined;
  return {
    ...(isCapped ? { usd: readOrTyped(usd) } : {}),
    ...(assets.length === 0
      ? {}
      : { assets: assets.map(({ asset, amount }) => ({ asset, amount: readOrTyped(amount) })) }),
  };
};

const codeOf = ({ code, codeUsd }: PolicyValues): PolicyRules["code"] => {
  switch (code) {
    case "none":
      return undefined;
    case "always":
      return { mode: "always" };
    case "above":
      return { mode: "above", usd: readOrTyped(codeUsd) };
    case "exempt":
      return { mode: "exempt", dailyCapUsd: readOrTyped(codeUsd) };
  }
};

const tokenOf = (key: string): { chainId: number; token: string } => {
  const at = key.indexOf(":");
  return { chainId: Number(key.slice(0, at)), token: key.slice(at + 1) };
};

/** The rules that the values mean. Call it for values without problems. */
export const rulesOf = (given: PolicyValues): PolicyRules => {
  const perOperation = capsOf(given.perOperationUsd, given.perOperationAssets);
  const perDay = capsOf(given.perDayUsd, given.perDayAssets);
  const code = codeOf(given);
  return {
    ...(perOperation === undefined ? {} : { perOperation }),
    ...(perDay === undefined ? {} : { perDay }),
    ...(given.recipients === "any" ? {} : { recipients: given.recipients }),
    ...(given.newRecipientHours.trim() === "" ? {} : { newRecipientHours: Number(given.newRecipientHours) }),
    ...(given.screening === "default" ? {} : { screening: given.screening }),
    ...(given.chains.length === 0 ? {} : { chains: given.chains.map(Number) }),
    ...(given.tokens.length === 0 ? {} : { tokens: given.tokens.map(tokenOf) }),
    ...(given.hasHours
      ? {
          hours: {
            timeZone: given.timeZone,
            windows: given.windows.map(({ days, from, to }) => ({
              days: [...days].sort((a, b) => a - b),
              from: from.trim(),
              to: to.trim(),
            })),
          },
        }
      : {}),
    ...(code === undefined ? {} : { code }),
    ...(given.hasApprovals
      ? {
          approvals: {
            aboveUsd: readOrTyped(given.approvalsAboveUsd),
            count: Number(given.approvalsCount),
            roles: ROLES.filter((role) => given[role]),
            excludeMaker: given.excludeMaker,
          },
        }
      : {}),
  };
};

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const USD = /^(0|[1-9]\d{0,17})(\.\d{1,6})?$/;
const ASSET_AMOUNT = /^(0|[1-9]\d{0,38})(\.\d{1,18})?$/;
const TIME = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

const isUsd = (text: string): boolean => USD.test(readOrTyped(text));
const isWhole = (text: string, max: number): boolean =>
  /^\d{1,5}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max;

const capProblems = (name: "perOperation" | "perDay", given: PolicyValues): Problem[] => {
  const rows = given[`${name}Assets`];
  return [
    ...(given[`${name}Usd`].trim() === "" || isUsd(given[`${name}Usd`])
      ? []
      : [{ path: [`${name}Usd`], message: AMOUNT }]),
    ...rows.flatMap(({ asset, amount }, index): Problem[] => [
      ...(asset === "" ? [{ path: [`${name}Assets`, index, "asset"], message: "Choose an asset." }] : []),
      ...(asset !== "" && rows.findIndex((row) => row.asset === asset) < index
        ? [{ path: [`${name}Assets`, index, "asset"], message: "This asset has a cap above." }]
        : []),
      ...(ASSET_AMOUNT.test(readOrTyped(amount)) && /[1-9]/.test(amount)
        ? []
        : [{ path: [`${name}Assets`, index, "amount"], message: "Enter an amount above zero, such as 1,000." }]),
    ]),
  ];
};

const hourProblems = ({ hasHours, windows }: PolicyValues): Problem[] =>
  !hasHours
    ? []
    : [
        ...(windows.length === 0 ? [{ path: ["hasHours"], message: "Add a time, or turn the rule off." }] : []),
        ...windows.flatMap(({ days, from, to }, index): Problem[] => [
          ...(days.length === 0 ? [{ path: ["windows", index, "days"], message: "Choose a day." }] : []),
          ...(TIME.test(from.trim())
            ? []
            : [{ path: ["windows", index, "from"], message: "Enter a time such as 09:00." }]),
          ...(TIME.test(to.trim()) ? [] : [{ path: ["windows", index, "to"], message: "Enter a time such as 17:00." }]),
          ...(TIME.test(from.trim()) && TIME.test(to.trim()) && from.trim() >= to.trim()
            ? [{ path: ["windows", index, "to"], message: "Must be later than the beginning." }]
            : []),
        ]),
      ];

const approvalProblems = (given: PolicyValues): Problem[] =>
  !given.hasApprovals
    ? []
    : [
        ...(isUsd(given.approvalsAboveUsd) ? [] : [{ path: ["approvalsAboveUsd"], message: NEEDED_AMOUNT }]),
        ...(isWhole(given.approvalsCount, PEOPLE_MAX)
          ? []
          : [{ path: ["approvalsCount"], message: `Enter a number from 1 to ${String(PEOPLE_MAX)}.` }]),
        ...(ROLES.some((role) => given[role])
          ? []
          : [{ path: ["approvalsCount"], message: "Choose who may approve." }]),
      ];

/** The errors in the values, each with the path of its field. */
const problemsOf = (given: PolicyValues): Problem[] => {
  const found = [
    ...capProblems("perOperation", given),
    ...capProblems("perDay", given),
    ...(given.newRecipientHours.trim() === "" || isWhole(given.newRecipientHours, HOURS_MAX)
      ? []
      : [{ path: ["newRecipientHours"], message: "Enter whole hours, from 1 to 2160 (90 days)." }]),
    ...hourProblems(given),
    ...((given.code === "above" || given.code === "exempt") && !isUsd(given.codeUsd)
      ? [{ path: ["codeUsd"], message: NEEDED_AMOUNT }]
      : []),
    ...approvalProblems(given),
  ];
  if (found.length > 0) return found;
  const parsed = policyRules.safeParse(rulesOf(given));
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => ({ path: ["root"], message }));
};

export const policyForm = policyValues.superRefine((given, context) => {
  for (const { path, message } of problemsOf(given)) context.addIssue({ code: "custom", path: [...path], message });
});

/** The rules that are typed now; null while a value is wrong. */
export const typedRules = (given: PolicyValues): PolicyRules | null =>
  problemsOf(given).length === 0 ? rulesOf(given) : null;

/** Whether two sets of rules mean the same, in the form's order of fields. */
export const isSame = (one: PolicyRules, other: PolicyRules): boolean =>
  JSON.stringify(rulesOf(valuesOf(one, "UTC"))) === JSON.stringify(rulesOf(valuesOf(other, "UTC")));
