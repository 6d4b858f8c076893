/**
 * The values of the policy form as typed, and their conversion to rules. An empty field means no
 * limit.
 */
import { z } from "zod";
import { readOrTyped, typedAmount } from "@/lib/core/read-amount";
import { policyRules, type PolicyRules } from "@/lib/contracts/policy-rules";

export const VOTER_ROLES = ["owner", "admin", "operator"] as const;
const HOURS_MAX = 24 * 90;
const PEOPLE_MAX = 10;
const AMOUNT = "Enter an amount such as 2,500, or leave it empty for no limit.";
const NEEDED_AMOUNT = "Enter an amount such as 2,500.";

export const CHOOSE_VOTERS = "Choose who may approve.";

/** Who may approve, as checkboxes. Used by policies and by the setting of the project. */
export const voterValues = z.object({
  owner: z.boolean(),
  admin: z.boolean(),
  operator: z.boolean(),
  excludeMaker: z.boolean(),
  exemptKeys: z.boolean(),
});

export type VoterValues = z.infer<typeof voterValues>;
type Voters = Pick<
  NonNullable<PolicyRules["approvals"]>,
  "roles" | "excludeMaker" | "exemptKeys"
>;

/** The checkboxes for a rule about voters. Without a rule, owners and admins are checked. */
export const voterValuesOf = (voters: Voters | null | undefined): VoterValues => {
  const hasRole = (role: (typeof VOTER_ROLES)[number]): boolean =>
    voters?.roles.includes(role) ?? role !== "operator";
  return {
    owner: hasRole("owner"),
    admin: hasRole("admin"),
    operator: hasRole("operator"),
    excludeMaker: voters?.excludeMaker ?? true,
    exemptKeys: voters?.exemptKeys ?? false,
  };
};

export const rolesIn = (values: VoterValues): Voters["roles"] =>
  VOTER_ROLES.filter((role) => values[role]);

const assetCap = z.object({ assetId: z.string(), amount: z.string() });
const timeWindow = z.object({ days: z.array(z.number()), from: z.string(), to: z.string() });

export const policyValues = z.object({
  perOperationUsd: z.string(),
  perDayUsd: z.string(),
  perOperationAssets: z.array(assetCap),
  perDayAssets: z.array(assetCap),
  recipients: z.enum(["any", "approved_contacts"]),
  newRecipientHours: z.string(),
  /** `default`: the policy has no such rule, so the project's policy or `block_hits` applies. */
  screening: z.enum(["default", "off", "block_hits", "require_clear"]),
  chains: z.array(z.string()),
  /** Allowed tokens, each as `chainId:token`. */
  tokens: z.array(z.string()),
  hasHours: z.boolean(),
  timeZone: z.string(),
  windows: z.array(timeWindow),
  code: z.enum(["none", "always", "above", "exempt"]),
  codeUsd: z.string(),
  hasApprovals: z.boolean(),
  approvalsAboveUsd: z.string(),
  approvalsCount: z.string(),
  ...voterValues.shape,
});

export type PolicyValues = z.infer<typeof policyValues>;

export const keyOfToken = (chainId: number, token: string): string =>
  `${String(chainId)}:${token.toLowerCase()}`;

type AssetCaps = PolicyValues["perDayAssets"];
const typedCaps = (caps: AssetCaps = []): AssetCaps =>
  caps.map(({ assetId, amount }) => ({ assetId, amount: typedAmount(amount) }));

export const NEW_WINDOW = { days: [1, 2, 3, 4, 5], from: "09:00", to: "17:00" };

const codeAmountOf = (code: PolicyRules["code"]): string => {
  if (code?.mode === "above") return code.usd;
  return code?.mode === "exempt" ? code.dailyCapUsd : "";
};

/**
 * The form's values for the rules of a policy.
 * @param timeZone default for a policy without hours
 */
