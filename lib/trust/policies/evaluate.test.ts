import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { policyRules, type PolicyRules } from "@/lib/contracts/policy-rules";
import { approverRole } from "@/lib/contracts/approval-requirement";
import { evaluate } from "./rules";
import type { Decision, EffectivePolicy, Facts } from "./facts";

const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const LOOSENESS: readonly Decision[] = ["deny", "needs_approval", "allow"];

const facts = (over: Partial<Facts> = {}): Facts => ({
  at: new Date("2026-11-25T10:00:00Z"),
  projectId: "prj_1",
  keyIds: ["key_1"],
  byExemptKey: false,
  movements: [
    {
      walletId: "wal_1",
      chainId: 1,
      token: "0xusdc",
      asset: "usdc",
      amount: "100",
      usd: "100",
      countsIn: "all",
    },
  ],
  chains: [1, 10],
  recipients: [{ address: ADDRESS, isOwn: false, contact: null, knownSince: null }],
  usage: [],
  fields: { amount: "amount", recipient: "toAddress", chain: "toChainId", token: "token" },
  ...over,
});

const policy = (rules: PolicyRules, over: Partial<EffectivePolicy> = {}): EffectivePolicy => ({
  id: "pol_1",
  scope: "project",
  subjectId: "prj_1",
  version: 1,
  rules: policyRules.parse(rules),
  ...over,
});

const decide = (rules: PolicyRules, over: Partial<Facts> = {}): Decision =>
  evaluate([policy(rules)], facts(over)).decision;

describe("rules", () => {
  test("without a policy everything is allowed without a code", () => {
    expect(evaluate([], facts())).toEqual({
      decision: "allow",
      rules: [],
      code: "not",
      approval: null,
      votes: null,
    });
  });

  test("caps of one operation hold to the last digit, and an unknown price is above every cap", () => {
    expect(decide({ perOperation: { usd: "100" } })).toBe("allow");
    expect(decide({ perOperation: { usd: "99.999999" } })).toBe("deny");
    expect(decide({ perOperation: { assets: [{ assetId: "usdc", amount: "100" }] } })).toBe(
      "allow",
    );
    expect(decide({ perOperation: { assets: [{ assetId: "usdc", amount: "99.9" }] } })).toBe(
      "deny",
    );
    expect(decide({ perOperation: { assets: [{ assetId: "eth", amount: "0.1" }] } })).toBe(
      "allow",
    );
    const movements = facts().movements.map((each) => ({ ...each, usd: null }));
    expect(decide({ perOperation: { usd: "1000000" } }, { movements })).toBe("deny");
  });

  test("caps of a day count what the same subject moved before", () => {
    const usage = [
      { scope: "project" as const, subjectId: "prj_1", unit: "usd", spent: "900" },
      { scope: "project" as const, subjectId: "prj_1", unit: "asset:usdc", spent: "900" },
      { scope: "wallet" as const, subjectId: "wal_1", unit: "usd", spent: "100000" },
    ];
    expect(decide({ perDay: { usd: "1000" } }, { usage })).toBe("allow");
    expect(decide({ perDay: { usd: "999.99" } }, { usage })).toBe("deny");
    expect(
      decide({ perDay: { assets: [{ assetId: "usdc", amount: "1000" }] } }, { usage }),
    ).toBe("allow");
    expect(
      decide({ perDay: { assets: [{ assetId: "usdc", amount: "999" }] } }, { usage }),
    ).toBe("deny");
  });

  test("a policy of a wallet bounds the money of that wallet alone", () => {
    const bound = policy(
      { perOperation: { usd: "50" } },
      { scope: "wallet", subjectId: "wal_1" },
    );
    const other = {
      walletId: "wal_2",
      chainId: 1,
      token: "0xusdc",
      asset: "usdc",
      amount: "60",
      usd: "60",
      countsIn: "all",
    } as const;
    const small = { ...other, walletId: "wal_1", amount: "50", usd: "50" };
    expect(evaluate([bound], facts({ movements: [other] })).decision).toBe("allow");
    expect(evaluate([bound], facts({ movements: [other, small] })).decision).toBe("allow");
    expect(evaluate([bound], facts()).decision).toBe("deny");
  });

  test("money that a wallet brings to a payout counts in that wallet's caps alone, and its tokens are looked at by all", () => {
    const [one] = facts().movements;
    if (one === undefined) throw new Error("There is a movement.");
    const brought = (countsIn: "wallet" | "none") => ({ movements: [{ ...one, countsIn }] });
    const ofWallet = policy(
      { perOperation: { usd: "50" } },
      { scope: "wallet", subjectId: "wal_1" },
    );
    expect(evaluate([ofWallet], facts(brought("wallet"))).decision).toBe("deny");
    expect(evaluate([ofWallet], facts(brought("none"))).decision).toBe("allow");
    expect(decide({ perOperation: { usd: "50" } }, brought("wallet"))).toBe("allow");
    for (const countsIn of ["wallet", "none"] as const)
      expect(decide({ tokens: [{ chainId: 10, token: "0xusdc" }] }, brought(countsIn))).toBe(
        "deny",
      );
  });

  test("a policy of a key bounds that key alone", () => {
    const bound = policy({ perOperation: { usd: "50" } }, { scope: "key", subjectId: "key_1" });
    expect(evaluate([bound], facts()).decision).toBe("deny");
    expect(evaluate([bound], facts({ keyIds: ["key_2"] })).decision).toBe("allow");
  });
});

