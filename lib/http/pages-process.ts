import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { edgeError, pagesUnavailable } from "./edge-error";
import { passedHeaders } from "./input";
import {
  askForPage,
  type LifeBounds,
  type PagesLife,
  passOn,
  restartPauseMs,
  startLife,
} from "./pages-life";
import type { PageRequest } from "./pages-gate";
import { sendAnswer } from "./compress";

export interface PagesProcess {
  /**
   * Passes a request to the pages and returns their answer; answers 503 while the pages do not run.
   */
  handle(request: PageRequest): void;
  /**
   * Renders one page.
   * @returns a description of the result
   * @throws Error while the pages do not run, or answer with an error
   */
  check(signal: AbortSignal): Promise<string>;
  pid(): number | null;
  stop(): Promise<void>;
}

type PagesEvent =
  | { readonly type: "ended"; readonly reason: string; readonly pauseMs: number }
  | { readonly type: "ready" };

interface PagesBounds extends LifeBounds {
  /** The shortest pause before the pages are started again. */
  readonly firstMs: number;
  /** The longest pause before the pages are started again. */
  readonly maxMs: number;
  /** Running time after which the pauses start again from the shortest. */
  readonly steadyAfterMs: number;
}

interface PagesOptions {
  readonly entry: string;
  /** Origin of the app as browsers see it. */
  readonly publicUrl: string;
  /** Arguments for Node. Default: the arguments of this process. */
  readonly nodeArguments?: readonly string[];
  /** Called when the pages end, with the reason, and when they run again. */
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
/**
 * Path of the page that is checked: a public page that needs the layout, the configuration and the
 * packages of all pages, but no session.
 */
const CHECKED_PAGE = "/sign-in";
/**
 * Length of a folder name up to which the socket's path is short enough. The path of a Unix socket
 * may have about a hundred characters.
 */
const FOLDER_LENGTH_MAX = 60;

const privateFolder = (): string =>
  mkdtempSync(join(tmpdir().length > FOLDER_LENGTH_MAX ? "/tmp" : tmpdir(), "causeway-pages-"));

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
    // Each process has a different socket, so that a leftover socket of the previous one does not
    // interfere.
    const socketPath = join(this.#folder, `${String(this.#started)}.sock`);
    const life = startLife({ entry, nodeArguments, socketPath, bounds: this.#bounds });
    this.#life = life;
    await life.ready;
    this.#isServing = true;
    return life;
  }

  /** Restarts the pages whenever they end. Never rejects; resolves when they are stopped. */
  async keepAlive(first: PagesLife): Promise<void> {
    const { signal } = this.#stopper;
    const isStopping = (): boolean => signal.aborted;
    let failures = 0;
    let readySinceMs: number | null = performance.now();
    let reason = await first.ended;
    while (!isStopping()) {
      this.#isServing = false;
      if (
        readySinceMs !== null &&
        performance.now() - readySinceMs > this.#bounds.steadyAfterMs
      )
        failures = 0;
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

  async check(signal: AbortSignal): Promise<string> {
    if (this.#life === null || !this.#isServing)
      throw new Error(
        "The process of the pages does not run; it is started again. The log has the reason.",
      );
    const { publicUrl } = this.#options;
    const passed = { client: "", publicUrl, path: CHECKED_PAGE, bodyBytes: 0, page: null };
    const status = await askForPage(this.#life, {
      path: CHECKED_PAGE,
      headers: passedHeaders({}, passed),
      signal,
    });
    if (status === 200) return "a page is drawn";
    throw new Error(
      `The pages answer with ${String(status)}. The log has the reason; a build that lacks files is one.`,
    );
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
 * Runs Next in a separate process (`pages.ts` explains the reason) and restarts it whenever it
 * ends, for any reason and any number of times: the API and the worker of this process do not
 * depend on it. The first start must succeed, because waiting does not repair a missing build.
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
    throw new Error(`The process of the pages ${reason}. What it wrote stands above.`, {
      cause,
    });
  }
};
