// Writes lib/contracts/examples/errors.json: for each error code one body of those that integration tests got (`npm run openapi:errors`).
import { readFileSync, rmSync } from "node:fs";
import { z } from "zod";
import known from "@/lib/contracts/examples/errors.json";
import { errorBody } from "@/lib/contracts/common";
import { ERROR_CODES } from "@/lib/core/errors";
import { writeExamples } from "@/lib/testing/example-recorder";
import { RECORDED_ERRORS } from "@/lib/testing/error-recorder";
import { lookAlikes } from "@/lib/testing/look-alikes";

const FILE = "lib/contracts/examples/errors.json";

const body = errorBody.extend({ code: z.enum(ERROR_CODES) }).loose();
type Body = z.infer<typeof body>;

/** The body with the message that most answers had; of several the one with details, which are harder to guess. */
const typicalOf = (bodies: readonly Body[]): Body | undefined => {
  const times = new Map<string, number>();
  for (const { message } of bodies) times.set(message, (times.get(message) ?? 0) + 1);
  const rank = ({ message, details }: Body): number => (times.get(message) ?? 0) + (details === undefined ? 0 : 0.5);
  return [...bodies].sort((one, other) => rank(other) - rank(one) || one.message.localeCompare(other.message))[0];
};

const bodies = readFileSync(RECORDED_ERRORS, "utf8")
  .split("\n")
  .flatMap((line) => {
    const parsed = line === "" ? undefined : body.safeParse(JSON.parse(line));
    return parsed?.success === true ? [parsed.data] : [];
  });
const examples = ERROR_CODES.flatMap((code) => {
  const typical = typicalOf(bodies.filter((one) => one.code === code));
  const kept = (known as Readonly<Record<string, unknown>>)[code];
  const example = typical === undefined ? kept : lookAlikes(typical);
  return example === undefined ? [] : [[code, example] as const];
});
await writeExamples(FILE, Object.fromEntries(examples) as never);
rmSync(RECORDED_ERRORS);
const missing = ERROR_CODES.filter((code) => !examples.some(([name]) => name === code));
console.log(`${String(examples.length)} codes have an example. Without one: ${missing.join(", ") || "none"}.`);
