import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PartError } from "./part-error";

/**
 * Creates the folder and writes a file in it, before any part starts that needs it.
 * @throws PartError that names the folder
 */
export const requireWritable = (folder: string): void => {
  const probe = join(folder, `.probe-${String(process.pid)}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(probe, "probe");
    rmSync(probe);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new PartError(
      "Causeway",
      new Error(`the data folder ${folder} cannot be written${code}`, { cause: error }),
      "make the folder writable, free space on its disk, or name another one: CAUSEWAY_DATA_DIR=/path npm start",
    );
  }
};
