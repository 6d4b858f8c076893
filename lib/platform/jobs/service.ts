import { type ClaimedJob, JOB_CHANNEL, type JobOwner, type JobsRepository } from "./repository";
import { isDomainError } from "@/lib/core/errors";
import { jobBackoffMs } from "@/lib/core/pacing";
import { redactSecrets } from "@/lib/core/redaction";
import { inSpan } from "@/lib/core/tracing";

/** A free slot for one job in the worker of this process. It ends with `run` or `leave`. */
interface JobPlace extends JobOwner {
  /** Runs the job, which was stored with this owner. */
  run(job: ClaimedJob): void;
  /** Frees the slot. Call it when the job was not stored. */
  leave(): void;
}

/** The reserved slots of a worker for jobs that are being stored. @param run starts a job */
const createPlaces = (owner: JobOwner, run: (job: ClaimedJob) => void) => {
  const places = new Map<JobPlace, Promise<void>>();
  return {
    count: (): number => places.size,
    ended: async (): Promise<void> => {
      await Promise.all(places.values());
    },
    open: (): JobPlace => {
      let resolve: (() => void) | undefined;
      const end = (): void => {
        places.delete(place);
        resolve?.();
      };
      const begin = (job: ClaimedJob): void => {
        run(job);
        end();
      };
      // Starts later, so that the code that stored the job continues first.
      const place: JobPlace = {
        ...owner,
        run: (job) => void setImmediate(begin, job),
        leave: end,
      };
      const ended = new Promise<void>((done) => (resolve = done));
      places.set(place, ended);
      return place;
    },
  };
};

interface OwnWorker {
  /** Reserves a slot. Null when the worker is full or stopping. */
  take(): JobPlace | null;
}

/**
 * Hands new jobs to the worker of the process that stores them, which saves the claim. When the
 * process ends before the job does, another worker claims the job after its lease ends.
 */
export const createHandover = () => {
  let own: OwnWorker | null = null;
  return {
    /**
     * Reserves a slot in the worker of this process. Null when there is none, so that the job has
     * to be announced to all workers.
     */
    take: (): JobPlace | null => own?.take() ?? null,
    /**
     * Makes `worker` the worker of this process.
     * @returns a function that detaches the worker
     */
    attach: (worker: OwnWorker): (() => void) => {
      own = worker;
      return () => {
        if (own === worker) own = null;
      };
    },
  };
};

export type Handover = ReturnType<typeof createHandover>;

export {
  announceJob,
  endJob,
  endJobs,
  insertJob,
  insertJobOn,
  insertJobOnce,
  isJobOfProject,
  listAllParked,
  listParked,
  lockJob,
  putBack,
} from "./repository";
export type { JobOwner, ParkedJob } from "./repository";

/**
 * Outcome of one turn of a job: finished for good, or to be run again after `againInMs`
 * milliseconds. `isRemoved` is true when the handler has removed the job (`endJobs`). `failure` is
 * an error that the handler has logged. The turn then counts as if the handler had thrown.
 */
export type JobResult =
  | { readonly done: true; readonly isRemoved?: boolean }
  | { readonly done: false; readonly againInMs: number; readonly failure?: string };

/**
 * Runs one turn of the job with this id. `signal` aborts when the worker stops or loses the lease.
 */
export type JobHandler = (id: string, signal: AbortSignal) => Promise<JobResult>;

interface JobRunnerDeps {
  repository: JobsRepository;
  handlers: Readonly<Record<string, JobHandler>>;
  workerId: string;
  listener: { on(channel: string, handler: (payload: string) => void): () => void };
  /** Passes jobs that this process stores to its own worker, which then need not claim them. */
  handover?: Pick<Handover, "attach">;
  log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random?: () => number;
  options?: { leaseMs?: number; heartbeatMs?: number; pollMs?: number; concurrency?: number };
}

export interface JobRunner {
  /** Stops claiming, waits until every job reaches a safe point, and releases its lease. */
  stop(): Promise<void>;
}

/**
 * Milliseconds of a lease. Another worker takes over the jobs of a dead worker when its leases
 * expire.
 */
const LEASE_MS = 8000;
const HEARTBEAT_MS = 2000;
const POLL_MS = 500;
/**
 * Time between an announcement and the claim. Jobs that are announced at about the same time are
 * claimed together, and the request that stored a job is answered first.
 */
const ANNOUNCED_MS = 5;
const CONCURRENCY = 100;
const ERROR_CHARS_MAX = 500;
/** A job that failed this many times in a row is parked, after about four hours. */
const FAILURES_MAX = 50;
/**
 * Limit of the failure count of a job during an outage of a chain or a provider. The pauses
 * between its turns grow, but the job is never parked, because nobody could fix the job itself.
 */
const OUTAGE_FAILURES_MAX = 10;
const OUTAGES = new Set<string>([
  "chain_unavailable",
  "provider_error",
  "service_unavailable",
  "signing_off",
]);

/**
 * Releases a job whose turn failed. If releasing fails too, the lease expires and a worker claims
 * the job again.
 */
const release = async (
  { repository, workerId, log, random = Math.random }: JobRunnerDeps,
  job: ClaimedJob,
  failed: { readonly text: string; readonly isOutage: boolean },
): Promise<void> => {
  const { id, queue } = job;
  const most = failed.isOutage ? Math.max(job.failures, OUTAGE_FAILURES_MAX) : FAILURES_MAX;
  const failures = Math.min(job.failures + 1, most);
  const isParked = !failed.isOutage && failures >= FAILURES_MAX;
  const error = redactSecrets(failed.text).slice(0, ERROR_CHARS_MAX);
  const againInMs = jobBackoffMs(failures, random());
  if (isParked)
    log.error({ jobId: id, queue, failures }, "a job is parked; it failed too often");
  await repository
    .fail({ workerId, id, error, againInMs, failures, isParked })
    .catch(() => undefined);
};

