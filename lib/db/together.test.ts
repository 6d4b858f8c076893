import { expect, test } from "vitest";
import { createLayout, likewise } from "./layout";
import type { SqlReader } from "./sql";
import { changeAllOrNothing, changeAndJudge, changeTogether, type JudgedPart, type StatementPart } from "./together";

/** Statements on a connection to a cluster, which are recorded. @param rowsOf what a statement returns */
const onCluster = async (rowsOf: (text: string) => readonly object[] = () => []) => {
  const cluster = { query: () => Promise.resolve({ rows: [{ is: true }] }) };
  // The fake pool answers yes to both questions of createLayout: Citus is installed, and a table is distributed.
  await createLayout(cluster as unknown as Parameters<typeof createLayout>[0])();
  const statements: { text: string; values: readonly unknown[] }[] = [];
  const sql: SqlReader = {
    query: <Row extends object>(text: string, values: readonly unknown[]) => {
      statements.push({ text, values });
      return Promise.resolve(rowsOf(text) as readonly Row[]);
    },
  };
  return { sql: likewise({ ...sql, change: () => Promise.resolve(0) }, cluster), statements };
};

const plain = (text: string, ...values: unknown[]): StatementPart => ({ text, values });

test("on a cluster each part is a statement of its own, those with a judgement first", async () => {
  const { sql, statements } = await onCluster((text) => (text.includes("moved") ? [{ id: 1 }] : []));
  const judged: unknown[] = [];
  const moved: JudgedPart = {
    ...plain("UPDATE moved SET x = $1 FROM locked RETURNING id", 3),
    judge: (rows) => void judged.push(...rows),
  };
  await changeAndJudge(sql, [
    plain("INSERT INTO a VALUES ($1)", 1),
    { ...plain("SELECT $1 AS id FOR UPDATE", 2), name: "locked" },
    moved,
  ]);
  expect(statements).toEqual([
    {
      text: "WITH locked AS (SELECT $1 AS id FOR UPDATE) UPDATE moved SET x = $2 FROM locked RETURNING id",
      values: [2, 3],
    },
    { text: "INSERT INTO a VALUES ($1)", values: [1] },
  ]);
  expect(judged).toEqual([{ id: 1 }]);
});

test("on a cluster the judgement of a named part is asked too, and a named part at the end runs", async () => {
  const { sql, statements } = await onCluster((text) =>
    text.startsWith("WITH project AS") ? [{ judged_0: [], judged_1: [] }] : [],
  );
  const refuse = (): void => {
    throw new Error("The project's cap is reached.");
  };
  const project: JudgedPart = { ...plain("INSERT INTO p VALUES ($1) RETURNING 1", 1), name: "project", judge: refuse };
  const key: JudgedPart = { ...plain("INSERT INTO k SELECT $1 FROM project", 2), judge: () => undefined };
  await expect(changeAndJudge(sql, [project, key])).rejects.toThrow("cap is reached");
  expect(statements).toHaveLength(1);
  await changeTogether(sql, [{ ...plain("DELETE FROM q"), name: "last" }]);
  expect(statements.at(-1)?.text).toBe("DELETE FROM q");
});

test("on a cluster nothing is changed by one statement for all or nothing", async () => {
  const { sql, statements } = await onCluster();
  expect(await changeAllOrNothing(sql, [plain("DELETE FROM a"), plain("DELETE FROM b")])).toBe(false);
  expect(statements).toEqual([]);
});
