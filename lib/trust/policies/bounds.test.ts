import { expect, test } from "vitest";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { EVERY_RULE } from "@/lib/dev/testing/every-rule";
import { boundsOf } from "./bounds";
import type { EffectivePolicy } from "./facts";

const policy = (
  rules: PolicyRules,
  scope: EffectivePolicy["scope"] = "project",
): EffectivePolicy => ({
  ...{ id: "pol_1", scope, subjectId: `${scope}_1`, version: 1, rules },
});
/** Codes and votes are proofs of a change; they do not limit movements. */
const PROOFS = ["code", "approvals"];

test.each(Object.entries(EVERY_RULE))(
  "the rule %s bounds what a key may do, unless it is a proof",
  (rule, value) => {
    for (const scope of ["project", "wallet", "key"] as const) {
      const { rules } = boundsOf([policy({ [rule]: value }, scope)]);
      expect(rules.length > 0).toBe(!PROOFS.includes(rule));
      expect(rules.every((line) => line.includes(scope === "key" ? "API key" : scope))).toBe(
        true,
      );
    }
  },
);

test("rules that allow everything bound nothing", () => {
  const loose = { recipients: "any", screening: "off", perDay: {}, perOperation: {} } as const;
  expect(boundsOf([policy(loose), policy({})])).toEqual({ rules: [], votes: null });
});

test("the votes are those of the largest amount under every scope, also where exempt keys need none", () => {
  const approvals = {
    aboveUsd: "1000000",
    count: 2,
    roles: ["admin" as const, "owner" as const],
    excludeMaker: false,
  };
  const more = {
    aboveUsd: "5",
    count: 3,
    roles: ["owner" as const],
    excludeMaker: true,
    exemptKeys: true,
  };
  expect(
    boundsOf([policy({ approvals }, "key"), policy({ approvals: more }, "wallet")]).votes,
  ).toMatchObject({
    ...{ count: 3, roles: ["owner"], excludeMaker: true },
  });
});
