import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { edgeError, pagesUnavailable } from "./edge-error";
import { passOn } from "./pages-exchange";
import type { PageRequest } from "./pages-gate";
import { startLife, type LifeBounds, type PagesLife } from "./pages-life";
import { restartPauseMs } from "./restart-pause";
import { sendAnswer } from "./send-answer";

export interface PagesProcess {
  /** Passes a request to the pages and returns their answer; answers 503 while the pages do not run. */
  handle(request: PageRequest): void;
  /** Id of the process that answers now; null while there is none. */
  pid(): number | null;
  stop(): Promise<void>;
}

type PagesEvent =
  | { readonly type: "ended"; readonly reason: string; readonly pauseMs: number }
  | { readonly type: "ready" };

interface PagesBounds extends LifeBounds {
  /** Pauses before the pages are started anew, the shortest and the longest. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Pages that ran this long begin with the shortest pause again. */
  readonly steadyAfterMs: number;
}

interface PagesOptions {
  /** Script that calls `servePages`. */
  readonly entry: string;
  /** Arguments for Node.js itself; default: those of this process. */
  readonly nodeArguments?: readonly string[];
  /** Logs why the pages ended and that they run again. */
  readonly onEvent: (event: PagesEvent) => void;
  readonly bounds?: Partial<PagesBounds>;
}

const BOUNDS: PagesBounds = {
  readyTimeoutMs: 60_000,
  firstMs: 250,
  maxMs: 30_000,
  steadyAfterMs: 60_000,
  probeEveryMs: 5_000,
  probeTimeoutMs: 15_000,
  probesMissedMax: 2,
  heapMb: 1_024,
  memoryMb: 2_048,
};
/** A socket's path may have about a hundred characters. */
const FOLDER_LENGTH_MAX = 60;

const privateFolder = (): string =>
  mkdtempSync(join(tmpdir().length > FOLDER_LENGTH_MAX ? "/tmp" : tmpdir(), "causeway-pages-"));

/** Keeps one process of the pages alive: its current life, and the pauses between two. */
class Pages implements PagesProcess {
  readonly #options: PagesOptions;
  readonly #bounds: PagesBounds;
  readonly #folder = privateFolder();
  readonly #stopper = new AbortController();
  #started = 0;
  #life: PagesLife | null = null;
  #isServing = false;

  constructor(options: PagesOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  async start(): Promise<PagesLife> {
    const { entry, nodeArguments = process.execArgv } = this.#options;
    this.#started += 1;
    // A name of its own for each life, so that a leftover socket of the previous life does not interfere.
    const socketPath = join(this.#folder, `${String(this.#started)}.sock`);
    const life = startLife({ entry, nodeArguments, socketPath, bounds: this.#bounds });
    this.#life = life;
    await life.ready;
    this.#isServing = true;
    return life;
  }

  /** Starts the pages anew whenever they end. Never rejects; resolves when they are stopped. */
  async keepAlive(first: PagesLife): Promise<void> {
    const { signal } = this.#stopper;
    const isStopping = (): boolean => signal.aborted;
    let failures = 0;
    let readySinceMs: number | null = performance.now();
    let reason = await first.ended;
    while (!isStopping()) {
      this.#isServing = false;
      if (readySinceMs !== null && performance.now() - readySinceMs > this.#bounds.steadyAfterMs) failures = 0;
      const pauseMs = restartPauseMs(failures, this.#bounds, Math.random());
      failures += 1;
      this.#options.onEvent({ type: "ended", reason, pauseMs });
      await sleep(pauseMs, null, { signal }).catch(() => null);
      if (isStopping()) return;
      readySinceMs = null;
      try {
        const life = await this.start();
        readySinceMs = performance.now();
        this.#options.onEvent({ type: "ready" });
        reason = await life.ended;
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
      }
    }
  }

  handle(request: PageRequest): void {
    const { incoming, outgoing } = request;
    if (this.#life && this.#isServing) passOn(request, this.#life);
    else sendAnswer(edgeError(pagesUnavailable(), incoming), incoming, outgoing);
  }

  pid(): number | null {
    return this.#isServing ? (this.#life?.pid ?? null) : null;
  }

  async stop(): Promise<void> {
    this.#stopper.abort();
    await this.#life?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Runs Next in a process of its own (`pages.ts` says why) and starts it anew whenever it ends, for whatever reason and however often: the
 * API and the worker of this process do not depend on it. The first start must succeed, because waiting does not repair a
 * missing build.
 * @throws Error when the first start fails
 */
export const startPagesProcess = async (options: PagesOptions): Promise<PagesProcess> => {
  const pages = new Pages(options);
  try {
    void pages.keepAlive(await pages.start());
    return pages;
  } catch (cause) {
    await pages.stop();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The process of the pages ${reason}. What it wrote stands above.`, { cause });
  }
};
