import { withDeadline } from "./deadline";
import { redactSecrets } from "./redaction";

/** State of one dependency. `detail` is for the people who run the service and contains no secrets and no URLs with credentials. */
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

/** Checks one dependency. `check` resolves to a detail for people, and rejects when the dependency is not usable. */
export interface ReadinessProbe {
  readonly name: string;
  /** True: the service stays usable without this dependency (for instance one chain of several). */
  readonly optional?: boolean;
  check(signal: AbortSignal): Promise<string>;
}

export interface ReadinessService {
  check(): Promise<Readiness>;
}

const PROBE_TIMEOUT_MS = 2_000;
/** Monitors, load balancers and open pages ask often, so an answer is reused for this long. */
const CACHE_MS = 1_000;

const ask = async (probe: ReadinessProbe, timeoutMs: number): Promise<ReadinessPart> => {
  const startedMs = performance.now();
  try {
    const asked = probe.check(AbortSignal.timeout(timeoutMs));
    const detail = await withDeadline(asked, { timeoutMs, message: "no answer in time" });
    return { name: probe.name, ok: true, detail, latencyMs: Math.round(performance.now() - startedMs) };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? error.name) : "not usable";
    return { name: probe.name, ok: false, detail: redactSecrets(reason), latencyMs: null };
  }
};

/**
 * Checks all dependencies in parallel, each with a deadline of `timeoutMs` (default 2 s). Concurrent callers share one round of
 * checks, and its result is reused for one second, so each dependency is asked at most once a second.
 * `check` never rejects.
 * @example
 * const readiness = createReadinessService([{ name: "database", check: () => pingDatabase() }]);
 * const { status, parts } = await readiness.check();
 */
export const createReadinessService = (
  probes: readonly ReadinessProbe[],
  options: { timeoutMs?: number; monotonicMs?: () => number } = {},
): ReadinessService => {
  const { monotonicMs = () => performance.now() } = options;
  let running: Promise<Readiness> | null = null;
  let last: { readonly readiness: Readiness; readonly atMs: number } | null = null;
  const round = async (): Promise<Readiness> => {
    const parts = await Promise.all(probes.map((probe) => ask(probe, options.timeoutMs ?? PROBE_TIMEOUT_MS)));
    const missing = parts.some((part, index) => !part.ok && probes[index]?.optional !== true);
    return { status: missing ? "unavailable" : "ready", parts };
  };
  return {
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
