/** Rules of a policy as sentences for people who plan and approve payments. */
import { amountText as textOf } from "@/lib/core/amount-text";
import type { PolicyRules, RuleName } from "@/lib/contracts/policy-rules";

export interface PolicyNames {
  readonly chain: (chainId: number) => string;
  /**
   * The name of a token on a chain.
   * @param token lower-case address, or `native`
   */
  readonly token: (chainId: number, token: string) => string;
  readonly asset: (assetId: string) => string;
}

type Caps = NonNullable<PolicyRules["perDay"]>;
type Hours = NonNullable<PolicyRules["hours"]>;
type Tokens = NonNullable<PolicyRules["tokens"]>;
type Code = NonNullable<PolicyRules["code"]>;
type Approvals = NonNullable<PolicyRules["approvals"]>;

const HOURS_A_DAY = 24;
export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

const amountText = (amount: string, unit: string): string =>
  `${textOf(amount, { symbol: unit, exact: true }).text} ${unit}`;

/** `5,000.00 USD`: with all digits of the amount, and at least cents. */
export const usdText = (amount: string): string => amountText(amount, "USD");

/** `a`, `a and b`, `a, b and c`. */
const listText = (items: readonly string[]): string =>
  items.length < 2
    ? items.join("")
    : `${items.slice(0, -1).join(", ")} and ${items.at(-1) ?? ""}`;

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
  return listText(
    runs.map((run) =>
      run.length === 1 ? nameOf(run[0]) : `${nameOf(run[0])}–${nameOf(run.at(-1))}`,
    ),
  );
};

export const waitText = (hours: number): string => {
  const days = hours / HOURS_A_DAY;
  if (Number.isInteger(days) && days > 1) return `${String(days)} days`;
  return hours === 1 ? "1 hour" : `${String(hours)} hours`;
};

const capSentences = (caps: Caps | undefined, when: string, names: PolicyNames): string[] => [
  ...(caps?.usd === undefined ? [] : [`At most ${usdText(caps.usd)} ${when}`]),
  ...(caps?.assets ?? []).map(
    ({ assetId, amount }) => `At most ${amountText(amount, names.asset(assetId))} ${when}`,
  ),
];

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

export const rolesText = (roles: Approvals["roles"]): string =>
  listText(roles.map((role) => `${role}s`));

/** `2 people of the owners and admins`. */
const peopleText = (count: number, roles: Approvals["roles"]): string =>
  `${count === 1 ? "1 person" : `${String(count)} people`} of the ${rolesText(roles)}`;

/** `2 people of the owners must approve, other than the person who asks`. */
export const votesText = ({
  count,
  roles,
  excludeMaker,
}: Pick<Approvals, "count" | "roles" | "excludeMaker">): string =>
  `${peopleText(count, roles)} must approve${excludeMaker ? ", other than the person who asks" : ""}`;

const approvalsText = ({
  aboveUsd,
  count,
  roles,
  excludeMaker,
  exemptKeys = false,
}: Approvals): string => {
  const maker = excludeMaker ? ", other than the person who asked" : "";
  const keys = exemptKeys ? "; exempt API keys need no votes within their daily caps" : "";
  return `Above ${usdText(aboveUsd)}, ${peopleText(count, roles)} must approve${maker}${keys}`;
};

const SCREENING_TEXTS: Readonly<Record<NonNullable<PolicyRules["screening"]>, string>> = {
  off: "Addresses are not screened",
  block_hits: "No payment to an address that a screening source lists",
  require_clear: "Only to and from addresses that a screening source clears",
};

const tokensText = (tokens: Tokens, names: PolicyNames): string =>
  listText(
    tokens.map(
      ({ chainId, token }) => `${names.token(chainId, token)} on ${names.chain(chainId)}`,
    ),
  );

/** A sentence without a full stop for each rule that limits something. */
export const sentencesOf = (rules: PolicyRules, names: PolicyNames): string[] => {
  const { newRecipientHours, screening, chains, tokens, hours, code, approvals } = rules;
  const sentences = [
    ...capSentences(rules.perOperation, "in one operation", names),
    ...capSentences(rules.perDay, "a day", names),
    rules.recipients === "approved_contacts" &&
      "Only to approved contacts and the project's own wallets",
    newRecipientHours !== undefined &&
      `A new recipient waits ${waitText(newRecipientHours)} before the first payment`,
    screening && SCREENING_TEXTS[screening],
    chains && `Only on ${listText(chains.map((chainId) => names.chain(chainId)))}`,
    tokens && `Only ${tokensText(tokens, names)}`,
    hours && hoursText(hours),
    code && codeText(code),
    approvals && approvalsText(approvals),
  ];
  return sentences.filter((sentence) => typeof sentence === "string");
};

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

export const changesOf = (
  before: PolicyRules,
  after: PolicyRules,
  names: PolicyNames,
): { readonly removed: readonly string[]; readonly added: readonly string[] } => {
  const old = sentencesOf(before, names);
  const fresh = sentencesOf(after, names);
  return {
    removed: old.filter((text) => !fresh.includes(text)),
    added: fresh.filter((text) => !old.includes(text)),
  };
};
