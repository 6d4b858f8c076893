import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { identityOf } from "@/lib/platform/os/process.mjs";
import { acquireLock, AlreadyRunningError, type LockInfo } from "./lock";

const folder = mkdtempSync(join(tmpdir(), "causeway-lock-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PID_UNUSED = 2 ** 22 + 1; // Larger than any process id that Linux assigns.

describe("stack lock", () => {
  test("a second start is refused with the first one's address and process", () => {
    const file = join(folder, "second");
    const lock = acquireLock(file);
    lock.publish("http://localhost:3000");
    const second = (): unknown => acquireLock(file);
    expect(second).toThrow(AlreadyRunningError);
    expect(second).toThrow(`http://localhost:3000 (pid ${String(process.pid)})`);
    lock.release();
    expect(existsSync(file)).toBe(false);
  });

  test("a holder that was killed does not count", () => {
    const file = join(folder, "killed");
    const dead: LockInfo = {
      pid: PID_UNUSED,
      bornAt: "1",
      command: "node",
      startedAt: "2026-01-01T00:00:00.000Z",
    };
    writeFileSync(file, JSON.stringify(dead));
    acquireLock(file).release();
  });

  test.each([
    ["another program", { command: "another program" }],
    [
      "the same program, started again with the same id as in a restarted container,",
      { bornAt: "another boot:1" },
    ],
  ])("%s does not count as the dead holder", (_, other) => {
    const file = join(folder, "reused");
    const reused: LockInfo = {
      ...identityOf(process.pid),
      startedAt: "2026-01-01T00:00:00.000Z",
      ...other,
    };
    writeFileSync(file, JSON.stringify(reused));
    const lock = acquireLock(file);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject(identityOf(process.pid));
    lock.release();
  });

  test("a lock file that a kill left half-written does not count", () => {
    const file = join(folder, "torn");
    writeFileSync(file, '{"pid": 1');
    acquireLock(file).release();
  });
});
