/**
 * Runs at the beginning of each integration test file, so its hook `afterAll` runs after all other
 * hooks of the file.
 */
import { afterAll } from "vitest";
import { endFile } from "./after-file";
import { leftProcesses } from "./left-processes";

const TIMEOUT_MS = 180_000;

afterAll(async () => {
  await endFile();
  const left = await leftProcesses();
  if (left.length > 0)
    throw new Error(`Processes go on after the file that started them: ${left.join("; ")}`);
}, TIMEOUT_MS);
