"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, UsersRound } from "lucide-react";
import type { ReactNode } from "react";
import { queryKeyOf } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { TONE_LOOKS } from "@/components/ui/badge";
import { cn } from "@/components/ui/cn";
import { useSettled } from "@/components/ui/use-settled";
import { evaluatePolicies } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { RULE_WORDS, votesText } from "../rule-words";
import { SCOPE_WORDS } from "../use-policies";

type Evaluation = ResponseOf<typeof evaluatePolicies>;

type RuleResult = Pick<
  Evaluation["rules"][number],
  "policyId" | "scope" | "version" | "rule" | "outcome" | "message"
>;

export const DECISION_LOOKS = {
  allow: { label: "Allowed", tone: "success", icon: CircleCheck },
  needs_approval: { label: "Needs approval", tone: "warning", icon: UsersRound },
  deny: { label: "Denied", tone: "danger", icon: Ban },
} as const satisfies Record<Evaluation["decision"], object>;

interface VerdictProps {
  readonly title: string;
  readonly evaluation: Evaluation;
  /** Whether the answer for the current values has not arrived yet. */
  readonly isOutdated: boolean;
}

export const Verdict = ({ title, evaluation, isOutdated }: VerdictProps): ReactNode => {
  const { decision, code, rules, approval } = evaluation;
  const { label, tone, icon: Icon } = DECISION_LOOKS[decision];
  const deciding =
    decision === "allow" ? [] : rules.filter(({ outcome }) => outcome === decision);
  const rest = rules.filter((result) => !deciding.includes(result));
  return (
    <section
      aria-label={title}
      aria-busy={isOutdated || undefined}
      className="rounded-card border"
    >
      <div
        className={cn(
          "flex flex-wrap items-center gap-x-3 gap-y-1 rounded-t-card px-3 py-2",
          TONE_LOOKS[tone],
        )}
      >
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
          <p>
            {rules.length === 0
              ? "No policy bounds this movement."
              : "Every rule lets it pass."}
          </p>
        ) : (
          <RuleResults results={deciding} label="Rules that decided" />
        )}
        {/* When several rules decide, one sentence states the approval that they require. */}
        {approval === null || deciding.length < 2 ? null : <p>{`${votesText(approval)}.`}</p>}
        <p className="text-sm text-fg-2">
          {code === "required"
            ? "The policies ask for a one-time code."
            : "The policies ask for no one-time code."}
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
  policyId === null
    ? "Applies without a policy"
    : `${SCOPE_WORDS[scope]}, version ${String(version)}`;

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

/**
 * Says where a contact can be approved, when the policies deny a movement because its recipient is
 * not an approved contact.
 */
export const ContactHint = ({ evaluation }: { readonly evaluation: Evaluation }): ReactNode =>
  evaluation.rules.some(({ rule, outcome }) => rule === "recipients" && outcome === "deny") ? (
    <p className="text-sm text-fg-2">Owners and admins approve contacts in the address book.</p>
  ) : null;

type DryRunBody = BodyInput<typeof evaluatePolicies>;

interface DryRun {
  /**
   * The decision for the values that were typed last. While their request runs, this is the
   * previous decision.
   */
  readonly evaluation: Evaluation | undefined;
  /** Whether `evaluation` is for earlier values. */
  readonly isOutdated: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/**
 * The policies' decision about a movement. The request waits until the person stops typing. Without
 * a body, no request is sent.
 */
export const useDryRun = (body: DryRunBody | null): DryRun => {
  const api = useApi();
  const key = body === null ? null : JSON.stringify(body);
  const [settled] = useSettled(key);
  const query = useQuery({
    queryKey: [...queryKeyOf(evaluatePolicies), settled],
    queryFn: ({ signal }) =>
      api.call(evaluatePolicies, { body: JSON.parse(settled ?? "null") as DryRunBody, signal }),
    enabled: settled !== null && key !== null,
    placeholderData: keepPreviousData,
    // Later movements change the answer, so a cached answer is always stale.
    staleTime: 0,
  });
  return {
    evaluation: key === null ? undefined : query.data,
    isOutdated: settled !== key || query.isPlaceholderData || query.isFetching,
    error: settled === key ? query.error : null,
    retry: () => void query.refetch(),
  };
};
