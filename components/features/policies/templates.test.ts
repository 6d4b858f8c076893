import { expect, test } from "vitest";
import { policyRules } from "@/lib/contracts/policy-rules";
import { isSame, typedRules, valuesOf } from "./policy-form";
import { sentencesOf } from "./rule-words";
import { templateOf, TEMPLATES, withTemplate } from "./templates";

const NAMES = { chain: String, token: (_: number, token: string) => token, asset: String };

test.each(TEMPLATES.map((template) => [template.id, template] as const))(
  "the template %s is a policy that the service takes, and the form shows all of it",
  (_id, { rules }) => {
    expect(policyRules.safeParse(rules).success).toBe(true);
    const typed = typedRules(valuesOf(rules, "UTC"));
    expect(typed === null ? null : isSame(typed, rules)).toBe(true);
    expect(sentencesOf(rules, NAMES).length).toBeGreaterThan(0);
  },
);

test("the templates read as sentences", () => {
  expect(TEMPLATES.flatMap(({ rules }) => sentencesOf(rules, NAMES))).toMatchInlineSnapshot(`
    [
      "Above 10,000.00 USD, 2 people of the owners must approve, other than the person who asked",
      "Only to approved contacts and the project's own wallets",
      "A new recipient waits 24 hours before the first payment",
      "At most 50,000.00 USD a day",
    ]
  `);
});

test("a template changes its own rules and leaves the others", () => {
  const before = {
    perOperation: { usd: "5000" },
    perDay: { usd: "1000", assets: [{ assetId: "usdc", amount: "10" }] },
  };
  const [, , dailyCap] = TEMPLATES;
  expect(dailyCap === undefined ? null : withTemplate(before, dailyCap)).toEqual({
    perOperation: { usd: "5000" },
    perDay: { usd: "50000", assets: [{ assetId: "usdc", amount: "10" }] },
  });
  expect(templateOf("unknown")).toBeNull();
  expect(templateOf(null)).toBeNull();
});
