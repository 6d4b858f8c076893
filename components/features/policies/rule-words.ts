/** Rules of a policy as sentences for people who plan and approve payments. */
import { amountText as textOf } from "@/lib/core/amount-text";
import type { PolicyRules, RuleName } from "@/lib/contracts/policy-rules";

/** Names of what rules refer to by id. */
export interface PolicyNames {
  readonly chain: (chainId: number) => string;
  /** @param token lower-case address, or `native` */
  readonly token: (chainId: number, token: string) => string;
  readonly asset: (assetId: string) => string;
}

export interface RuleSentence {
  readonly rule: RuleName;
  readonly text: string;
}

type Caps = NonNullable<PolicyRules["perDay"]>;
type Hours = NonNullable<PolicyRules["hours"]>;
type Code = NonNullable<PolicyRules["code"]>;
type Approvals = NonNullable<PolicyRules["approvals"]>;

const HOURS_A_DAY = 24;
export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const amountText = (amount: string, unit: string): string =>
  `${textOf(amount, { symbol: unit, exact: true }).text} ${unit}`;

/** `5,000.00 USD`: all digits that the amount has, and cents at least. */
export const usdText = (amount: string): string => amountText(amount, "USD");

/** `a`, `a and b`, `a, b and c`. */
const listText = (items: readonly string[]): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;

/** `Mon–Fri`, `Mon, Wed and Sat–Sun`. @param days 1 is Monday */
export const daysText = (days: readonly number[]): string => {
  const sorted = [...new Set(days)].sort((a, b) => a - b);
  const runs: number[][] = [];
  for (const day of sorted) {
    const run = runs.at(-1);
    if (run?.at(-1) === day - 1) run.push(day);
    else runs.push([day]);
  }
  const nameOf = (day: number | undefined): string => WEEKDAYS[(day ?? 1) - 1] ?? "";
  return listText(runs.map((run) => (run.length === 1 ? nameOf(run[0]) : `${nameOf(run[0])}–${nameOf(run.at(-1))}`)));
};

export const waitText = (hours: number): string => {
  const days = hours / HOURS_A_DAY;
  if (Number.isInteger(days) && days > 1) return `${String(days)} days`;
  return hours === 1 ? "1 hour" : `${String(hours)} hours`;
};

const capSentences = (which: "perOperation" | "perDay", caps: Caps | undefined, names: PolicyNames): RuleSentence[] => {
  const when = which === "perDay" ? "a day" : "in one operation";
  return [
    ...(caps?.usd === undefined
      ? []
      : [{ rule: `${which}.usd` as const, text: `At most ${usdText(caps.usd)} ${when}` }]),
    ...(caps?.assets ?? []).map(({ asset, amount }) => ({
      rule: `${which}.assets` as const,
      text: `At most ${amountText(amount, names.asset(asset))} ${when}`,
    })),
  ];
};

const hoursText = ({ timeZone, windows }: Hours): string =>
  `Only ${listText(windows.map(({ days, from, to }) => `${daysText(days)} ${from} to ${to}`))} (${timeZone})`;

const codeText = (code: Code): string => {
  switch (code.mode) {
    case "always":
      return "A one-time code for every movement";
    case "above":
      return `A one-time code above ${usdText(code.usd)}`;
    case "exempt":
      return `No one-time code up to ${usdText(code.dailyCapUsd)} a day; a code above it`;
  }
};

export const rolesText = (roles: Approvals["roles"]): string => listText(roles.map((role) => `${role}s`));

const approvalsText = ({ aboveUsd, count, roles, excludeMaker }: Approvals): string =>
  `Above ${usdText(aboveUsd)}, ${count === 1 ? "1 person" : `${String(count)} people`} of the ${rolesText(roles)} must approve` +
  (excludeMaker ? ", other than the person who asked" : "");

const SCREENING_TEXTS: Readonly<Record<NonNullable<PolicyRules["screening"]>, string>> = {
  off: "Addresses are not screened",
  block_hits: "No payment to an address that a screening source lists",
  require_clear: "Only to and from addresses that a screening source clears",
};

const recipientSentences = ({ recipients, newRecipientHours, screening }: PolicyRules): RuleSentence[] => [
  ...(recipients === "approved_contacts"
    ? [{ rule: "recipients" as const, text: "Only to approved contacts and the project's own wallets" }]
    : []),
  ...(newRecipientHours === undefined
    ? []
    : [
        {
          rule: "newRecipientHours" as const,
          text: `A new recipient waits ${waitText(newRecipientHours)} before the first payment`,
        },
      ]),
  ...(screening === undefined ? [] : [{ rule: "screening" as const, text: SCREENING_TEXTS[screening] }]),
];

/** A sentence for each rule, without a full stop; none when nothing is bounded. */
export const sentencesOf = (rules: PolicyRules, names: PolicyNames): RuleSentence[] => [
  ...capSentences("perOperation", rules.perOperation, names),
  ...capSentences("perDay", rules.perDay, names),
  ...recipientSentences(rules),
  ...(rules.chains === undefined
    ? []
    : [{ rule: "chains" as const, text: `Only on ${listText(rules.chains.map((chainId) => names.chain(chainId)))}` }]),
  ...(rules.tokens === undefined
    ? []
    : [
        {
          rule: "tokens" as const,
          text: `Only ${listText(
            rules.tokens.map(({ chainId, token }) => `${names.token(chainId, token)} on ${names.chain(chainId)}`),
          )}`,
        },
      ]),
  ...(rules.hours === undefined ? [] : [{ rule: "hours" as const, text: hoursText(rules.hours) }]),
  ...(rules.code === undefined ? [] : [{ rule: "code" as const, text: codeText(rules.code) }]),
  ...(rules.approvals === undefined ? [] : [{ rule: "approvals" as const, text: approvalsText(rules.approvals) }]),
];

/** Names of the rules, as the dry run and the pages of operations show them. */
export const RULE_WORDS: Readonly<Record<RuleName, string>> = {
  "perOperation.usd": "Most in one operation",
  "perOperation.assets": "Most of an asset in one operation",
  "perDay.usd": "Most in a day",
  "perDay.assets": "Most of an asset in a day",
  recipients: "Approved recipients",
  newRecipientHours: "Wait for new recipients",
  screening: "Screening of addresses",
  chains: "Chains",
  tokens: "Tokens",
  hours: "Hours",
  code: "One-time code",
  approvals: "Approval by other people",
};

/** The sentences that a version took away and added, compared with the one before. */
export const changesOf = (
  before: PolicyRules,
  after: PolicyRules,
  names: PolicyNames,
): { readonly removed: readonly string[]; readonly added: readonly string[] } => {
  const [old, fresh] = [before, after].map((rules) => sentencesOf(rules, names).map(({ text }) => text));
  return {
    removed: (old ?? []).filter((text) => fresh?.includes(text) !== true),
    added: (fresh ?? []).filter((text) => old?.includes(text) !== true),
  };
};
