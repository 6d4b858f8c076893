/** Files that are verified by their SHA-256: backups and archives. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, writeFile } from "node:fs/promises";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface FileDigest {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

const OWNER_ONLY = 0o600;

/**
 * Writes a stream to a new file, waits until it is on disk, and returns its hash. Only the owner
 * may read the file.
 */
export const writeHashed = async (
  content: Readable,
  to: string,
  between: readonly Transform[] = [],
): Promise<FileDigest> => {
  const hash = createHash("sha256");
  let bytes = 0;
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline([
    content,
    ...between,
    hashing,
    createWriteStream(to, { mode: OWNER_ONLY, flush: true }),
  ]);
  return { bytes, sha256: hash.digest("hex") };
};

/** Returns the SHA-256 of a file in hex. @throws the file system's error, such as `ENOENT` */
export const hashOf = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
};

/** Writes a small file completely or not at all. */
export const writeWhole = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text, { mode: OWNER_ONLY, flush: true });
  await rename(`${file}.new`, file);
};

/**
 * Waits until the names in a folder are on disk, like `flush` does for the content of its files.
 */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
