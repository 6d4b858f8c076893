import type { RuleName } from "@/lib/contracts/policy-rules";
import { RULES, type Finding } from "./rules";
import { boundBy, countedBy } from "./sums";
import { strictest } from "./votes";
import type { Decision, EffectivePolicy, Facts, RequiredApproval } from "./facts";

/** The result of one rule of one policy for a movement. */
export interface RuleResult {
  /** Null: no policy sets the rule, and its default applies. */
  readonly policyId: string | null;
  readonly version: number;
  readonly scope: EffectivePolicy["scope"];
  readonly rule: RuleName;
  readonly outcome: Decision;
  readonly message: string;
  /** The field of the request that the rule is about. */
  readonly field: string;
}

export interface Evaluation {
  readonly decision: Decision;
  readonly rules: readonly RuleResult[];
  readonly code: "required" | "not";
  /** Who has to approve the movement when the decision is `needs_approval`; null otherwise. */
  readonly approval: RequiredApproval | null;
}

/**
 * Decides on a movement: pure, so the same policies and facts always give the same answer. Each rule of each policy that applies is
 * decided by itself, and the strictest outcome wins. So a further policy never makes the decision looser, and their order does not matter.
 * Without a policy everything is allowed.
 * @param policies the newest version of each; those of other wallets and keys are left out here
 */
export const evaluate = (policies: readonly EffectivePolicy[], facts: Facts): Evaluation => {
  const findings = policies.flatMap((policy) => findingsOf(policy, facts));
  const required = strictest(findings.flatMap(demandOf));
  const rules = findings.map(({ policy, finding }) => resultOf(policy, finding)).sort(inOrder);
  const isDenied = rules.some(({ outcome }) => outcome === "deny") || required?.roles.length === 0;
  const decision = isDenied ? "deny" : required === null ? "allow" : "needs_approval";
  return {
    decision,
    rules: required?.roles.length === 0 ? rules.map(withoutApprover) : rules,
    code: findings.some(({ finding }) => finding.code === true) ? "required" : "not",
    approval: decision === "needs_approval" ? required : null,
  };
};

/** Whether a policy bounds the movement. */
export const applies = (policy: EffectivePolicy, facts: Pick<Facts, "movements" | "keyIds" | "projectId">): boolean => {
  switch (policy.scope) {
    case "project":
      return policy.subjectId === facts.projectId;
    case "wallet":
      return facts.movements.some(({ walletId }) => walletId === policy.subjectId);
    case "key":
      return facts.keyIds.includes(policy.subjectId);
  }
};

const findingsOf = (policy: EffectivePolicy, facts: Facts): { policy: EffectivePolicy; finding: Finding }[] => {
  if (!applies(policy, facts)) return [];
  const movements = countedBy(policy, facts.movements);
  const bound = boundBy(policy, facts.movements);
  return RULES.flatMap((rule) => rule({ policy, facts, movements, bound })).map((finding) => ({ policy, finding }));
};

const SCOPE_NAMES = { project: "the project", wallet: "a wallet", key: "an API key" } as const;

/** The votes that a rule demands, with the rule's name for the voters. */
const demandOf = ({
  policy: { scope, version },
  finding: { approval, message },
}: {
  readonly policy: EffectivePolicy;
  readonly finding: Finding;
}): RequiredApproval[] =>
  approval === undefined
    ? []
    : [{ ...approval, demandedBy: [`Policy of ${SCOPE_NAMES[scope]}, version ${String(version)}: ${message}`] }];

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
    ? { ...result, outcome: "deny", message: "No role may approve this for every policy that asks for an approval." }
    : result;
