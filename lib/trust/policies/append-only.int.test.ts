import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOf } from "@/lib/platform/db/sql";
import { asPlainOwner } from "@/lib/dev/testing/plain-owner";
import { insertEvaluation, insertPolicy, type StoredEvaluation } from "./repository";

const projectId = newId("project");
const created = { createdBy: "usr_1", createdAt: new Date() };
const policy = {
  ...{
    id: newId("policy"),
    projectId,
    scope: "project" as const,
    subjectId: projectId,
    version: 1,
  },
  ...{ rules: { perOperation: { usd: "50" } }, ...created },
};
const evaluation: StoredEvaluation = {
  ...{ id: newId("evaluation"), projectId, subjectType: "request", subjectId: null },
  ...{
    digest: new Uint8Array(32),
    mac: new Uint8Array(32),
    facts: {},
    policies: [],
    rules: [],
  },
  ...{ decision: "deny", code: "not", ...created },
};

test("an owner of the tables that is no superuser can add policies and evaluations, and neither change nor remove them", () =>
  asPlainOwner(async ({ prisma, pool }) => {
    await prisma.project.create({
      data: { id: projectId, name: "test", createdAt: new Date() },
    });
    await insertPolicy(sqlOf(prisma), policy);
    await insertEvaluation(sqlOf(prisma), evaluation, []);
    for (const text of [
      "UPDATE policy SET rules = '{}'",
      "UPDATE policy_evaluation SET decision = 'allow'",
      ...["policy", "policy_evaluation"].flatMap((table) => [
        `DELETE FROM ${table}`,
        `TRUNCATE ${table}`,
      ]),
    ])
      await expect(pool.query(text), text).rejects.toThrow("permission denied");
    expect(await prisma.policy.findMany()).toMatchObject([
      { id: policy.id, rules: policy.rules },
    ]);
    expect(await prisma.policyEvaluation.findMany()).toMatchObject([
      { id: evaluation.id, decision: "deny" },
    ]);
  }));
