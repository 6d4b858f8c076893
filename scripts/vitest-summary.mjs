// A reporter of Vitest, for `npm test`: writes the counts of a run, how long each file took, and
// all that failed, to the file that `--outputFile` names.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";

/** Lines of a stack that are shown: enough to name the place. */
const STACK_LINES = 6;

const placeOf = (error) =>
  (error.stack ?? "").split("\n").slice(0, STACK_LINES).join("\n    ") || error.message;

/**
 * Names the errors that belong to no test: errors of a file that cannot be loaded, errors of a
 * hook, and rejections that nobody caught. Each makes the run fail.
 */
const errorsOutsideTests = (testModules, unhandledErrors) => [
  ...testModules.flatMap((testModule) =>
    [testModule, ...testModule.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => `${titleOf(testModule)}: ${placeOf(error)}`),
    ),
  ),
  ...unhandledErrors.map((error) => {
    const { VITEST_TEST_NAME: name, VITEST_TEST_PATH: path } = error;
    const where = path ? ` in ${relative(process.cwd(), path)}` : "";
    const during = name ? ` during "${name}"` : "";
    return `an error that nobody caught${where}${during}: ${placeOf(error)}`;
  }),
];

const titleOf = (testModule) => relative(process.cwd(), testModule.moduleId);

export default class Summary {
  onInit({ config }) {
    this.file = config.outputFile;
  }

  onTestRunEnd(testModules, unhandledErrors) {
    const tests = testModules.flatMap((testModule) => [...testModule.children.allTests()]);
    const inState = (state) => tests.filter((test) => test.result().state === state);
    const outside = errorsOutsideTests(testModules, unhandledErrors);
    const failed = inState("failed").map((test) => `${titleOf(test.module)}: ${test.fullName}`);
    const summary = {
      passed: inState("passed").length,
      failed: failed.length + outside.length,
      skipped: inState("skipped").length,
      failures: [...failed, ...outside],
      files: testModules.map((testModule) => ({
        title: titleOf(testModule),
        ms: testModule.diagnostic().duration,
      })),
    };
    writeFileSync(this.file, JSON.stringify(summary));
  }
}