export const valuesOf = (rules: PolicyRules, timeZone: string): PolicyValues => {
  const { perOperation, perDay, code, approvals, hours } = rules;
  return {
    perOperationUsd: typedAmount(perOperation?.usd ?? ""),
    perDayUsd: typedAmount(perDay?.usd ?? ""),
    perOperationAssets: typedCaps(perOperation?.assets),
    perDayAssets: typedCaps(perDay?.assets),
    recipients: rules.recipients ?? "any",
    newRecipientHours:
      rules.newRecipientHours === undefined ? "" : String(rules.newRecipientHours),
    screening: rules.screening ?? "default",
    chains: (rules.chains ?? []).map(String),
    tokens: (rules.tokens ?? []).map(({ chainId, token }) => keyOfToken(chainId, token)),
    hasHours: hours !== undefined,
    timeZone: hours?.timeZone ?? timeZone,
    windows: hours?.windows ?? [NEW_WINDOW],
    code: code?.mode ?? "none",
    codeUsd: typedAmount(codeAmountOf(code)),
    hasApprovals: approvals !== undefined,
    approvalsAboveUsd: typedAmount(approvals?.aboveUsd ?? ""),
    approvalsCount: String(approvals?.count ?? 1),
    ...voterValuesOf(approvals),
  };
};