describe("rules of places, people and times", () => {
  test("only approved contacts and the project's own wallets may be paid where the list is on", () => {
    const one = { address: ADDRESS, isOwn: false, contact: null, knownSince: null };
    const rules = { recipients: "approved_contacts" } as const;
    expect(decide(rules)).toBe("deny");
    expect(decide(rules, { recipients: [{ ...one, contact: "proposed" }] })).toBe("deny");
    expect(decide(rules, { recipients: [{ ...one, contact: "approved" }] })).toBe("allow");
    expect(decide(rules, { recipients: [{ ...one, isOwn: true }] })).toBe("allow");
    expect(decide(rules, { recipients: [{ ...one, isOwn: true }, one] })).toBe("deny");
  });

  test("a new recipient waits its hours, and one that is not known at all is refused", () => {
    const at = (knownSince: string | null) => ({
      recipients: [
        {
          address: ADDRESS,
          isOwn: false,
          contact: null,
          knownSince: knownSince === null ? null : new Date(knownSince),
        },
      ],
    });
    expect(decide({ newRecipientHours: 24 }, at(null))).toBe("deny");
    expect(decide({ newRecipientHours: 24 }, at("2026-11-24T10:00:00.001Z"))).toBe("deny");
    expect(decide({ newRecipientHours: 24 }, at("2026-11-24T10:00:00Z"))).toBe("allow");
  });

  test("chains and tokens are lists of what may be used", () => {
    expect(decide({ chains: [1, 10] })).toBe("allow");
    expect(decide({ chains: [1] })).toBe("deny");
    expect(decide({ tokens: [{ chainId: 1, token: "0xUSDC" }] })).toBe("allow");
    expect(decide({ tokens: [{ chainId: 10, token: "0xUSDC" }] })).toBe("deny");
  });

  test("hours count in their time zone, from the first minute and up to the last", () => {
    const berlin = (from: string, to: string, day = 3) => ({
      hours: { timeZone: "Europe/Berlin", windows: [{ days: [day], from, to }] },
    });
    expect(decide(berlin("11:00", "12:00"))).toBe("allow");
    expect(decide(berlin("10:00", "11:00"))).toBe("deny");
    expect(decide(berlin("00:00", "24:00", 2))).toBe("deny");
  });

  test("a code is needed always, above an amount, or above a daily amount", () => {
    const codeOf = (rules: PolicyRules, over: Partial<Facts> = {}) =>
      evaluate([policy(rules)], facts(over)).code;
    expect(codeOf({ code: { mode: "always" } })).toBe("required");
    expect(codeOf({ code: { mode: "above", usd: "100" } })).toBe("not");
    expect(codeOf({ code: { mode: "above", usd: "99" } })).toBe("required");
    const usage = [
      { scope: "project" as const, subjectId: "prj_1", unit: "usd_without_code", spent: "1" },
    ];
    expect(codeOf({ code: { mode: "exempt", dailyCapUsd: "100" } })).toBe("not");
    expect(codeOf({ code: { mode: "exempt", dailyCapUsd: "100" } }, { usage })).toBe(
      "required",
    );
  });

  test("approvals of several policies hold together; without a role for all of them the movement is denied", () => {
    const asks = (
      count: number,
      roles: readonly ("owner" | "admin")[],
      excludeMaker: boolean,
    ) => policy({ approvals: { aboveUsd: "50", count, roles: [...roles], excludeMaker } });
    expect(
      evaluate([asks(1, ["owner", "admin"], true), asks(2, ["owner"], false)], facts())
        .approval,
    ).toEqual({
      count: 2,
      roles: ["owner"],
      excludeMaker: true,
      demandedBy: [
        "Policy of the project, version 1: Above 50 US dollars it has to be approved by 1 of these roles: owner, admin, and not the maker.",
        "Policy of the project, version 1: Above 50 US dollars it has to be approved by 2 of these roles: owner.",
      ],
    });
    expect(
      evaluate([asks(1, ["owner"], false), asks(1, ["admin"], false)], facts()).decision,
    ).toBe("deny");
  });

  test("a denial names the policy, its version, the rule and the field", () => {
    const { rules } = evaluate(
      [policy({ perOperation: { usd: "1" } }, { version: 7 })],
      facts(),
    );
    expect(rules).toMatchObject([
      {
        policyId: "pol_1",
        version: 7,
        scope: "project",
        rule: "perOperation.usd",
        outcome: "deny",
        field: "amount",
      },
    ]);
  });
});

