/** One function for each rule of a policy. Each says what it finds; a rule that the policy does not have finds nothing. */
import type { RuleName } from "@/lib/contracts/policy-rules";
import { isOpen } from "./hours";
import { assetSum, assetUnit, atto, fromAtto, usdOf } from "./sums";
import type { Decision, EffectivePolicy, Facts, Movement, RequiredApproval, UsageUnit } from "./facts";

export interface Finding {
  readonly rule: RuleName;
  readonly outcome: Decision;
  readonly message: string;
  readonly field: string;
  readonly code?: boolean;
  readonly approval?: RequiredApproval;
}

interface Given {
  readonly policy: EffectivePolicy;
  readonly facts: Facts;
  /** Movements that the policy bounds and whose amounts count. */
  readonly movements: readonly Movement[];
  /** All movements that the policy bounds. */
  readonly bound: readonly Movement[];
}

type Rule = (given: Given) => Finding[];

const HOUR_MS = 3_600_000;

const finding = (rule: RuleName, field: string, refusal: string | null, allowed: string): Finding => ({
  rule,
  field,
  outcome: refusal === null ? "allow" : "deny",
  message: refusal ?? allowed,
});

const spentOf = ({ policy, facts }: Given, unit: UsageUnit): bigint => {
  const found = facts.usage.find(
    (usage) => usage.scope === policy.scope && usage.subjectId === policy.subjectId && usage.unit === unit,
  );
  return found === undefined ? 0n : atto(found.spent);
};

const UNKNOWN_WORTH = "The worth in US dollars is not known now, so it counts as above every limit.";

const perOperationUsd: Rule = ({ policy, facts, movements }) => {
  const cap = policy.rules.perOperation?.usd;
  if (cap === undefined) return [];
  const usd = usdOf(movements);
  const refusal =
    usd === null
      ? UNKNOWN_WORTH
      : usd > atto(cap)
        ? `It is worth ${fromAtto(usd)} US dollars; one operation may move ${cap}.`
        : null;
  return [finding("perOperation.usd", facts.fields.amount, refusal, `Within ${cap} US dollars for one operation.`)];
};

const perOperationAssets: Rule = ({ policy, facts, movements }) =>
  (policy.rules.perOperation?.assets ?? []).map(({ asset, amount }) => {
    const moved = assetSum(movements, asset);
    const refusal =
      moved > atto(amount) ? `It moves ${fromAtto(moved)} ${asset}; one operation may move ${amount}.` : null;
    return finding("perOperation.assets", facts.fields.amount, refusal, `Within ${amount} ${asset} for one operation.`);
  });

const perDayUsd: Rule = (given) => {
  const { policy, facts, movements } = given;
  const cap = policy.rules.perDay?.usd;
  if (cap === undefined) return [];
  const [usd, spent] = [usdOf(movements), spentOf(given, "usd")];
  const refusal =
    usd === null
      ? UNKNOWN_WORTH
      : spent + usd > atto(cap)
        ? `${fromAtto(spent)} US dollars were moved today and this is worth ${fromAtto(usd)}; a day may move ${cap}.`
        : null;
  return [finding("perDay.usd", facts.fields.amount, refusal, `Within ${cap} US dollars a day.`)];
};

const perDayAssets: Rule = (given) =>
  (given.policy.rules.perDay?.assets ?? []).map(({ asset, amount }) => {
    const [moved, spent] = [assetSum(given.movements, asset), spentOf(given, assetUnit(asset))];
    const refusal =
      moved > 0n && spent + moved > atto(amount)
        ? `${fromAtto(spent)} ${asset} were moved today and this moves ${fromAtto(moved)}; a day may move ${amount}.`
        : null;
    return finding("perDay.assets", given.facts.fields.amount, refusal, `Within ${amount} ${asset} a day.`);
  });

const strangers = ({ recipients }: Facts) => recipients.filter(({ isOwn }) => !isOwn);

const recipientList: Rule = ({ policy, facts }) => {
  if (policy.rules.recipients !== "approved_contacts") return [];
  const first = strangers(facts).find(({ contact }) => contact !== "approved");
  const refusal =
    first === undefined
      ? null
      : first.contact === "proposed"
        ? `${first.address} is in the address book, but nobody has approved it yet.`
        : `${first.address} is not in the address book. Add the contact and let an owner or admin approve it.`;
  return [finding("recipients", facts.fields.recipient, refusal, "Every recipient is an approved contact.")];
};

