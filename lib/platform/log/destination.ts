import { write, writeSync } from "node:fs";

const STDOUT = 1;
/**
 * Number of characters that are collected before a write. Fewer characters wait for the next
 * flush.
 */
const BATCH_CHARS = 8 * 1024;
/** Maximum size of the lines that wait while nothing can be written; further lines are dropped. */
const WAITING_CHARS_MAX = 1024 * 1024;
const FLUSH_INTERVAL_MS = 100;

interface DestinationOptions {
  /** A file descriptor. Default: stdout. */
  readonly fd?: number;
  readonly onDropped?: () => void;
  /** Called with the number of dropped lines when writing works again. */
  readonly onRecovered: (dropped: number) => void;
}

export interface LogDestination {
  /** @param line including its line end */
  write(line: string): void;
  flush(): void;
}

/**
 * Collects lines and writes them without blocking, at the latest after 100 ms and when the process
 * ends. While the disk is full (or a write fails for another reason) the newest lines are dropped
 * and counted, the write is tried again with each flush, and the process continues. pino's own
 * destination would end the process, or keep it from ending.
 */
export const openLogDestination = ({
  fd = STDOUT,
  onDropped,
  onRecovered,
}: DestinationOptions): LogDestination => {
  let waiting: string[] = [];
  let waitingChars = 0;
  /** Bytes passed to the operating system that are not written yet. */
  let batch: Buffer = Buffer.alloc(0);
  let isWriting = false;
  let dropped = 0;

  const takeWaiting = (): Buffer => {
    const text = waiting.join("");
    waiting = [];
    waitingChars = 0;
    return Buffer.from(text);
  };

  const flush = (): void => {
    if (isWriting) return;
    if (batch.length === 0) batch = takeWaiting();
    if (batch.length === 0) return;
    isWriting = true;
    write(fd, batch, (error, count) => {
      isWriting = false;
      if (error) return; // The next flush tries again.
      batch = batch.subarray(count);
      if (dropped > 0) {
        const before = dropped;
        dropped = 0;
        onRecovered(before);
      }
      if (batch.length > 0 || waitingChars >= BATCH_CHARS) flush();
    });
  };

  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  process.on("exit", () => {
    // A write that is in progress completes by itself. The other lines are tried once, because the
    // disk may be full.
    const rest = isWriting ? takeWaiting() : Buffer.concat([batch, takeWaiting()]);
    try {
      if (rest.length > 0) writeSync(fd, rest);
    } catch {
      // The last lines are lost.
    }
  });

  return {
    write: (line) => {
      if (waitingChars + line.length > WAITING_CHARS_MAX) {
        dropped += 1;
        onDropped?.();
        return;
      }
      waiting.push(line);
      waitingChars += line.length;
      if (waitingChars >= BATCH_CHARS) flush();
    },
    flush,
  };
};
