import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testDatabase } from "@/lib/dev/testing/database";
import { entryFile } from "@/lib/dev/testing/entry";

const { url, database } = await testDatabase();
const { prisma } = database;

const run = (...args: string[]) =>
  spawnSync(process.execPath, [entryFile("causeway"), "sponsor-budget", ...args], {
    env: { PATH: dirname(process.execPath), DATABASE_URL: url, NODE_ENV: "test" },
    encoding: "utf8",
  });

test("the operator's command sets and removes a project's limits on a chain, and is in the audit log", async () => {
  const id = newId("project");
  await prisma.project.create({ data: { id, name: "A", createdAt: new Date() } });
  const at = { projectId_chainId: { projectId: id, chainId: 31337 } };
  const limits = async () => {
    const row = await prisma.sponsorBudget.findUnique({ where: at });
    return [row?.dailyWei?.toFixed(0) ?? null, row?.operationWei?.toFixed(0) ?? null];
  };

  const set = run(id, "31337", "--daily", "0.5", "--operation", "0");
  expect([set.status, set.stderr]).toEqual([0, ""]);
  expect(set.stdout).toContain("'0.5'");
  expect(await limits()).toEqual(["500000000000000000", "0"]);
  expect(run(id, "31337", "--daily", "default").status).toBe(0);
  expect(await limits()).toEqual([null, "0"]);
  const audited = await prisma.auditEvent.findMany({ where: { projectId: id } });
  expect(audited.map(({ action, actor }) => [action, actor])).toEqual([
    ["sponsor_budget.set", "operator"],
    ["sponsor_budget.set", "operator"],
  ]);

  const unknown = run("prj_nobody", "31337", "--daily", "1");
  expect([unknown.status, unknown.stderr.trim()]).toEqual([
    1,
    "There is no project prj_nobody.",
  ]);
  expect(run(id, "31337", "--daily", "-1").status).toBe(2);
  expect(run(id, "31337", "--daily=-1").status).toBe(1);
  expect(await limits()).toEqual([null, "0"]);
}, 240_000);
