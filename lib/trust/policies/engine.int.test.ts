import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { systemClock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import type { Token } from "@/lib/core/token";
import { createDatabase, type Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { keepOneDay } from "@/lib/dev/testing/one-day";
import { countStatements } from "@/lib/dev/testing/statement-count";
import { createPolicyEngine, type EngineDeps, type Intent } from "./engine";
import { insertPolicy } from "./repository";

const { url } = await testDatabase();
const secrets = createSecrets("a secret of this test, long enough for one");
const [databaseA, databaseB] = [createDatabase(url), createDatabase(url)];
const statements = countStatements(databaseA.pool);
afterAll(() => Promise.all([databaseA.close(), databaseB.close()]));

const VOTES = { count: 1, roles: ["admin" as const], excludeMaker: true };
/** The project's setting. The engine also reads from the database whether there is one. */
let setting: (typeof VOTES & { exemptKeys: boolean }) | null = null;
let prices: EngineDeps["prices"]["highestPriceUsd"] = (tokens) =>
  Promise.resolve(tokens.map(() => "1"));
const clock = keepOneDay({ ...systemClock });
/** One instance of the service. */
const instance = (database: Database) => ({
  database,
  engine: createPolicyEngine({
    database,
    secrets,
    prices: { highestPriceUsd: (...asked) => prices(...asked) },
    approvals: {
      approvedBy: () => Promise.resolve(VOTES),
      requirementOf: () => Promise.resolve(setting),
    },
    clock,
  }),
});
const [a, b] = [instance(databaseA), instance(databaseB)];

let projectId = "";
beforeEach(async () => {
  projectId = newId("project");
  setting = null;
  prices = (tokens) => Promise.resolve(tokens.map(() => "1"));
  await databaseA.prisma.project.create({
    data: { id: projectId, name: "test", createdAt: new Date() },
  });
});

const store = (rules: PolicyRules, version = 1) =>
  insertPolicy(sqlOf(databaseB.prisma), {
    ...{
      id: newId("policy"),
      projectId,
      scope: "project",
      subjectId: projectId,
      version,
      rules,
    },
    ...{ createdBy: "usr_1", createdAt: new Date() },
  });

const token: Token = {
  ...{
    symbol: "USDC",
    name: "USD Coin",
    chainId: 1,
    decimals: 6,
    assetId: "usdc",
    usdPegged: true,
  },
  address: "0x1111111111111111111111111111111111111111",
};
const intent = (amountBase: bigint): Intent => ({
  ...{
    projectId,
    kind: "transfer",
    by: "usr_1",
    keyIds: [],
    byExemptKey: false,
    chains: [1],
    recipients: [testAccount().address],
  },
  recipientChain: 1,
  outflows: [{ walletId: "wal_1", token, amountBase, isOnChain: true }],
  fields: { amount: "amount", recipient: "toAddress", chain: "chainId", token: "token" },
});
const subject = () =>
  ({ type: "operation", id: newId("operation"), digest: new Uint8Array(32) }) as const;
type Instance = typeof a;
const accept = (
  { database, engine }: Instance,
  amountBase: bigint,
  decisionId?: string,
): Promise<string | null> =>
  engine.checking(intent(amountBase), (check) =>
    database.transaction((tx) =>
      check.enforce(sqlOf(tx), subject(), { hasCode: true, decisionId }),
    ),
  );
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "allowed",
    (error: unknown) => (error as { code: string }).code,
  );

describe("daily caps over two instances", () => {
  test("let exactly the allowed sum through, however many movements come at once", async () => {
    await store({ perDay: { usd: "50", assets: [{ assetId: "usdc", amount: "60" }] } });
    const codes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        codeOf(accept(index % 2 === 0 ? a : b, 4_000_000n)),
      ),
    );
    expect(codes.filter((code) => code === "allowed")).toHaveLength(12);
    expect(codes.filter((code) => code === "policy_violation")).toHaveLength(28);
    const usage = await databaseA.prisma.policyUsage.findMany({
      where: { projectId },
      orderBy: { unit: "asc" },
    });
    expect(usage.map(({ unit, spent }) => [unit, spent.toFixed()])).toEqual([
      ["asset:usdc", "48"],
      ["usd", "48"],
    ]);
    const kept = await databaseA.prisma.policyEvaluation.groupBy({
      by: ["decision"],
      where: { projectId },
      _count: true,
      orderBy: { decision: "asc" },
    });
    expect(kept).toMatchObject([
      { decision: "allow", _count: 12 },
      { decision: "deny", _count: 28 },
    ]);
  });

  test("count what was accepted, and not what was rolled back", async () => {
    await store({ perDay: { usd: "10" } });
    const failing = a.engine.checking(intent(10_000_000n), (check) =>
      databaseA.transaction(async (tx) => {
        await check.enforce(sqlOf(tx), subject(), { hasCode: true });
        throw new Error("The money is not there.");
      }),
    );
    await expect(failing).rejects.toThrow("not there");
    expect(await codeOf(accept(a, 10_000_000n))).toBe("allowed");
    expect(await codeOf(accept(b, 1n))).toBe("policy_violation");
  });
});

