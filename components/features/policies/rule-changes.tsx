"use client";

import { Minus, Plus, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { changesOf, type PolicyNames } from "./rule-words";

interface RuleChangesProps {
  readonly before: PolicyRules;
  readonly after: PolicyRules;
  readonly names: PolicyNames;
  /** Accessible name of the list. */
  readonly label: string;
}

/** The limits that a change takes away and adds, a sentence each. */
export const RuleChanges = ({ before, after, names, label }: RuleChangesProps): ReactNode => {
  const { removed, added } = changesOf(before, after, names);
  if (removed.length + added.length === 0) return <p className="text-fg-2">The limits stay the same.</p>;
  return (
    <ul aria-label={label} className="flex flex-col gap-0.5">
      {removed.map((text) => (
        <Change key={text} icon={Minus} word="Removed" text={text} />
      ))}
      {added.map((text) => (
        <Change key={text} icon={Plus} word="Added" text={text} />
      ))}
    </ul>
  );
};

interface ChangeProps {
  readonly icon: LucideIcon;
  readonly word: "Removed" | "Added";
  readonly text: string;
}

const Change = ({ icon: Icon, word, text }: ChangeProps): ReactNode => (
  <li className="flex items-start gap-2">
    <Icon className="mt-1 size-3.5 shrink-0 text-fg-3" aria-hidden />
    <span className="min-w-0 wrap-anywhere">
      <span className="sr-only">{word}: </span>
      <span className={word === "Removed" ? "text-fg-2 line-through" : undefined}>{text}</span>
    </span>
  </li>
);
