import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { quoted } from "@/lib/trust/proofs/service";
import { type EffectivePolicy, type RequiredApproval, strictest } from "./facts";

type Caps = NonNullable<PolicyRules["perDay"]>;

const WEEKDAYS = ["", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const capLines = (what: string, caps: Caps | undefined): string[] => [
  ...(caps?.usd === undefined ? [] : [`${what} at most: ${caps.usd} US dollars`]),
  ...(caps?.assets ?? []).map(
    ({ assetId: asset, amount }) => `${what} at most: ${amount} ${quoted(asset)}`,
  ),
];

const codeLine = (code: NonNullable<PolicyRules["code"]>): string => {
  switch (code.mode) {
    case "always":
      return "A code is needed: always";
    case "above":
      return `A code is needed: above ${code.usd} US dollars`;
    case "exempt":
      return `A code is needed: above ${code.dailyCapUsd} US dollars a day`;
  }
};

const hourLines = ({ timeZone, windows }: NonNullable<PolicyRules["hours"]>): string[] =>
  windows.map(
    ({ days, from, to }) =>
      `Hours: ${days.map((day) => WEEKDAYS[day]).join(", ")} ${from} to ${to} (${quoted(timeZone)})`,
  );

const approvalLines = (approvals: NonNullable<PolicyRules["approvals"]>): string[] => {
  const { aboveUsd, count, roles, excludeMaker, exemptKeys = false } = approvals;
  const maker = excludeMaker ? ", without the maker" : "";
  return [
    `Approvals: ${count} of ${roles.join(", ")} above ${aboveUsd} US dollars${maker}`,
    ...(exemptKeys
      ? ["API keys that are exempt from codes need no votes within their daily caps"]
      : []),
  ];
};

const screeningLine = (screening: NonNullable<PolicyRules["screening"]>): string => {
  switch (screening) {
    case "off":
      return "Screening of addresses: off, also listed addresses are paid";
    case "block_hits":
      return "Screening of addresses: a listed address is not paid";
    case "require_clear":
      return "Screening of addresses: only an address that a source clears is paid, or its money moved";
  }
};

const ruleLines = (rules: PolicyRules): string[] => [
  ...capLines("One operation", rules.perOperation),
  ...capLines("One day", rules.perDay),
  ...(rules.recipients === "approved_contacts" ? ["Recipients: approved contacts alone"] : []),
  ...(rules.newRecipientHours === undefined
    ? []
    : [`New recipients wait: ${rules.newRecipientHours} hours`]),
  ...(rules.chains === undefined ? [] : [`Chains: ${rules.chains.join(", ")}`]),
  ...(rules.tokens === undefined
    ? []
    : [
        `Tokens: ${rules.tokens.map(({ chainId, token }) => `${chainId} ${quoted(token)}`).join(", ")}`,
      ]),
  ...(rules.hours === undefined ? [] : hourLines(rules.hours)),
  ...(rules.code === undefined ? [] : [codeLine(rules.code)]),
  ...(rules.approvals === undefined ? [] : approvalLines(rules.approvals)),
  ...(rules.screening === undefined ? [] : [screeningLine(rules.screening)]),
];

/** Like `ruleLines`, in the form that the message of an approval shows. */
export const linesOf = (rules: PolicyRules): string[] => {
  const lines = ruleLines(rules);
  return lines.length === 0 ? ["No rule: no limit applies"] : lines;
};

// The limits of the rules in force. Changes that let money leave past every rule, such as showing
// a key, display these limits.

export interface Bounds {
  /**
   * The rules about recipients, amounts, chains, tokens, hours and screening, in words. None of
   * them stops a person who has the private key.
   */
  readonly rules: readonly string[];
  /** The votes that the largest amount needs; null when no rule demands votes. */
  readonly votes: RequiredApproval | null;
}

const SCOPES = {
  project: () => "policy of the project",
  wallet: (id: string) => `policy of the wallet ${id}`,
  key: (id: string) => `policy of the API key ${id}`,
} as const;

/**
 * The rules that limit where money goes and how much of it. Rules about codes and votes are left
 * out, because a change that displays the bounds needs such proofs itself.
 */
const boundingLines = ({
  code: _code,
  approvals: _approvals,
  screening,
  ...rules
}: PolicyRules): string[] =>
  ruleLines(screening === "off" || screening === undefined ? rules : { ...rules, screening });

/**
 * The limits and the votes that the policies demand.
 * @param policies all policies in force, of every scope, with the project's setting
 */
export const boundsOf = (policies: readonly EffectivePolicy[]): Bounds => ({
  rules: policies.flatMap(({ scope, subjectId, rules }) =>
    boundingLines(rules).map((line) => `${line} (${SCOPES[scope](subjectId)})`),
  ),
  votes: strictest(
    policies.flatMap((policy) => {
      const { approvals } = policy.rules;
      if (approvals === undefined) return [];
      const { count, roles, excludeMaker } = approvals;
      const source =
        policy.id === null
          ? "The project's setting"
          : `The ${SCOPES[policy.scope](policy.subjectId)}`;
      return [
        {
          count,
          roles,
          excludeMaker,
          demandedBy: [`${source}: ${String(count)} of ${roles.join(", ")}`],
        },
      ];
    }),
  ),
});
