// `npm run check`: format, lint, types, boundaries, unused code and unit tests, side by side.
import { bin, checkNode, report } from "./project.mjs";
import { endChildrenOnInterrupt, performAll, secondsSince } from "./scheduler.mjs";

/** The longest first. */
const tasks = [
  // It reports the errors of the TypeScript compiler as well.
  { name: "lint and types", npm: "check:lint" },
  { name: "unit", command: bin("vitest"), args: ["run", "--project", "unit", "--reporter=dot"] },
  { name: "format", npm: "check:format" },
  { name: "unused code", npm: "check:unused" },
  { name: "boundaries", npm: "check:boundaries" },
];

const started = performance.now();
endChildrenOnInterrupt();
try {
  checkNode();
  const { failed } = await performAll(tasks);
  console.log(`\n${failed === 0 ? "Every check passed" : `${failed} checks failed`} in ${secondsSince(started)}.`);
  process.exitCode ||= failed > 0 ? 1 : 0;
} catch (error) {
  report(error);
}
