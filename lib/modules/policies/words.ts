import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { quoted } from "@/lib/modules/approvals/service";

type Caps = NonNullable<PolicyRules["perDay"]>;

const WEEKDAYS = ["", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const capLines = (what: string, caps: Caps | undefined): string[] => [
  ...(caps?.usd === undefined ? [] : [`${what} at most: ${caps.usd} US dollars`]),
  ...(caps?.assets ?? []).map(({ asset, amount }) => `${what} at most: ${amount} ${quoted(asset)}`),
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

const approvalLine = ({ aboveUsd, count, roles, excludeMaker }: NonNullable<PolicyRules["approvals"]>): string =>
  `Approvals: ${count} of ${roles.join(", ")} above ${aboveUsd} US dollars${excludeMaker ? ", without the maker" : ""}`;

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

/** Every rule in words, a line each, as the message of an approval shows them. */
export const linesOf = (rules: PolicyRules): string[] => {
  const lines = [
    ...capLines("One operation", rules.perOperation),
    ...capLines("One day", rules.perDay),
    ...(rules.recipients === "approved_contacts" ? ["Recipients: approved contacts alone"] : []),
    ...(rules.newRecipientHours === undefined ? [] : [`New recipients wait: ${rules.newRecipientHours} hours`]),
    ...(rules.chains === undefined ? [] : [`Chains: ${rules.chains.join(", ")}`]),
    ...(rules.tokens === undefined
      ? []
      : [`Tokens: ${rules.tokens.map(({ chainId, token }) => `${chainId} ${quoted(token)}`).join(", ")}`]),
    ...(rules.hours === undefined ? [] : hourLines(rules.hours)),
    ...(rules.code === undefined ? [] : [codeLine(rules.code)]),
    ...(rules.approvals === undefined ? [] : [approvalLine(rules.approvals)]),
    ...(rules.screening === undefined ? [] : [screeningLine(rules.screening)]),
  ];
  return lines.length === 0 ? ["No rule: no limit applies"] : lines;
};