const usd = fc.integer({ min: 0, max: 400 }).map(String);
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const caps = fc.record({
  usd: maybe(usd),
  assets: maybe(fc.constant([{ assetId: "usdc", amount: "150" }])),
});
const rules = fc.record({
  perOperation: maybe(caps),
  perDay: maybe(caps),
  recipients: maybe(fc.constantFrom("any" as const, "approved_contacts" as const)),
  newRecipientHours: maybe(fc.integer({ min: 1, max: 48 })),
  chains: maybe(fc.subarray([1, 10, 137], { minLength: 1 })),
  tokens: maybe(
    fc.constantFrom([{ chainId: 1, token: "0xusdc" }], [{ chainId: 10, token: "0xusdc" }]),
  ),
  code: maybe(
    fc.oneof(
      fc.constant({ mode: "always" as const }),
      usd.map((limit) => ({ mode: "above" as const, usd: limit })),
      usd.map((limit) => ({ mode: "exempt" as const, dailyCapUsd: limit })),
    ),
  ),
  approvals: maybe(
    fc.record({
      aboveUsd: usd,
      count: fc.integer({ min: 1, max: 4 }),
      roles: fc.subarray([...approverRole.options], { minLength: 1 }),
      excludeMaker: fc.boolean(),
    }),
  ),
});
const scoped = fc.constantFrom(
  { scope: "project" as const, subjectId: "prj_1" },
  { scope: "wallet" as const, subjectId: "wal_1" },
  { scope: "wallet" as const, subjectId: "wal_9" },
  { scope: "key" as const, subjectId: "key_1" },
);
const anyPolicy: fc.Arbitrary<EffectivePolicy> = fc
  .tuple(scoped, rules, fc.uuid())
  .map(([scope, given, id]) => ({ ...scope, id, version: 1, rules: policyRules.parse(given) }));
const anyFacts = fc
  .record({
    amounts: fc.array(fc.tuple(fc.constantFrom("wal_1", "wal_2"), fc.option(usd)), {
      minLength: 1,
      maxLength: 3,
    }),
    contact: fc.constantFrom("approved" as const, "proposed" as const, null),
    hoursKnown: fc.option(fc.integer({ min: 0, max: 60 })),
    spent: usd,
  })
  .map(({ amounts, contact, hoursKnown, spent }) => {
    const at = facts().at;
    const knownSince =
      hoursKnown === null ? null : new Date(at.getTime() - hoursKnown * 3_600_000);
    return facts({
      movements: amounts.map(([walletId, worth]) => ({
        ...{ walletId, chainId: 1, token: "0xusdc", asset: "usdc", countsIn: "all" as const },
        amount: worth ?? "1",
        usd: worth,
      })),
      recipients: [{ address: ADDRESS, isOwn: false, contact, knownSince }],
      usage: [{ scope: "project", subjectId: "prj_1", unit: "usd", spent }],
    });
  });

describe("properties", () => {
  test("a further policy never makes the decision looser", () => {
    fc.assert(
      fc.property(
        fc.array(anyPolicy, { maxLength: 4 }),
        anyPolicy,
        anyFacts,
        (policies, added, given) => {
          const [before, after] = [
            evaluate(policies, given),
            evaluate([...policies, added], given),
          ];
          expect(LOOSENESS.indexOf(after.decision)).toBeLessThanOrEqual(
            LOOSENESS.indexOf(before.decision),
          );
          if (before.code === "required") expect(after.code).toBe("required");
          if (before.approval === null || after.approval === null) return;
          expect(after.approval.count).toBeGreaterThanOrEqual(before.approval.count);
          expect(before.approval.roles).toEqual(
            expect.arrayContaining([...after.approval.roles]),
          );
          expect(after.approval.excludeMaker || !before.approval.excludeMaker).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("the order of the policies does not matter", () => {
    const shuffled = fc
      .array(anyPolicy, { maxLength: 5 })
      .chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      );
    fc.assert(
      fc.property(shuffled, anyFacts, ([policies, others], given) => {
        expect(evaluate(others, given)).toEqual(evaluate(policies, given));
      }),
      { numRuns: 2000 },
    );
  });
});
