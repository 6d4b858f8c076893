"use client";

import { Ban, CircleCheck, UsersRound } from "lucide-react";
import type { ReactNode } from "react";
import { TONE_LOOKS } from "@/components/ui/badge";
import { cn } from "@/components/ui/cn";
import { RULE_WORDS, rolesText } from "../rule-words";
import { SCOPE_WORDS } from "../subject";
import type { Evaluation } from "./use-dry-run";

type Decision = Evaluation["decision"];
type RuleResult = Pick<Evaluation["rules"][number], "policyId" | "scope" | "version" | "rule" | "outcome" | "message">;

export const DECISION_LOOKS = {
  allow: { label: "Allowed", tone: "success", icon: CircleCheck },
  needs_approval: { label: "Needs approval", tone: "warning", icon: UsersRound },
  deny: { label: "Denied", tone: "danger", icon: Ban },
} as const satisfies Record<Decision, object>;

interface VerdictProps {
  readonly title: string;
  readonly evaluation: Evaluation;
  /** The answer to what is typed now is on its way. */
  readonly isOutdated: boolean;
}

const approvalText = ({ count, roles, excludeMaker }: NonNullable<Evaluation["approval"]>): string =>
  `${count === 1 ? "1 person" : `${String(count)} people`} of the ${rolesText(roles)} must approve` +
  `${excludeMaker ? ", other than the person who asks" : ""}.`;

/** The decision about a movement, and the rules that made it. */
export const Verdict = ({ title, evaluation, isOutdated }: VerdictProps): ReactNode => {
  const { decision, code, rules, approval } = evaluation;
  const { label, tone, icon: Icon } = DECISION_LOOKS[decision];
  const deciding = decision === "allow" ? [] : rules.filter(({ outcome }) => outcome === decision);
  const rest = rules.filter((result) => !deciding.includes(result));
  return (
    <section aria-label={title} aria-busy={isOutdated || undefined} className="rounded-card border">
      <div className={cn("flex flex-wrap items-center gap-x-3 gap-y-1 rounded-t-card px-3 py-2", TONE_LOOKS[tone])}>
        <Icon className="size-4 shrink-0" aria-hidden />
        <span role="status" className="text-lg font-semibold">
          <span className="sr-only">{title}: </span>
          {label}
        </span>
        <span aria-hidden className="ml-auto text-sm">
          {isOutdated ? "Trying …" : title}
        </span>
      </div>
      <div className="flex flex-col gap-2 px-3 py-2.5">
        {deciding.length === 0 ? (
          <p>{rules.length === 0 ? "No policy bounds this movement." : "Every rule lets it pass."}</p>
        ) : (
          <RuleResults results={deciding} label="Rules that decided" />
        )}
        {/* Several rules have one sentence for the approval that they ask for together. */}
        {approval === null || deciding.length < 2 ? null : <p>{approvalText(approval)}</p>}
        <p className="text-sm text-fg-2">
          {code === "required" ? "The policies ask for a one-time code." : "The policies ask for no one-time code."}
        </p>
        {rest.length === 0 ? null : (
          <details>
            <summary className="min-h-6 cursor-pointer text-sm text-fg-2 touch-target">
              {rest.length === 1 ? "1 other rule" : `${String(rest.length)} other rules`}
            </summary>
            <RuleResults results={rest} label="Other rules" />
          </details>
        )}
      </div>
    </section>
  );
};

const policyText = ({ policyId, scope, version }: RuleResult): string =>
  policyId === null ? "Applies without a policy" : `${SCOPE_WORDS[scope]}, version ${String(version)}`;

/** The results of rules, each with the policy that it belongs to. */
export const RuleResults = ({
  results,
  label,
}: {
  readonly results: readonly RuleResult[];
  readonly label: string;
}): ReactNode => (
  <ul aria-label={label} className="flex flex-col gap-2">
    {results.map((result, index) => (
      <li key={index} className="min-w-0">
        <p className="wrap-anywhere">
          <span className="font-medium">{RULE_WORDS[result.rule]}.</span> {result.message}
        </p>
        <p className="text-sm text-fg-3">
          {policyText(result)}: {DECISION_LOOKS[result.outcome].label.toLowerCase()}
        </p>
      </li>
    ))}
  </ul>
);

/** Where a contact is approved, when that is what is missing. */
export const ContactHint = ({ evaluation }: { readonly evaluation: Evaluation }): ReactNode =>
  evaluation.rules.some(({ rule, outcome }) => rule === "recipients" && outcome === "deny") ? (
    <p className="text-sm text-fg-2">Owners and admins approve contacts in the address book.</p>
  ) : null;
