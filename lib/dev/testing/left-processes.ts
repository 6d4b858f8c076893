import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_MS = 30_000;
const POLL_MS = 50;
/**
 * Commands that do not count as left. esbuild keeps a process running for later builds of the same
 * worker.
 */
const STAYS = /esbuild/;

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Empty when the process has ended, or the system has no /proc.
    return "";
  }
};

/** Commands of living child processes. Empty on systems without /proc. */
const children = (): string[] => {
  const { pid } = process;
  const ids = read(`/proc/${String(pid)}/task/${String(pid)}/children`)
    .split(" ")
    .filter(Boolean);
  return ids
    .map((id) => read(`/proc/${id}/cmdline`).replaceAll("\0", " ").trim())
    .filter((text) => text !== "" && !STAYS.test(text));
};

/**
 * Commands of processes that this one started and that have not ended. A killed process takes a
 * moment to end.
 */
export const leftProcesses = async (): Promise<string[]> => {
  for (let waitedMs = 0; children().length > 0 && waitedMs < WAIT_MS; waitedMs += POLL_MS)
    await sleep(POLL_MS);
  return children();
};