const capsOf = (usd: string, assets: PolicyValues["perDayAssets"]): PolicyRules["perDay"] => {
  if (usd.trim() === "" && assets.length === 0) return undefined;
  const readAssets = assets.map(({ assetId, amount }) => ({
    assetId,
    amount: readOrTyped(amount),
  }));
  return {
    usd: usd.trim() === "" ? undefined : readOrTyped(usd),
    assets: assets.length === 0 ? undefined : readAssets,
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

const hoursOf = ({ hasHours, timeZone, windows }: PolicyValues): PolicyRules["hours"] => {
  if (!hasHours) return undefined;
  return {
    timeZone,
    windows: windows.map(({ days, from, to }) => ({
      days: [...days].sort((a, b) => a - b),
      from: from.trim(),
      to: to.trim(),
    })),
  };
};

const approvalsOf = (values: PolicyValues): PolicyRules["approvals"] => {
  if (!values.hasApprovals) return undefined;
  return {
    aboveUsd: readOrTyped(values.approvalsAboveUsd),
    count: Number(values.approvalsCount),
    roles: rolesIn(values),
    excludeMaker: values.excludeMaker,
    exemptKeys: values.exemptKeys || undefined,
  };
};

/**
 * Converts the form's values, which must be valid, to rules. A rule that is off is undefined, so
 * that JSON leaves it out.
 */
export const rulesOf = (values: PolicyValues): PolicyRules => ({
  perOperation: capsOf(values.perOperationUsd, values.perOperationAssets),
  perDay: capsOf(values.perDayUsd, values.perDayAssets),
  recipients: values.recipients === "any" ? undefined : values.recipients,
  newRecipientHours:
    values.newRecipientHours.trim() === "" ? undefined : Number(values.newRecipientHours),
  screening: values.screening === "default" ? undefined : values.screening,
  chains: values.chains.length === 0 ? undefined : values.chains.map(Number),
  tokens: values.tokens.length === 0 ? undefined : values.tokens.map(tokenOf),
  hours: hoursOf(values),
  code: codeOf(values),
  approvals: approvalsOf(values),
});

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Records the message for the field at the path, unless the condition holds. */
type Check = (isRight: boolean, message: string, ...path: Problem["path"]) => void;

const USD = /^(0|[1-9]\d{0,17})(\.\d{1,6})?$/;
const ASSET_AMOUNT = /^(0|[1-9]\d{0,38})(\.\d{1,18})?$/;
const TIME = /^(([01]\d|2[0-3]):[0-5]\d|24:00)$/;

const isUsd = (text: string): boolean => USD.test(readOrTyped(text));
const isWhole = (text: string, max: number): boolean =>
  /^\d{1,5}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= max;
const isAssetAmount = (text: string): boolean =>
  ASSET_AMOUNT.test(readOrTyped(text)) && /[1-9]/.test(text);

const checkCaps = (
  name: "perOperation" | "perDay",
  values: PolicyValues,
  check: Check,
): void => {
  const usd = values[`${name}Usd`];
  check(usd.trim() === "" || isUsd(usd), AMOUNT, `${name}Usd`);
  const rows = `${name}Assets` as const;
  const assetIds = values[rows].map(({ assetId }) => assetId);
  values[rows].forEach(({ assetId, amount }, index) => {
    const isFirst = assetId === "" || assetIds.indexOf(assetId) === index;
    check(assetId !== "", "Choose an asset.", rows, index, "assetId");
    check(isFirst, "This asset has a cap above.", rows, index, "assetId");
    check(
      isAssetAmount(amount),
      "Enter an amount above zero, such as 1,000.",
      rows,
      index,
      "amount",
    );
  });
};

const checkHours = ({ windows }: PolicyValues, check: Check): void => {
  check(windows.length > 0, "Add a time, or turn the rule off.", "hasHours");
  windows.forEach(({ days, ...times }, index) => {
    const from = times.from.trim();
    const to = times.to.trim();
    const areTimes = TIME.test(from) && TIME.test(to);
    check(days.length > 0, "Choose a day.", "windows", index, "days");
    check(TIME.test(from), "Enter a time such as 09:00.", "windows", index, "from");
    check(TIME.test(to), "Enter a time such as 17:00.", "windows", index, "to");
    check(!areTimes || from < to, "Must be later than the beginning.", "windows", index, "to");
  });
};

const checkApprovals = (values: PolicyValues, check: Check): void => {
  const { approvalsAboveUsd, approvalsCount } = values;
  check(isUsd(approvalsAboveUsd), NEEDED_AMOUNT, "approvalsAboveUsd");
  check(
    isWhole(approvalsCount, PEOPLE_MAX),
    `Enter a number from 1 to ${String(PEOPLE_MAX)}.`,
    "approvalsCount",
  );
  check(rolesIn(values).length > 0, CHOOSE_VOTERS, "approvalsCount");
};

const problemsOf = (values: PolicyValues): Problem[] => {
  const problems: Problem[] = [];
  const check: Check = (isRight, message, ...path) => {
    if (!isRight) problems.push({ path, message });
  };
  const { newRecipientHours, code, codeUsd } = values;
  checkCaps("perOperation", values, check);
  checkCaps("perDay", values, check);
  check(
    newRecipientHours.trim() === "" || isWhole(newRecipientHours, HOURS_MAX),
    "Enter whole hours, from 1 to 2160 (90 days).",
    "newRecipientHours",
  );
  if (values.hasHours) checkHours(values, check);
  if (code === "above" || code === "exempt") check(isUsd(codeUsd), NEEDED_AMOUNT, "codeUsd");
  if (values.hasApprovals) checkApprovals(values, check);
  if (problems.length > 0) return problems;
  const { error } = policyRules.safeParse(rulesOf(values));
  return (error?.issues ?? []).map(({ message }) => ({ path: ["root"], message }));
};

export const policyForm = policyValues.superRefine((values, context) => {
  for (const { path, message } of problemsOf(values))
    context.addIssue({ code: "custom", path: [...path], message });
});

/** The current rules of the form; null while a value is invalid. */
export const typedRules = (values: PolicyValues): PolicyRules | null =>
  problemsOf(values).length === 0 ? rulesOf(values) : null;

/** Whether two sets of rules are equal. Both are first converted to the form's order of fields. */
export const isSame = (one: PolicyRules, other: PolicyRules): boolean =>
  JSON.stringify(rulesOf(valuesOf(one, "UTC"))) ===
  JSON.stringify(rulesOf(valuesOf(other, "UTC")));
