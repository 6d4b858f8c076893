import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { endProcess, identityOf, isAlive, isSameProcess, waitForExit } from "./process.mjs";

const MODULE = fileURLToPath(new URL("./process.mjs", import.meta.url));
const KILL = [{ signal: "SIGKILL", waitMs: 10_000 }] as const;
const started: number[] = [];
afterEach(async () => {
  for (const pid of started.splice(0)) await endProcess(pid, KILL);
});

const sleeper = (): number => {
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  started.push(child.pid ?? 0);
  return child.pid ?? 0;
};

test("a process is the same for as long as it runs, and not afterwards", async () => {
  const pid = sleeper();
  // Between fork and exec the child still has our command line.
  await vi.waitFor(() => expect(identityOf(pid).command).toContain("sleep 300"), 20_000);
  const identity = identityOf(pid);
  expect(isSameProcess(identity)).toBe(true);
  expect(isSameProcess({ ...identity, bornAt: identityOf(process.pid).bornAt })).toBe(false);
  await endProcess(pid, KILL);
  expect(isSameProcess(identity)).toBe(false);
});

test("two processes with the same command line have different identities", async () => {
  const [one, other] = [sleeper(), sleeper()];
  await vi.waitFor(() => expect(identityOf(other).command).toBe("sleep 300 "), 20_000);
  expect(isSameProcess({ ...identityOf(one), pid: other, bornAt: "" })).toBe(false);
  expect(isSameProcess({ pid: one })).toBe(false);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a process notices that its shell was ended by %s",
  async (signal) => {
    const code = `import { onParentEnd } from ${JSON.stringify(MODULE)};
    onParentEnd(() => process.exit(0)); setInterval(() => {}, 1000); console.log(process.pid);`;
    // The second command keeps the shell from replacing itself by the first.
    const shell = spawn(
      "/bin/sh",
      ["-c", `"$0" --input-type=module -e "$1"; :`, process.execPath, code],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = (await once(shell.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    started.push(pid);
    expect(isAlive(pid)).toBe(true);
    shell.kill(signal);
    expect(await waitForExit(pid, 30_000)).toBe(true);
  },
);
