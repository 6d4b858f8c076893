import type { PolicyScope } from "@/lib/contracts/policy-rules";

/** The subject of a policy: the project, a wallet or an API key. */
export interface PolicySubject {
  readonly scope: PolicyScope;
  /** Undefined for the project. */
  readonly subjectId: string | undefined;
}

const PROJECT = "project";

export const SCOPE_WORDS: Readonly<Record<PolicyScope, string>> = {
  project: "Whole project",
  wallet: "Wallet",
  key: "API key",
};

export const pathOfSubject = ({ subjectId = PROJECT }: Pick<PolicySubject, "subjectId">): string =>
  `/settings/policies/${subjectId}`;

/** The subject that a page's path names; null where it names none. */
export const subjectOf = (param: string): PolicySubject | null => {
  if (param === PROJECT) return { scope: "project", subjectId: undefined };
  if (param.startsWith("wal_")) return { scope: "wallet", subjectId: param };
  if (param.startsWith("key_")) return { scope: "key", subjectId: param };
  return null;
};

/** Whether a stored policy is that of the subject. */
export const isOf = (
  policy: { readonly scope: PolicyScope; readonly subjectId: string },
  { scope, subjectId }: PolicySubject,
): boolean => policy.scope === scope && (scope === "project" || policy.subjectId === subjectId);
