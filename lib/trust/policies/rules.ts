import type { RuleName } from "@/lib/contracts/policy-rules";
import { isId } from "@/lib/core/ids";
import {
  assetSum,
  assetUnit,
  atto,
  boundBy,
  countedBy,
  type Decision,
  type EffectivePolicy,
  type Facts,
  fromAtto,
  isOpen,
  type Movement,
  type RequiredApproval,
  SETTING,
  strictest,
  type UsageUnit,
  usdOf,
} from "./facts";
import type { Recipient } from "./rows";

// One function for each rule of a policy. Each returns its findings, and none when the policy does
// not have the rule.

interface Finding {
  readonly rule: RuleName;
  readonly outcome: Decision;
  readonly message: string;
  readonly field: string;
  readonly code?: boolean;
  /**
   * The votes that the movement needs now. When the outcome is `allow`, the votes that it needs
   * only if it has to wait for a code.
   */
  readonly approval?: RequiredApproval;
}

interface Given {
  readonly policy: EffectivePolicy;
  readonly facts: Facts;
  /** Movements that the policy applies to and whose amounts count. */
  readonly movements: readonly Movement[];
  /** All movements that the policy applies to. */
  readonly bound: readonly Movement[];
}

type Rule = (given: Given) => Finding[];

const HOUR_MS = 3_600_000;

const finding = (
  rule: RuleName,
  field: string,
  refusal: string | null,
  allowed: string,
): Finding => ({
  rule,
  field,
  outcome: refusal === null ? "allow" : "deny",
  message: refusal ?? allowed,
});

const spentOf = ({ policy, facts }: Given, unit: UsageUnit): bigint => {
  const found = facts.usage.find(
    (usage) =>
      usage.scope === policy.scope &&
      usage.subjectId === policy.subjectId &&
      usage.unit === unit,
  );
  return found === undefined ? 0n : atto(found.spent);
};

const UNKNOWN_WORTH =
  "The worth in US dollars is not known now, so it counts as above every limit.";

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
  return [
    finding(
      "perOperation.usd",
      facts.fields.amount,
      refusal,
      `Within ${cap} US dollars for one operation.`,
    ),
  ];
};

