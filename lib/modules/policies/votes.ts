/** The votes that several rules demand together, and whether votes that were given suffice. */
import { DomainError } from "@/lib/core/errors";
import type { RequiredApproval } from "./facts";

const SETTING = "The project's setting: payments are approved by several people.";

/** All of them at once: the most people, the roles that every one accepts, and no maker where one excludes the maker. */
export const strictest = (approvals: readonly RequiredApproval[]): RequiredApproval | null => {
  const [first, ...others] = approvals;
  if (first === undefined) return null;
  return {
    count: Math.max(...approvals.map(({ count }) => count)),
    roles: first.roles.filter((role) => others.every(({ roles }) => roles.includes(role))).sort(),
    excludeMaker: approvals.some(({ excludeMaker }) => excludeMaker),
    demandedBy: approvals.flatMap(({ demandedBy = [] }) => demandedBy).sort(),
  };
};

/** Whether votes that met `given` also meet `demanded`. */
export const suffices = (given: RequiredApproval, demanded: RequiredApproval): boolean =>
  given.count >= demanded.count &&
  given.roles.every((role) => demanded.roles.includes(role)) &&
  (given.excludeMaker || !demanded.excludeMaker);

/**
 * The votes that the project's setting and its policies demand together; null where neither demands any.
 * @throws DomainError `policy_violation` when no role may vote for both
 */
export const votesOf = (
  setting: RequiredApproval | null,
  ofPolicies: RequiredApproval | null,
): RequiredApproval | null => {
  const demanded = setting === null ? null : { ...setting, demandedBy: [SETTING] };
  const required = strictest([demanded, ofPolicies].filter((each) => each !== null));
  if (required?.roles.length !== 0) return required;
  throw new DomainError(
    "policy_violation",
    "No role may approve this for both the project's setting and its policies. Nothing was sent; change one of them.",
  );
};
