import type { ResponseOf } from "@/lib/contracts/contract";
import type {
  evaluatePolicies,
  getPolicies,
  getPolicyEvaluation,
  putPolicy,
} from "@/lib/contracts/policies";
import type { Evaluation } from "./engine";
import type { ProjectPolicy } from "./project-policy";
import type { EvaluationRecord } from "./repository";
import type { Policy } from "./rows";

export const toPolicy = (policy: Policy): ResponseOf<typeof putPolicy> => ({
  id: policy.id,
  scope: policy.scope,
  subjectId: policy.subjectId,
  version: policy.version,
  rules: policy.rules,
  createdBy: policy.createdBy,
  createdAt: policy.createdAt.toISOString(),
});

export const toPolicies = (
  { dailyCapUsd, spentTodayUsd, approvals }: ProjectPolicy,
  policies: readonly Policy[],
): ResponseOf<typeof getPolicies> => ({
  dailyCapUsd,
  spentTodayUsd,
  approvals: approvals === null ? null : { ...approvals, roles: [...approvals.roles] },
  policies: policies.map(toPolicy),
});

export const toEvaluation = ({
  decision,
  code,
  rules,
  approval,
}: Evaluation): ResponseOf<typeof evaluatePolicies> => ({
  decision,
  code,
  rules: rules.map(({ policyId, version, scope, rule, outcome, message, field }) => ({
    ...{ policyId, version, scope, rule, outcome, message, field },
  })),
  approval:
    approval === null
      ? null
      : {
          count: approval.count,
          roles: [...approval.roles],
          excludeMaker: approval.excludeMaker,
        },
});

export const toStoredEvaluation = (
  evaluation: EvaluationRecord,
): ResponseOf<typeof getPolicyEvaluation> => {
  const { id, subjectType, subjectId, decision, code, rules, createdBy, createdAt } =
    evaluation;
  return {
    id,
    subject: subjectId === null ? null : { type: subjectType, id: subjectId },
    decision,
    code,
    rules,
    createdBy,
    createdAt: createdAt.toISOString(),
  };
};
