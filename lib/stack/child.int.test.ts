import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { isAlive, signal, waitForExit } from "@/lib/platform/os/process.mjs";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { superviseChild, type ChildOptions, type SupervisedChild } from "./child";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const { folder, remove } = await makeWorkspace();
afterAll(() => remove());

let child: SupervisedChild | null = null;
afterEach(async () => {
  await child?.stop();
  child = null;
});

const SERVES =
  'process.send({ type: "ready" }); setInterval(() => {}, 1000); process.on("disconnect", () => process.exit());';

const start = async (
  code: string,
  own: Partial<ChildOptions> = {},
): Promise<SupervisedChild> => {
  child = await superviseChild({
    name: "The child",
    command: process.execPath,
    args: ["-e", code],
    cwd: folder,
    environment: {},
    logFile: join(folder, "child.log"),
    quietMaxMs: 20_000,
    restartDelaysMs: [10, 10],
    ...own,
  });
  return child;
};

const pidOf = (one: SupervisedChild): number => one.pid() ?? 0;

test("a child that is killed is started again", async () => {
  const onReadyAgain = vi.fn();
  const running = await start(SERVES, { onReadyAgain });
  const first = pidOf(running);
  signal(first, "SIGKILL");
  await vi.waitFor(() => expect(onReadyAgain).toHaveBeenCalledOnce(), 20_000);
  expect(pidOf(running)).not.toBe(first);
  expect(isAlive(pidOf(running))).toBe(true);
});

test("a child that keeps ending is started again however often, with pauses that grow to the last one", async () => {
  const marker = join(folder, "tries");
  const onRestart = vi.fn();
  const onReadyAgain = vi.fn();
  writeFileSync(marker, "");
  // The child exits immediately nine times, more often than there are pauses, and then keeps
  // running.
  const code = `const fs = require("fs"); const tries = fs.readFileSync(${JSON.stringify(marker)}, "utf8").length;
    fs.appendFileSync(${JSON.stringify(marker)}, "x"); process.send({ type: "ready" });
    if (tries < 9) process.exit(3); setInterval(() => {}, 1000); process.on("disconnect", () => process.exit());`;
  const running = await start(code, { onRestart, onReadyAgain, restartDelaysMs: [5, 10] });
  await vi.waitFor(() => expect(readFileSync(marker, "utf8")).toHaveLength(10), 60_000);
  expect(onRestart).toHaveBeenCalledTimes(9);
  expect(onRestart.mock.calls.every(([reason]) => reason === "ended with code 3")).toBe(true);
  await vi.waitFor(() => expect(isAlive(pidOf(running))).toBe(true), 20_000);
}, 180_000);

test("a child that cannot start is refused with the end of its log", async () => {
  await expect(start('console.error("no such key"); process.exit(1);')).rejects.toThrow(
    /ended with code 1[\s\S]*no such key/,
  );
});

test("a child that never gets ready is ended", async () => {
  const marker = join(folder, "silent.pid");
  const code = `require("fs").writeFileSync(${JSON.stringify(marker)}, String(process.pid)); setInterval(() => {}, 1000);`;
  await expect(start(code, { quietMaxMs: 5_000 })).rejects.toThrow(
    "gave no sign of life for 5 s",
  );
  expect(existsSync(marker)).toBe(true);
  expect(await waitForExit(Number(readFileSync(marker, "utf8")), 20_000)).toBe(true);
});

test("a child that works before it is ready, or writes its log, is waited for however long it takes", async () => {
  const quietMaxMs = 4_000;
  // Three times as long as a quiet child may take: it first only writes, and then only works.
  const code = `const until = (ms, work) => { const end = Date.now() + ms; while (Date.now() < end) work(); };
    const pause = new Int32Array(new SharedArrayBuffer(4));
    until(6000, () => { console.log("still there"); Atomics.wait(pause, 0, 0, 500); });
    until(6000, () => undefined);
    ${SERVES}`;
  const running = await start(code, { quietMaxMs });
  expect(isAlive(pidOf(running))).toBe(true);
}, 120_000);

test("a child that would not notice ends when its supervisor is killed", async () => {
  const marker = join(folder, "guarded.pid");
  const own = `require("fs").writeFileSync(${JSON.stringify(marker)}, String(process.pid)); process.send("ready"); setInterval(() => {}, 1000); process.on("disconnect", () => {});`;
  const options = {
    name: "The child",
    command: process.execPath,
    args: ["-e", own],
    cwd: folder,
    environment: {},
    logFile: null,
    quietMaxMs: 20_000,
    endWithSupervisor: true,
  };
  const run = `const { superviseChild } = await import("./lib/stack/child.ts");
    await superviseChild(${JSON.stringify(options)});
    process.kill(process.pid, "SIGKILL");`;
  const supervisor = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", run],
    {
      cwd: PROJECT,
      env: { NODE_ENV: "test" },
      stdio: "ignore",
    },
  );
  await once(supervisor, "exit");
  expect(supervisor.signalCode).toBe("SIGKILL");
  expect(await waitForExit(Number(readFileSync(marker, "utf8")), 30_000)).toBe(true);
});

test("stopping ends the child for good", async () => {
  const onRestart = vi.fn();
  const running = await start(SERVES, { onRestart });
  const pid = pidOf(running);
  await running.stop();
  expect(isAlive(pid)).toBe(false);
  expect(onRestart).not.toHaveBeenCalled();
});