describe("a project without a policy", () => {
  test("pays for its evaluation with no statement of its own", async () => {
    await accept(a, 1n);
    statements.reset();
    const passed = await a.engine.checking(intent(1n), (check) =>
      check.evaluate(sqlOf(databaseA.prisma), subject(), { hasCode: false }),
    );
    await a.engine.refuse(intent(1n), { isFirst: true });
    expect([...statements.byText.keys()]).toEqual([]);
    expect(passed).not.toBeNull();
  });

  test("is bounded by its first policy at once, also on an instance that has not heard of it", async () => {
    expect(await codeOf(accept(a, 5_000_000n))).toBe("allowed");
    await store({ perOperation: { usd: "1" } });
    expect(await codeOf(accept(a, 5_000_000n))).toBe("policy_violation");
    expect(await codeOf(accept(a, 1_000_000n))).toBe("allowed");
  });
});

describe("votes bind an API key that is exempt from codes", () => {
  const byKey = ({ database, engine }: Instance, hasCode = false): Promise<string> =>
    codeOf(
      engine.checking({ ...intent(1n), byExemptKey: true }, (check) =>
        database.transaction((tx) => check.enforce(sqlOf(tx), subject(), { hasCode })),
      ),
    );

  test("by the project's setting, at once and on every instance, unless the setting names the exception", async () => {
    expect([await byKey(a), await byKey(b)]).toEqual(["allowed", "allowed"]);
    const columns = { approvalsCount: 1, approvalsRoles: ["admin"] };
    await databaseA.prisma.project.update({ where: { id: projectId }, data: columns });
    setting = { ...VOTES, exemptKeys: false };
    expect([await byKey(a), await byKey(b)]).toEqual(["policy_violation", "policy_violation"]);
    setting = { ...VOTES, exemptKeys: true };
    expect(await byKey(a)).toBe("allowed");
    // The exception covers only payments without a code, which the key's daily cap limits. A
    // payment with a code needs the votes.
    expect(await byKey(a, true)).toBe("policy_violation");
  });

  test("by a policy's rule, unless the rule names the exception; what waits for a code waits for the votes too", async () => {
    await store({ approvals: { aboveUsd: "0", ...VOTES } });
    expect(await byKey(a)).toBe("policy_violation");
    await store({ approvals: { aboveUsd: "0", ...VOTES, exemptKeys: true } }, 2);
    expect(await byKey(a)).toBe("allowed");
    const evaluation = await a.engine.refuse({ ...intent(1n), byExemptKey: true });
    expect(evaluation).toMatchObject({ decision: "allow", approval: null, votes: VOTES });
  });
});

test("a movement that people approved waits while no price can be read, and passes when one can", async () => {
  await store({ perDay: { usd: "100" } });
  prices = () => Promise.reject(new Error("The source of prices is down."));
  expect(await codeOf(accept(a, 1_000_000n, "dec_1"))).toBe("provider_error");
  expect(await databaseA.prisma.policyEvaluation.count({ where: { projectId } })).toBe(0);
  // A movement without votes is not tried again, so the caller is told the reason.
  expect(await codeOf(accept(a, 1_000_000n))).toBe("policy_violation");
  // The token has no price at any time, so waiting would not help.
  prices = (tokens) => Promise.resolve(tokens.map(() => null));
  expect(await codeOf(accept(a, 1_000_000n, "dec_1"))).toBe("policy_violation");
  prices = (tokens) => Promise.resolve(tokens.map(() => "1"));
  expect(await codeOf(accept(a, 1_000_000n, "dec_1"))).toBe("allowed");
});

test("a refusal that two parts of one movement catch is kept once", async () => {
  await store({ perOperation: { usd: "1" } });
  const nested = a.engine.checking(intent(1n), () => accept(a, 5_000_000n));
  expect(await codeOf(nested)).toBe("policy_violation");
  expect(await databaseA.prisma.policyEvaluation.count({ where: { projectId } })).toBe(1);
});