/**
 * One turn of a job. It never throws: a job that failed is released with its error and tried again.
 */
const runJob = async (
  deps: JobRunnerDeps,
  job: ClaimedJob,
  signal: AbortSignal,
): Promise<void> => {
  const { repository, handlers, workerId, log } = deps;
  const { id, queue, traceparent: parent } = job;
  const handler = handlers[queue];
  try {
    if (handler === undefined) throw new Error(`No handler for the queue ${queue}.`);
    // The turn's span belongs to the trace of the request that created the job, even when another
    // instance runs the turn.
    const fields = { "causeway.job_id": id, "causeway.queue": queue };
    const result = await inSpan(`job ${queue}`, { kind: "consumer", parent, fields }, () =>
      handler(id, signal),
    );
    if (result.done) {
      if (result.isRemoved !== true) await repository.finish({ workerId, id });
    } else if (result.failure !== undefined)
      await release(deps, job, { text: result.failure, isOutage: false });
    else await repository.release({ workerId, id, againInMs: result.againInMs });
  } catch (error) {
    log.error({ err: error, jobId: id, queue }, "a job failed; it is tried again");
    const isOutage = isDomainError(error) && OUTAGES.has(error.code);
    await release(deps, job, {
      text: error instanceof Error ? error.message : "unknown",
      isOutage,
    });
  }
};

/**
 * Calls `claim` once for all jobs that are announced within a few milliseconds.
 * @returns a function that ends the subscription
 */
const onAnnounced = (listener: JobRunnerDeps["listener"], claim: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unsubscribe = listener.on(JOB_CHANNEL, () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      claim();
    }, ANNOUNCED_MS);
  });
  return () => {
    clearTimeout(timer);
    unsubscribe();
  };
};

/**
 * Runs jobs until they are done. Several instances share the jobs, and normally one instance at a
 * time runs a job. The lease only avoids wasted work; the job handlers themselves prevent double
 * effects (compare-and-set, nonces).
 */
export const startJobRunner = (deps: JobRunnerDeps): JobRunner => {
  const {
    leaseMs = LEASE_MS,
    heartbeatMs = HEARTBEAT_MS,
    pollMs = POLL_MS,
    concurrency = CONCURRENCY,
  } = deps.options ?? {};
  const { repository, workerId } = deps;
  const running = new Map<string, { controller: AbortController; finished: Promise<void> }>();
  let stopping = false;
  let hasClaimed = false;
  let claiming: Promise<void> | null = null;
  let again = false;
  let poll: ReturnType<typeof setTimeout> | undefined;

  const launch = (job: ClaimedJob): void => {
    if (running.has(job.id)) return;
    const controller = new AbortController();
    const finished = runJob(deps, job, controller.signal).finally(() => {
      running.delete(job.id);
      if (!stopping && room() === 1) claim();
    });
    running.set(job.id, { controller, finished });
  };

  const places = createPlaces({ workerId, leaseMs }, launch);
  const room = (): number => concurrency - running.size - places.count();
  // Reserves no slot before the first claim, which waits until everything is available that jobs
  // need.
  const take = (): JobPlace | null =>
    stopping || !hasClaimed || room() <= 0 ? null : places.open();

  const claimOnce = async (): Promise<void> => {
    const limit = room();
    if (limit <= 0) return;
    const jobs = await repository.claim({
      workerId,
      leaseMs,
      limit,
      queues: Object.keys(deps.handlers),
    });
    hasClaimed = true;
    for (const job of jobs) launch(job);
  };

  /** Schedules the next claim without an announcement, counted from the latest claim. */
  const pollLater = (): void => {
    clearTimeout(poll);
    poll = setTimeout(claim, pollMs);
  };

  /** Claims jobs, one claim at a time. A call during a claim leads to one more claim after it. */
  const claim = (): void => {
    if (stopping) return;
    if (claiming !== null) {
      again = true;
      return;
    }
    claiming = claimOnce()
      .catch((error: unknown) => deps.log.warn({ err: error }, "jobs could not be claimed"))
      .finally(() => {
        claiming = null;
        if (!stopping) pollLater();
        if (again) {
          again = false;
          claim();
        }
      });
  };

  const heartbeat = async (): Promise<void> => {
    const ids = [...running.keys()];
    if (ids.length === 0) return;
    const kept = new Set(await repository.extend({ workerId, leaseMs, ids }));
    for (const id of ids) if (!kept.has(id)) running.get(id)?.controller.abort();
  };

  const beat = setInterval(() => {
    heartbeat().catch((error: unknown) =>
      deps.log.warn({ err: error }, "leases could not be extended"),
    );
  }, heartbeatMs);
  const unsubscribe = onAnnounced(deps.listener, claim);
  const detach = deps.handover?.attach({ take });
  claim();

  return {
    stop: async () => {
      stopping = true;
      clearTimeout(poll);
      unsubscribe();
      detach?.();
      await claiming;
      await places.ended();
      for (const { controller } of running.values()) controller.abort();
      await Promise.all([...running.values()].map((job) => job.finished));
      clearInterval(beat);
    },
  };
};
