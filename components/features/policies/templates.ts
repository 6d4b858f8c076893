/** Rules with which people often begin. Each has only rules that the policy engine knows. */
import type { PolicyRules } from "@/lib/contracts/policy-rules";

export interface PolicyTemplate {
  readonly id: string;
  readonly title: string;
  readonly rules: PolicyRules;
}

export const TEMPLATES: readonly PolicyTemplate[] = [
  {
    id: "large-payments",
    title: "Large payments need other people",
    rules: {
      approvals: { aboveUsd: "10000", count: 2, roles: ["owner"], excludeMaker: true },
    },
  },
  {
    id: "new-recipients",
    title: "New recipients wait",
    rules: { recipients: "approved_contacts", newRecipientHours: 24 },
  },
  {
    id: "daily-cap",
    title: "A cap for each day",
    rules: { perDay: { usd: "50000" } },
  },
];

export const templateOf = (id: string | null): PolicyTemplate | null =>
  TEMPLATES.find((template) => template.id === id) ?? null;

/** Replaces the rules that the template has. In the daily limit, limits of single assets stay. */
export const withTemplate = (rules: PolicyRules, template: PolicyTemplate): PolicyRules => ({
  ...rules,
  ...template.rules,
  ...(template.rules.perDay === undefined
    ? {}
    : { perDay: { ...rules.perDay, ...template.rules.perDay } }),
});
