"use client";

import type { ReactNode } from "react";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { sentencesOf, type PolicyNames } from "./rule-words";

interface RuleListProps {
  readonly rules: PolicyRules;
  readonly names: PolicyNames;
  readonly label: string;
}

export const RuleList = ({ rules, names, label }: RuleListProps): ReactNode => {
  const sentences = sentencesOf(rules, names);
  if (sentences.length === 0) return <p className="text-fg-2">No limit: every rule is off.</p>;
  return (
    <ul aria-label={label} className="flex list-disc flex-col gap-1 pl-5 marker:text-fg-3">
      {sentences.map((text) => (
        <li key={text} className="wrap-anywhere">
          {text}
        </li>
      ))}
    </ul>
  );
};
