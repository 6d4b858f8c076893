import { describe, expect, test } from "vitest";
import { policyRules } from "@/lib/contracts/policy-rules";
import { EVERY_RULE } from "@/lib/dev/testing/every-rule";
import {
  isSame,
  policyForm,
  rulesOf,
  typedRules,
  valuesOf,
  type PolicyValues,
} from "./policy-form";

const EMPTY = valuesOf({}, "UTC");

const problems = (change: Partial<PolicyValues>): Record<string, string> =>
  Object.fromEntries(
    (policyForm.safeParse({ ...EMPTY, ...change }).error?.issues ?? []).map(
      ({ path, message }) => [path.join("."), message],
    ),
  );

describe("the form of a policy", () => {
  test("gives back every rule that it was filled with", () => {
    expect(rulesOf(valuesOf(EVERY_RULE, "UTC"))).toEqual(EVERY_RULE);
    expect(policyRules.parse(rulesOf(valuesOf(EVERY_RULE, "UTC")))).toEqual(EVERY_RULE);
  });

  test("is tried with every rule that a policy can have", () => {
    expect(Object.keys(EVERY_RULE).sort()).toEqual(Object.keys(policyRules.shape).sort());
  });

  test("means no rule when nothing is filled in", () => {
    expect(typedRules(EMPTY)).toEqual({});
    expect(problems({})).toEqual({});
  });

  test("reads amounts with separators, and never sends what it cannot read", () => {
    expect(typedRules({ ...EMPTY, perDayUsd: " 5,000.50 " })).toEqual({
      perDay: { usd: "5000.50" },
    });
    expect(typedRules({ ...EMPTY, perDayUsd: "5.000,50" })).toEqual({
      perDay: { usd: "5000.50" },
    });
    expect(typedRules({ ...EMPTY, perDayUsd: ".5" })).toEqual({ perDay: { usd: "0.5" } });
    for (const perDayUsd of ["1,23,4", "2500 USD", "-1"])
      expect(typedRules({ ...EMPTY, perDayUsd })).toBeNull();
  });

  test("names each wrong field", () => {
    expect(
      Object.keys(
        problems({
          perOperationUsd: "many",
          perDayAssets: [
            { assetId: "usdc", amount: "1" },
            { assetId: "usdc", amount: "0" },
          ],
          newRecipientHours: "2161",
          hasHours: true,
          windows: [{ days: [], from: "9", to: "25:00" }],
          code: "exempt",
          hasApprovals: true,
          approvalsCount: "11",
        }),
      ).sort(),
    ).toEqual([
      "approvalsAboveUsd",
      "approvalsCount",
      "codeUsd",
      "newRecipientHours",
      "perDayAssets.1.amount",
      "perDayAssets.1.assetId",
      "perOperationUsd",
      "windows.0.days",
      "windows.0.from",
      "windows.0.to",
    ]);
  });

  test("asks for an end after the beginning, and for somebody who approves", () => {
    expect(
      problems({ hasHours: true, windows: [{ days: [1], from: "17:00", to: "09:00" }] }),
    ).toEqual({
      "windows.0.to": "Must be later than the beginning.",
    });
    expect(
      problems({
        hasApprovals: true,
        approvalsAboveUsd: "1",
        owner: false,
        admin: false,
        operator: false,
      }),
    ).toEqual({ approvalsCount: "Choose who may approve." });
  });
});

test("rules are the same whatever the order of their fields, and without empty ones", () => {
  expect(isSame({ perDay: { usd: "1" }, recipients: "any" }, { perDay: { usd: "1" } })).toBe(
    true,
  );
  expect(isSame({ perDay: { usd: "1" } }, { perDay: { usd: "2" } })).toBe(false);
  expect(isSame({ screening: "require_clear" }, {})).toBe(false);
  expect(isSame({ screening: "off" }, { screening: "block_hits" })).toBe(false);
});
