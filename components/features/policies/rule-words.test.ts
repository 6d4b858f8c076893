import { describe, expect, test } from "vitest";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { EVERY_RULE } from "@/lib/dev/testing/every-rule";
import {
  changesOf,
  daysText,
  sentencesOf,
  usdText,
  waitText,
  type PolicyNames,
} from "./rule-words";

const names: PolicyNames = {
  chain: (chainId) => `Local ${String(chainId - 31336)}`,
  token: (_, token) => (token === "native" ? "ETH" : "USDC"),
  asset: (assetId) => assetId.toUpperCase(),
};
const textsOf = (rules: PolicyRules): string[] => sentencesOf(rules, names);

describe("rules in words", () => {
  test("name every rule in a sentence of its own", () => {
    expect(
      textsOf({
        perOperation: { usd: "1000", assets: [{ assetId: "usdc", amount: "2500.5" }] },
        perDay: { usd: "5000.125" },
        recipients: "approved_contacts",
        newRecipientHours: 48,
        screening: "require_clear",
        chains: [31337, 31338],
        tokens: [
          { chainId: 31337, token: "0xabc" },
          { chainId: 31338, token: "native" },
        ],
        hours: {
          timeZone: "Europe/Berlin",
          windows: [{ days: [5, 1, 2, 3, 4], from: "09:00", to: "17:00" }],
        },
        code: { mode: "exempt", dailyCapUsd: "100" },
        approvals: {
          aboveUsd: "10000",
          count: 2,
          roles: ["owner", "admin"],
          excludeMaker: true,
        },
      }),
    ).toEqual([
      "At most 1,000.00 USD in one operation",
      "At most 2,500.50 USDC in one operation",
      "At most 5,000.125 USD a day",
      "Only to approved contacts and the project's own wallets",
      "A new recipient waits 2 days before the first payment",
      "Only to and from addresses that a screening source clears",
      "Only on Local 1 and Local 2",
      "Only USDC on Local 1 and ETH on Local 2",
      "Only Mon–Fri 09:00 to 17:00 (Europe/Berlin)",
      "No one-time code up to 100.00 USD a day; a code above it",
      "Above 10,000.00 USD, 2 people of the owners and admins must approve, other than the person who asked",
    ]);
  });

  test("leave no rule out", () => {
    const silent = Object.entries(EVERY_RULE).filter(
      ([rule, value]) => textsOf({ [rule]: value }).length === 0,
    );
    expect(silent).toEqual([]);
  });

  test("say nothing where nothing is bounded", () => {
    expect(textsOf({})).toEqual([]);
    expect(textsOf({ recipients: "any", perDay: {} })).toEqual([]);
  });

  test("keep all digits of an amount, and have cents", () => {
    expect([usdText("0"), usdText("1234567.1"), usdText("0.000001")]).toEqual([
      "0.00 USD",
      "1,234,567.10 USD",
      "0.000001 USD",
    ]);
  });

  test("join days that follow each other", () => {
    expect(daysText([1, 3, 6, 7])).toBe("Mon, Wed and Sat–Sun");
    expect(daysText([7])).toBe("Sun");
  });

  test("count whole days as days", () => {
    expect([1, 24, 36, 72].map(waitText)).toEqual(["1 hour", "24 hours", "36 hours", "3 days"]);
  });
});

test("a version shows the sentences that it took away and added", () => {
  const before = {
    ...{ perDay: { usd: "100" }, recipients: "approved_contacts" as const },
    screening: "require_clear" as const,
  };
  const after = {
    ...{ perDay: { usd: "200" }, recipients: "approved_contacts" as const },
    screening: "off" as const,
  };
  expect(changesOf(before, after, names)).toEqual({
    removed: [
      "At most 100.00 USD a day",
      "Only to and from addresses that a screening source clears",
    ],
    added: ["At most 200.00 USD a day", "Addresses are not screened"],
  });
});