const perOperationAssets: Rule = ({ policy, facts, movements }) =>
  (policy.rules.perOperation?.assets ?? []).map(({ assetId: asset, amount }) => {
    const moved = assetSum(movements, asset);
    const refusal =
      moved > atto(amount)
        ? `It moves ${fromAtto(moved)} ${asset}; one operation may move ${amount}.`
        : null;
    return finding(
      "perOperation.assets",
      facts.fields.amount,
      refusal,
      `Within ${amount} ${asset} for one operation.`,
    );
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
  return [
    finding("perDay.usd", facts.fields.amount, refusal, `Within ${cap} US dollars a day.`),
  ];
};

const perDayAssets: Rule = (given) =>
  (given.policy.rules.perDay?.assets ?? []).map(({ assetId: asset, amount }) => {
    const [moved, spent] = [assetSum(given.movements, asset), spentOf(given, assetUnit(asset))];
    const refusal =
      moved > 0n && spent + moved > atto(amount)
        ? `${fromAtto(spent)} ${asset} were moved today and this moves ${fromAtto(moved)}; a day may move ${amount}.`
        : null;
    return finding(
      "perDay.assets",
      given.facts.fields.amount,
      refusal,
      `Within ${amount} ${asset} a day.`,
    );
  });

const strangers = ({ recipients }: Facts) => recipients.filter(({ isOwn }) => !isOwn);

const notApproved = ({ address, contact }: Recipient): string => {
  if (contact === "proposed")
    return `${address} is in the address book, but nobody has approved its present name and chains.`;
  if (contact === "elsewhere")
    return `${address} is an approved contact, but it was not approved for this chain.`;
  return `${address} is not in the address book. Add the contact and let an owner or admin approve it.`;
};
/** Why a recipient that is a private wallet of the project is refused; null for an address. */
const whyExported = ({ address }: Recipient): string | null =>
  isId("privacyWallet", address)
    ? `The mnemonic of the private wallet ${address} was shown, so it counts as an address that nobody approved. Use another private wallet.`
    : null;

const recipientList: Rule = ({ policy, facts }) => {
  if (policy.rules.recipients !== "approved_contacts") return [];
  const first = strangers(facts).find(({ contact }) => contact !== "approved");
  const refusal = first === undefined ? null : (whyExported(first) ?? notApproved(first));
  return [
    finding(
      "recipients",
      facts.fields.recipient,
      refusal,
      "Every recipient is an approved contact.",
    ),
  ];
};

const whyNew = ({ address, knownSince }: Recipient, hours: number): string =>
  knownSince === null
    ? `${address} is new. It may be paid ${hours} hours after its contact was approved.`
    : `${address} is new. It may be paid from ${new Date(knownSince.getTime() + hours * HOUR_MS).toISOString()}.`;

const newRecipients: Rule = ({ policy, facts }) => {
  const hours = policy.rules.newRecipientHours;
  if (hours === undefined) return [];
  const since = facts.at.getTime() - hours * HOUR_MS;
  const isNew = ({ address, knownSince }: Recipient): boolean =>
    isId("privacyWallet", address) || knownSince === null || knownSince.getTime() > since;
  const first = strangers(facts).find(isNew);
  const refusal = first === undefined ? null : (whyExported(first) ?? whyNew(first, hours));
  return [
    finding("newRecipientHours", facts.fields.recipient, refusal, "No recipient is new."),
  ];
};

/**
 * With `require_clear`, refuses a private wallet whose mnemonic was shown. Screening sources check
 * only addresses, so no source can clear such a wallet.
 */
const clearRecipients: Rule = ({ policy, facts }) => {
  if (policy.rules.screening !== "require_clear") return [];
  const refusal = facts.recipients.map(whyExported).find((why) => why !== null);
  return refusal === undefined
    ? []
    : [finding("screening", facts.fields.recipient, refusal, "")];
};

const chains: Rule = ({ policy, facts }) => {
  const allowed = policy.rules.chains;
  if (allowed === undefined) return [];
  const other = facts.chains.find((chainId) => !allowed.includes(chainId));
  const refusal =
    other === undefined ? null : `Chain ${other} is not one of ${allowed.join(", ")}.`;
  return [finding("chains", facts.fields.chain, refusal, "Every chain is allowed.")];
};

const tokens: Rule = ({ policy, facts, bound }) => {
  const allowed = policy.rules.tokens;
  if (allowed === undefined) return [];
  const other = bound.find(
    ({ chainId, token }) =>
      !allowed.some(
        (one) => one.chainId === chainId && one.token.toLowerCase() === token?.toLowerCase(),
      ),
  );
  const refusal =
    other === undefined ? null : `${other.asset} is not one of the tokens that may be moved.`;
  return [finding("tokens", facts.fields.token, refusal, "Every token is allowed.")];
};

const hours: Rule = ({ policy, facts }) => {
  const rule = policy.rules.hours;
  if (rule === undefined) return [];
  const refusal = isOpen(rule, facts.at)
    ? null
    : `Money does not move at this hour (${rule.timeZone}).`;
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
      const isAbove =
        usd === null || spentOf(given, "usd_without_code") + usd > atto(rule.dailyCapUsd);
      return isAbove
        ? found(true, `Above ${rule.dailyCapUsd} US dollars a day a one-time code is needed.`)
        : found(
            false,
            `Up to ${rule.dailyCapUsd} US dollars a day no one-time code is needed.`,
          );
    }
  }
};

const approvals: Rule = ({ policy, facts, movements }) => {
  const rule = policy.rules.approvals;
  if (rule === undefined) return [];
  const { aboveUsd, count, roles, excludeMaker, exemptKeys = false } = rule;
  const usd = usdOf(movements);
  const name = "approvals" as const;
  const field = facts.fields.amount;
  if (usd !== null && usd <= atto(aboveUsd))
    return [
      {
        rule: name,
        field,
        outcome: "allow",
        message: `Up to ${aboveUsd} US dollars nobody has to approve.`,
      },
    ];
  const who = `${count} of these roles: ${roles.join(", ")}${excludeMaker ? ", and not the maker" : ""}`;
  const approval = { count, roles, excludeMaker };
  if (exemptKeys && facts.byExemptKey) {
    const message = `Within its daily cap an API key that is exempt from codes needs no votes; above it, those of ${who}.`;
    return [{ rule: name, field, outcome: "allow", message, approval }];
  }
  const message =
    policy.id === null
      ? `${SETTING} ${who}.`
      : `Above ${aboveUsd} US dollars it has to be approved by ${who}.`;
  return [{ rule: name, field, outcome: "needs_approval", message, approval }];
};

