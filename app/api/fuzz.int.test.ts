/**
 * Sends right, nearly right and hostile requests to every operation of the OpenAPI document, as
 * every kind of caller.
 */
import { expect, inject, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { openApiDocument } from "@/lib/http/openapi";
import { testApi } from "@/lib/dev/testing/api";
import { fuzzCallers } from "@/lib/dev/testing/fuzz-callers";
import { runFuzz } from "@/lib/dev/testing/fuzz-run";
import { serveApi } from "@/lib/dev/testing/http";

const IS_LONG = inject("isLong");
const REQUESTS = IS_LONG ? 20_000 : 400;
const TIMEOUT_MS = IS_LONG ? 3_600_000 : 120_000;
const ROUNDS = Math.ceil(REQUESTS / namedContracts.length);

const api = await testApi();
const { origin } = new URL(await serveApi(api.services));
const callers = await fuzzCallers(api);

test(
  `of ${String(REQUESTS)} requests none makes the service fail, and every answer is one that the OpenAPI document describes`,
  { timeout: TIMEOUT_MS },
  async () => {
    const seed = inject("testSeed") % 2 ** 31;
    const document = openApiDocument(namedContracts);
    const report = await runFuzz({ document, origin, callers, seed, rounds: ROUNDS });
    const statuses = [...report.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${String(status)}: ${String(count)}`);
    console.log(
      `Fuzzer: seed ${String(seed)}, ${String(report.requests)} requests to ${String(report.operations)} operations, ${String(report.succeeded.size)} of them with success; ${statuses.join(", ")}`,
    );
    expect(report.faults).toEqual([]);
    expect(report.requests).toBeGreaterThanOrEqual(REQUESTS);
    // Requests that are all refused would show nothing. With two requests to each operation, 33 to
    // 38 of 202 operations succeed, by the seed.
    expect(report.succeeded.size).toBeGreaterThan(report.operations / (IS_LONG ? 2 : 10));
  },
);
