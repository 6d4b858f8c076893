// `npm run openapi:examples [-- FILE…]`: runs the tests that call every operation of the API, or
// only the given files, and stores their calls as the examples of the OpenAPI document. An
// operation that these tests do not call gets its first call in another test as its example.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { z } from "zod";
import { namedContracts } from "@/lib/contracts/all";
import kept from "@/lib/contracts/examples/tests.json";
import { type Example, EXAMPLES, type Examples } from "@/lib/http/openapi-errors";
import { RECORDED_CALLS } from "@/lib/dev/testing/call-recorder";
import { shortened, writeExamples } from "@/lib/dev/testing/example-recorder";
import { lookAlikes } from "@/lib/dev/testing/look-alikes";

const FILE = "lib/contracts/examples/tests.json";
const CALL_EVERY_OPERATION = "app/api/examples";

const recordedCall = z.object({
  operationId: z.string(),
  request: z.unknown().optional(),
  response: z.unknown(),
});

rmSync(RECORDED_CALLS, { force: true });
const files = process.argv.slice(2);
const { status } = spawnSync(
  "vitest",
  ["run", "--project", "integration", ...(files.length > 0 ? files : [CALL_EVERY_OPERATION])],
  { stdio: "inherit", env: { ...process.env, RECORD_EXAMPLES: "1" } },
);
process.exitCode = status ?? 1;

const calls = existsSync(RECORDED_CALLS)
  ? readFileSync(RECORDED_CALLS, "utf8").split("\n").filter(Boolean)
  : [];
const elsewhere = new Set(Object.keys(EXAMPLES).filter((name) => !(name in kept)));
const known = new Set(namedContracts.map(({ operationId }) => operationId));
const fresh = new Map<string, Example>();
for (const line of calls) {
  const { operationId, ...example } = recordedCall.parse(JSON.parse(line));
  if (!elsewhere.has(operationId) && !fresh.has(operationId))
    fresh.set(operationId, lookAlikes(shortened(example) as Example));
}
const all: Examples = { ...kept, ...Object.fromEntries(fresh) };
const current = Object.entries(all).filter(([name]) => known.has(name) && !elsewhere.has(name));
await writeExamples(
  FILE,
  Object.fromEntries(current.sort(([one], [other]) => one.localeCompare(other))),
);
rmSync(RECORDED_CALLS, { force: true });
console.log(`${String(fresh.size)} operations have their example from a test of their own.`);
