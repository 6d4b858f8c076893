import { write, writeSync } from "node:fs";
import { counter } from "./metric-registry";

const STDOUT = 1;
/** As much is gathered before a write; less waits for the next flush. */
const BATCH_CHARS = 8 * 1024;
/** What waits while nothing can be written; beyond it lines are dropped. */
const WAITING_CHARS_MAX = 1024 * 1024;
const FLUSH_INTERVAL_MS = 100;

const droppedTotal = counter({ name: "causeway_log_lines_dropped_total", help: "Log lines that could not be written" });

interface DestinationOptions {
  /** A file descriptor. Default: stdout. */
  readonly fd?: number;
  /** Called when writing works again after lines were dropped. */
  readonly onRecovered: (dropped: number) => void;
}

export interface LogDestination {
  /** @param line with its line end */
  write(line: string): void;
  flush(): void;
}

/**
 * Gathers lines and writes them without blocking, at the latest after 100 ms and when the process ends. While the disk is full
 * (or a write fails for another reason) the newest lines are dropped and counted, the write is tried again with each flush, and
 * the process goes on. pino's own destination ends the process then, or never lets it end.
 */
export const openLogDestination = ({ fd = STDOUT, onRecovered }: DestinationOptions): LogDestination => {
  let waiting: string[] = [];
  let waitingChars = 0;
  /** Handed to the system, as far as it has not taken it. */
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
    // What is being written was handed over already. One attempt for the rest: the disk may be full.
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
        droppedTotal.inc();
        return;
      }
      waiting.push(line);
      waitingChars += line.length;
      if (waitingChars >= BATCH_CHARS) flush();
    },
    flush,
  };
};
