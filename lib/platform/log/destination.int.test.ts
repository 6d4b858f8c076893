import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "causeway-log-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Every write to /dev/full fails with ENOSPC. Closing it and opening a file gives the file the same
// descriptor, as if space became free.
const PROGRAM = `
import { closeSync, openSync } from "node:fs";
const { openLogDestination } = await import("./lib/platform/log/destination.ts");
const fd = openSync("/dev/full", "w");
let recovered = null;
const log = openLogDestination({ fd, onRecovered: (dropped) => (recovered = dropped) });
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
const line = "x".repeat(1023) + "\\n";
for (let count = 0; count < 3000; count += 1) { log.write(line); if (count % 500 === 0) await turn(); }
closeSync(fd);
// Lower descriptors may have become free meanwhile; they are taken first.
let next = openSync(process.argv[1], "a");
while (next < fd) next = openSync(process.argv[1], "a");
if (next !== fd) throw new Error("another descriptor");
while (recovered === null) { log.write("after\\n"); await turn(); }
log.write("last\\n");
log.flush();
console.log(recovered);
`;

test("while the disk is full lines are dropped and counted; afterwards lines are written again", async () => {
  const file = join(folder, "server.log");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", PROGRAM, file],
    { cwd: PROJECT },
  );
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const kept = lines.filter((line) => line.startsWith("x")).length;
  expect(kept).toBeGreaterThan(0);
  expect(Number(stdout)).toBeGreaterThanOrEqual(3000 - kept);
  expect(
    lines.filter((line) => line.startsWith("x")).every((line) => line.length === 1023),
  ).toBe(true);
  expect(lines.at(-1)).toBe("last");
});

test("a process whose log is on a full disk goes on and ends with its own exit code", async () => {
  const program = `
    const { getLogger, logInfoLine } = await import("./lib/platform/log/logger.ts");
    for (let count = 0; count < 20; count += 1) {
      getLogger("info").info({ count }, "a line");
      logInfoLine("info", '"msg":"another"');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    process.stderr.write("alive");
    process.exit(0);`;
  const { stderr } = await promisify(execFile)(
    "/bin/sh",
    [
      "-c",
      `"$0" --import tsx --input-type=module -e "$1" > /dev/full`,
      process.execPath,
      program,
    ],
    { cwd: PROJECT },
  );
  expect(stderr).toContain("alive");
});