const RULES: readonly Rule[] = [
  perOperationUsd,
  perOperationAssets,
  perDayUsd,
  perDayAssets,
  recipientList,
  newRecipients,
  clearRecipients,
  chains,
  tokens,
  hours,
  code,
  approvals,
];

export interface RuleResult {
  /** Null when no policy sets the rule, so that its default applies. */
  readonly policyId: string | null;
  readonly version: number;
  readonly scope: EffectivePolicy["scope"];
  readonly rule: RuleName;
  readonly outcome: Decision;
  readonly message: string;
  readonly field: string;
}

export interface Evaluation {
  readonly decision: Decision;
  readonly rules: readonly RuleResult[];
  readonly code: "required" | "not";
  /** The votes that the movement needs when the decision is `needs_approval`; null otherwise. */
  readonly approval: RequiredApproval | null;
  /**
   * The votes that the movement needs once it waits, even if an API key could move it without votes
   * now. `votesOf` reads it.
   */
  readonly votes: RequiredApproval | null;
}

/**
 * Decides on a movement. It is pure: the same policies and facts always give the same answer. Each
 * rule of each applicable policy is decided separately, and the strictest outcome wins. So a
 * further policy never makes the decision looser, and the order does not matter. Without a policy
 * everything is allowed.
 * @param policies the newest version of each; policies of other wallets and keys are ignored
 */
export const evaluate = (policies: readonly EffectivePolicy[], facts: Facts): Evaluation => {
  const findings = policies.flatMap((policy) => findingsOf(policy, facts));
  const votes = strictest(findings.flatMap(demandOf));
  const required = strictest(
    findings.filter(({ finding }) => finding.outcome === "needs_approval").flatMap(demandOf),
  );
  const rules = findings.map(({ policy, finding }) => resultOf(policy, finding)).sort(inOrder);
  const isDenied =
    rules.some(({ outcome }) => outcome === "deny") || required?.roles.length === 0;
  const decision = isDenied ? "deny" : required === null ? "allow" : "needs_approval";
  return {
    decision,
    rules: required?.roles.length === 0 ? rules.map(withoutApprover) : rules,
    code: findings.some(({ finding }) => finding.code === true) ? "required" : "not",
    approval: decision === "needs_approval" ? required : null,
    votes,
  };
};

export const applies = (
  policy: EffectivePolicy,
  facts: Pick<Facts, "movements" | "keyIds" | "projectId">,
): boolean => {
  switch (policy.scope) {
    case "project":
      return policy.subjectId === facts.projectId;
    case "wallet":
      return facts.movements.some(({ walletId }) => walletId === policy.subjectId);
    case "key":
      return facts.keyIds.includes(policy.subjectId);
  }
};

const findingsOf = (
  policy: EffectivePolicy,
  facts: Facts,
): { policy: EffectivePolicy; finding: Finding }[] => {
  if (!applies(policy, facts)) return [];
  const movements = countedBy(policy, facts.movements);
  const bound = boundBy(policy, facts.movements);
  return RULES.flatMap((rule) => rule({ policy, facts, movements, bound })).map((finding) => ({
    policy,
    finding,
  }));
};

const SCOPE_NAMES = { project: "the project", wallet: "a wallet", key: "an API key" } as const;

/** The votes that a rule demands, with the name of the rule that voters see. */
const demandOf = ({
  policy: { id, scope, version },
  finding: { approval, message },
}: {
  readonly policy: EffectivePolicy;
  readonly finding: Finding;
}): RequiredApproval[] => {
  if (approval === undefined) return [];
  const source =
    id === null ? "" : `Policy of ${SCOPE_NAMES[scope]}, version ${String(version)}: `;
  return [{ ...approval, demandedBy: [`${source}${message}`] }];
};

const resultOf = ({ id, version, scope }: EffectivePolicy, finding: Finding): RuleResult => ({
  policyId: id,
  version,
  scope,
  rule: finding.rule,
  outcome: finding.outcome,
  message: finding.message,
  field: finding.field,
});

const inOrder = (a: RuleResult, b: RuleResult): number => {
  const [one, other] = [a, b].map(
    ({ scope, policyId, rule, message }) => `${scope}|${String(policyId)}|${rule}|${message}`,
  );
  return (one ?? "") < (other ?? "") ? -1 : 1;
};

const withoutApprover = (result: RuleResult): RuleResult =>
  result.outcome === "needs_approval"
    ? {
        ...result,
        outcome: "deny",
        message: "No role may approve this for every policy that asks for an approval.",
      }
    : result;
