import { withDeadline } from "./deadline";
import { redactSecrets } from "./redaction";

/**
 * State of one dependency. `detail` is for operators of the service and contains no secrets and no
 * URLs with credentials.
 */
export interface ReadinessPart {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly latencyMs: number | null;
}

export interface Readiness {
  readonly status: "ready" | "unavailable";
  readonly parts: readonly ReadinessPart[];
}

/**
 * Checks one dependency. `check` resolves to a detail for operators, and rejects when the
 * dependency is not usable.
 */
export interface ReadinessProbe {
  readonly name: string;
  /** True when the service works without this dependency, for example one of several chains. */
  readonly optional?: boolean;
  readonly timeoutMs?: number;
  check(signal: AbortSignal): Promise<string>;
}

export interface ReadinessService {
  check(): Promise<Readiness>;
  /** Adds a dependency that only this process has, such as its web pages. */
  add(probe: ReadinessProbe): void;
}

const PROBE_TIMEOUT_MS = 2_000;
/** An answer is reused for this long, because monitors, load balancers and open pages ask often. */
const CACHE_MS = 1_000;

const ask = async (probe: ReadinessProbe, timeoutMs: number): Promise<ReadinessPart> => {
  const startedMs = performance.now();
  try {
    const asked = probe.check(AbortSignal.timeout(timeoutMs));
    const detail = await withDeadline(asked, { timeoutMs, message: "no answer in time" });
    return {
      name: probe.name,
      ok: true,
      detail,
      latencyMs: Math.round(performance.now() - startedMs),
    };
  } catch (error) {
    const reason =
      error instanceof Error ? (error.message.split("\n")[0] ?? error.name) : "not usable";
    return { name: probe.name, ok: false, detail: redactSecrets(reason), latencyMs: null };
  }
};

/**
 * Checks all dependencies in parallel, each with a deadline of `timeoutMs` (default 2 s).
 * Concurrent callers share one round of checks, and its result is reused for one second, so each
 * dependency is asked at most once a second. `check` never rejects.
 * @example
 * const readiness = createReadinessService([{ name: "database", check: () => pingDatabase() }]);
 * const { status, parts } = await readiness.check();
 */
export const createReadinessService = (
  first: readonly ReadinessProbe[],
  options: { timeoutMs?: number; monotonicMs?: () => number } = {},
): ReadinessService => {
  const { monotonicMs = () => performance.now() } = options;
  const probes = [...first];
  let running: Promise<Readiness> | null = null;
  let last: { readonly readiness: Readiness; readonly atMs: number } | null = null;
  const round = async (): Promise<Readiness> => {
    const asked = [...probes];
    const parts = await Promise.all(
      asked.map((probe) =>
        ask(probe, probe.timeoutMs ?? options.timeoutMs ?? PROBE_TIMEOUT_MS),
      ),
    );
    const missing = parts.some((part, index) => !part.ok && asked[index]?.optional !== true);
    return { status: missing ? "unavailable" : "ready", parts };
  };
  return {
    add: (probe) => void probes.push(probe),
    check: async () => {
      if (last !== null && monotonicMs() - last.atMs < CACHE_MS) return last.readiness;
      running ??= round().finally(() => {
        running = null;
      });
      const readiness = await running;
      last = { readiness, atMs: monotonicMs() };
      return readiness;
    },
  };
};
