import { open, rename } from "node:fs/promises";

/**
 * Writes to a temporary file, flushes and renames it: a reader finds either the old or the new
 * content, whenever this process is killed.
 */
export const writeAtomically = async (
  file: string,
  content: string | Buffer,
): Promise<void> => {
  const temporary = `${file}.${String(process.pid)}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
};
