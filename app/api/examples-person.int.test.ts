/** Calls every operation on a person's own sessions and factors once over real HTTP; see examples.int.test.ts. */
import { beforeAll, expect, inject, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { EXAMPLES } from "@/lib/http/openapi-examples";
import { openApiDocument } from "@/lib/http/openapi";
import { testApi } from "@/lib/testing/api";
import { exampleRecorder, writeExamples } from "@/lib/testing/example-recorder";
import { serveApi } from "@/lib/testing/http";
import { lintOpenApi } from "@/lib/testing/lint-openapi";
import { testKey } from "@/lib/testing/factories";

const api = await testApi();
const { call, examples } = exampleRecorder(await serveApi(api.services));
const privateKey = testKey();
const session = await api.signIn(privateKey);
const person = { authorization: `Bearer ${session.accessToken}` };

const sessions = async (): Promise<void> => {
  await api.signIn(privateKey);
  const { data } = (await call("listSessions", { as: person })) as { data: { id: string; current: boolean }[] };
  const other = data.find(({ current }) => !current)?.id ?? "";
  await call("revokeSession", { params: { id: other }, as: person });
  await call("revokeOtherSessions", { as: person });
};

beforeAll(async () => {
  await sessions();
});

test("every answer fits its schema, and has no field that the schema does not know", async () => {
  const fresh = examples();
  if (inject("recordsExamples")) await writeExamples("lib/contracts/examples/person.json", fresh);
  expect(await lintOpenApi(openApiDocument(namedContracts, fresh))).toEqual([]);
});

test.runIf(!inject("recordsExamples"))("the committed examples are of the operations that were called", () => {
  const committed = Object.keys(EXAMPLES);
  expect(Object.keys(examples()).filter((name) => !committed.includes(name))).toEqual([]);
});
