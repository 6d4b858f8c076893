import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test(
  "the committed code of every contract is what its source compiles to",
  { timeout: 60_000 },
  async () => {
    const run = promisify(execFile)(process.execPath, [
      "scripts/compile-contracts.mjs",
      "--check",
    ]);
    // When the script exits with 1, its stderr names the outdated artifacts.
    await expect(run).resolves.toMatchObject({ stderr: "" });
  },
);
