// `npm run openapi:errors`: writes lib/contracts/examples/errors.json. For each error code the file
// contains one error body that integration tests received.
import { readFileSync, rmSync } from "node:fs";
import { z } from "zod";
import known from "@/lib/contracts/examples/errors.json";
import { errorBody } from "@/lib/contracts/error-body";
import { ERROR_CODES } from "@/lib/core/errors";
import { writeExamples } from "@/lib/dev/testing/example-recorder";
import { RECORDED_ERRORS } from "@/lib/dev/testing/error-recorder";
import { lookAlikes } from "@/lib/dev/testing/look-alikes";

const FILE = "lib/contracts/examples/errors.json";

const body = errorBody.extend({ code: z.enum(ERROR_CODES) }).loose();
type Body = z.infer<typeof body>;

/**
 * Chooses the body with the most frequent message. Prefers a body with details, because readers
 * cannot guess the shape of details.
 */
const typicalOf = (bodies: readonly Body[]): Body | undefined => {
  const times = new Map<string, number>();
  for (const { message } of bodies) times.set(message, (times.get(message) ?? 0) + 1);
  const rank = ({ message, details }: Body): number =>
    (times.get(message) ?? 0) + (details === undefined ? 0 : 0.5);
  return [...bodies].sort(
    (one, other) => rank(other) - rank(one) || one.message.localeCompare(other.message),
  )[0];
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
console.log(
  `${String(examples.length)} codes have an example. Without one: ${missing.join(", ") || "none"}.`,
);
