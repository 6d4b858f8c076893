import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { runStack } from "./main";

const dataDir = mkdtempSync(join(tmpdir(), "causeway-stack-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test("a development stack starts nothing where anybody could reach it", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const environment = { HOST: "0.0.0.0", DATABASE_URL: "" };
    expect(await runStack({ root: dataDir, dataDir, environment, dev: true })).toBe(1);
    expect(written.mock.calls.join()).toContain("DEVELOPMENT_ON_ALL_INTERFACES");
  } finally {
    written.mockRestore();
  }
});

test("production starts no part of its own where the configuration has gaps, and names all of them", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const environment = { CAUSEWAY_ENV: "production" };
    expect(await runStack({ root: dataDir, dataDir, environment, dev: false })).toBe(1);
    const said = written.mock.calls.join();
    for (const name of ["DATABASE_URL", "CHAINS_FILE", "EXECUTOR_PRIVATE_KEY", "SMTP_URL"])
      expect(said).toContain(`${name} is missing`);
    expect(readdirSync(dataDir)).toEqual([]);
  } finally {
    written.mockRestore();
  }
});