const newRecipients: Rule = ({ policy, facts }) => {
  const hours = policy.rules.newRecipientHours;
  if (hours === undefined) return [];
  const since = facts.at.getTime() - hours * HOUR_MS;
  const first = strangers(facts).find(({ knownSince }) => knownSince === null || knownSince.getTime() > since);
  const refusal =
    first === undefined
      ? null
      : first.knownSince === null
        ? `${first.address} is new. It may be paid ${hours} hours after its contact was approved.`
        : `${first.address} is new. It may be paid from ${new Date(first.knownSince.getTime() + hours * HOUR_MS).toISOString()}.`;
  return [finding("newRecipientHours", facts.fields.recipient, refusal, "No recipient is new.")];
};

const chains: Rule = ({ policy, facts }) => {
  const allowed = policy.rules.chains;
  if (allowed === undefined) return [];
  const other = facts.chains.find((chainId) => !allowed.includes(chainId));
  const refusal = other === undefined ? null : `Chain ${other} is not one of ${allowed.join(", ")}.`;
  return [finding("chains", facts.fields.chain, refusal, "Every chain is allowed.")];
};

const tokens: Rule = ({ policy, facts, bound }) => {
  const allowed = policy.rules.tokens;
  if (allowed === undefined) return [];
  const other = bound.find(
    ({ chainId, token }) =>
      !allowed.some((one) => one.chainId === chainId && one.token.toLowerCase() === token?.toLowerCase()),
  );
  const refusal = other === undefined ? null : `${other.asset} is not one of the tokens that may be moved.`;
  return [finding("tokens", facts.fields.token, refusal, "Every token is allowed.")];
};

const hours: Rule = ({ policy, facts }) => {
  const rule = policy.rules.hours;
  if (rule === undefined) return [];
  const refusal = isOpen(rule, facts.at) ? null : `Money does not move at this hour (${rule.timeZone}).`;
  return [finding("hours", "at", refusal, "Within the hours.")];
};

const code: Rule = (given) => {
  const rule = given.policy.rules.code;
  if (rule === undefined) return [];
  const found = (needs: boolean, message: string): Finding[] => [
    { rule: "code", outcome: "allow", field: "otp", message, code: needs },
  ];
  const usd = usdOf(given.movements);
  switch (rule.mode) {
    case "always":
      return found(true, "A one-time code is always needed.");
    case "above":
      return usd === null || usd > atto(rule.usd)
        ? found(true, `Above ${rule.usd} US dollars a one-time code is needed.`)
        : found(false, `Up to ${rule.usd} US dollars no one-time code is needed.`);
    case "exempt": {
      const isAbove = usd === null || spentOf(given, "usd_without_code") + usd > atto(rule.dailyCapUsd);
      return isAbove
        ? found(true, `Above ${rule.dailyCapUsd} US dollars a day a one-time code is needed.`)
        : found(false, `Up to ${rule.dailyCapUsd} US dollars a day no one-time code is needed.`);
    }
  }
};

const approvals: Rule = ({ policy, facts, movements }) => {
  const rule = policy.rules.approvals;
  if (rule === undefined) return [];
  const { aboveUsd, count, roles, excludeMaker } = rule;
  const usd = usdOf(movements);
  const name = "approvals" as const;
  const field = facts.fields.amount;
  if (usd !== null && usd <= atto(aboveUsd))
    return [{ rule: name, field, outcome: "allow", message: `Up to ${aboveUsd} US dollars nobody has to approve.` }];
  const who = `${count} of these roles: ${roles.join(", ")}${excludeMaker ? ", and not the maker" : ""}`;
  const message = `Above ${aboveUsd} US dollars it has to be approved by ${who}.`;
  return [{ rule: name, field, outcome: "needs_approval", message, approval: { count, roles, excludeMaker } }];
};

export const RULES: readonly Rule[] = [
  perOperationUsd,
  perOperationAssets,
  perDayUsd,
  perDayAssets,
  recipientList,
  newRecipients,
  chains,
  tokens,
  hours,
  code,
  approvals,
];
