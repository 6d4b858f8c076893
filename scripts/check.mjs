// `npm run check`: format, lint, types, boundaries, unused code and unit tests, side by side.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bin, checkNode, report, ROOT } from "./project.mjs";
import { endChildrenOnInterrupt, performAll, secondsSince } from "./scheduler.mjs";

const CACHE = join(ROOT, "node_modules", ".cache", "causeway");

/**
 * The longest first. A cache only where a cached answer is the answer of a full run: ESLint's depends on one file's content.
 * Oxlint's rules ask for types of other files, so every run asks all of them.
 */
const tasks = [
  // It reports the errors of the TypeScript compiler as well.
  { name: "typed lint", npm: "check:typed-lint" },
  {
    name: "lint",
    npm: "check:lint",
    args: ["--cache", "--cache-strategy", "content", "--cache-location", join(CACHE, "eslint")],
  },
  { name: "unit", command: bin("vitest"), args: ["run", "--project", "unit", "--reporter=dot"] },
  { name: "format", npm: "check:format" },
  { name: "unused code", npm: "check:unused" },
  { name: "boundaries", npm: "check:boundaries" },
];

const started = performance.now();
endChildrenOnInterrupt();
try {
  checkNode();
  mkdirSync(CACHE, { recursive: true });
  const { failed } = await performAll(tasks);
  console.log(`\n${failed === 0 ? "Every check passed" : `${failed} checks failed`} in ${secondsSince(started)}.`);
  process.exitCode ||= failed > 0 ? 1 : 0;
} catch (error) {
  report(error);
}
