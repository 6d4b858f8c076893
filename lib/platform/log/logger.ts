import { pino, type Logger, type LoggerOptions } from "pino";
import { redactSecrets } from "@/lib/core/redaction";
import { openLogDestination, type LogDestination } from "./destination";

const STDOUT = 1;
const STDERR = 2;

const logs = new Map<string, Log>();
let logDescriptor = STDOUT;

/**
 * Sends the log of this process to stderr, for a command that prints its result on stdout. Call it
 * before the first `getLogger`.
 */
export const logToStderr = (): void => {
  logDescriptor = STDERR;
};

const dropListeners = new Set<() => void>();

/** Calls `listener` for each log line that could not be written, as when the disk is full. */
export const onLineDropped = (listener: () => void): void => void dropListeners.add(listener);

// Patterns for secrets in error messages of other software that the configuration does not know.
const TOKENS =
  /cw_(?:live|test|rt)_[A-Za-z0-9_]+|whsec_[A-Za-z0-9+/=]+|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+|(?<=:\/\/)[^/\s:@]+:[^/\s@]+(?=@)|(?<=\b(?:bearer|password|secret|apikey|api_key)["']?[:= ]{1,4}["']?)[^\s"',}]+/gi;

export const redact = (text: string): string =>
  redactSecrets(text).replace(TOKENS, "[redacted]");

const CAUSE_DEPTH_MAX = 4;

interface LoggedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: LoggedError | undefined;
}

/** An error in a loggable form: only name, message, stack and causes, with secrets removed. */
export const loggedError = (error: unknown, depth = 0): LoggedError => {
  if (!(error instanceof Error))
    return {
      name: typeof error,
      message: redact(String(error)),
      stack: undefined,
      cause: undefined,
    };
  return {
    name: error.name,
    message: redact(error.message),
    stack: error.stack === undefined ? undefined : redact(error.stack),
    cause:
      error.cause === undefined || depth >= CAUSE_DEPTH_MAX
        ? undefined
        : loggedError(error.cause, depth + 1),
  };
};

interface Log {
  readonly logger: Logger;
  readonly stream: LogDestination;
}

const openLog = (level: string): Log => {
  const known = logs.get(level);
  if (known) return known;
  const stream = openLogDestination({
    fd: logDescriptor,
    onDropped: () => {
      for (const listener of dropListeners) listener();
    },
    onRecovered: (dropped) => {
      log.logger.warn({ dropped }, "log lines were dropped, because they could not be written");
    },
  });
  const options: LoggerOptions = {
    level,
    base: null,
    // pino must not convert errors itself, because callers pass the result of `loggedError`, which
    // has only loggable parts.
    serializers: { err: (error: unknown) => error },
    formatters: { level: (label) => ({ level: label }) },
  };
  // Redaction is the last step before writing, so that no field can contain a configured secret.
  const redacting: LogDestination = {
    write: (line) => stream.write(redactSecrets(line)),
    flush: () => stream.flush(),
  };
  const log: Log = { logger: pino(options, redacting), stream };
  logs.set(level, log);
  return log;
};

/**
 * One JSON line per event on stdout. Lines are collected and written without blocking, at the
 * latest after 100 ms and when the process ends; a process that is killed may lose the last ones.
 */
export const getLogger = (level: string): Logger => openLog(level).logger;

/**
 * Writes an info line that is JSON already, unless `level` suppresses info. It costs a fifth of a
 * call to pino; the one line per request uses it.
 * @param fields members without braces; their strings need no escaping
 */
export const logInfoLine = (level: string, fields: string): void => {
  const { logger, stream } = openLog(level);
  if (logger.isLevelEnabled("info"))
    stream.write(`{"level":"info","time":${String(Date.now())},${fields}}\n`);
};
