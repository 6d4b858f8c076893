// The files that a chain's journal consists of.
import {
  closeSync,
  createReadStream,
  fdatasync,
  ftruncateSync,
  fstatSync,
  openSync,
  writeSync,
} from "node:fs";
import { copyFile, stat, truncate } from "node:fs/promises";
import { promisify } from "node:util";
import { decodeRecord, encodeRecord, type JournalRecord } from "./record";

/**
 * Interval between two flushes to the disk. A power cut can lose the writes since the last flush.
 * The end of the process loses none, because written bytes are in the system's memory.
 */
const SYNC_INTERVAL_MS = 1_000;
const LINE_BREAK = 10;

export interface SegmentWriter {
  /**
   * Returns when the operating system has the record.
   * @throws Error when it cannot be written, for instance on a full disk; nothing is written then
   */
  append(record: JournalRecord): void;
  /** Flushes to disk, then closes the file. */
  close(): Promise<void>;
}

const sync = promisify(fdatasync);

const writeWhole = (file: number, bytes: Buffer): void => {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
};

/** Opens a segment for appending, and creates it when missing. */
export const openSegment = (path: string): SegmentWriter => {
  const file = openSync(path, "a", 0o600);
  let size = fstatSync(file).size;
  let isDirty = false;
  let syncing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    if (!isDirty) return;
    isDirty = false;
    syncing = sync(file).catch(() => undefined);
  }, SYNC_INTERVAL_MS);
  timer.unref();
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await syncing;
    await sync(file);
    closeSync(file);
  };
  return {
    append: (record) => {
      const bytes = Buffer.from(encodeRecord(record));
      try {
        writeWhole(file, bytes);
      } catch (error) {
        // Removes the incomplete line, because it would make every later line unreadable.
        ftruncateSync(file, size);
        throw error;
      }
      size += bytes.length;
      isDirty = true;
    },
    close: () => (closed ??= close()),
  };
};

/**
 * Reads each complete record from the beginning, with the offset of its end. Stops before the
 * first incomplete line.
 */
export async function* readSegment(
  path: string,
): AsyncGenerator<{ record: JournalRecord; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  let end = 0;
  for await (const chunk of createReadStream(path)) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let to = rest.indexOf(LINE_BREAK); to >= 0; to = rest.indexOf(LINE_BREAK, from)) {
      const record = decodeRecord(rest.toString("utf8", from, to));
      if (record === null) return;
      end += to + 1 - from;
      from = to + 1;
      yield { record, end };
    }
    rest = rest.subarray(from);
  }
}

/**
 * Copies the whole segment to a file beside it, then cuts the bytes after the last complete
 * record.
 * @returns the number of bytes cut
 */
export const cutTail = async (path: string, end: number): Promise<number> => {
  const { size } = await stat(path);
  if (size === end) return 0;
  await copyFile(path, `${path}.damaged`);
  await truncate(path, end);
  return size - end;
};
