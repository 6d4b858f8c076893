import { open, rename } from "node:fs/promises";

/**
 * Writes the content to a temporary file, flushes it and renames it. Even when this process is
 * killed, a reader finds either the whole old or the whole new content.
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
