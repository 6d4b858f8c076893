import type { ClaimedJob, JobOwner } from "./repository";

/** Room for one job in the worker of this process. It ends with `run` or `leave`. */
export interface JobPlace extends JobOwner {
  /** Runs the job, which was stored with this owner. */
  run(job: ClaimedJob): void;
  /** The job was not stored. */
  leave(): void;
}

/** The places of a worker whose jobs are being stored. @param run begins a job */
export const createPlaces = (owner: JobOwner, run: (job: ClaimedJob) => void) => {
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
      // Whoever stored the job goes on first.
      const place: JobPlace = { ...owner, run: (job) => void setImmediate(begin, job), leave: end };
      const ended = new Promise<void>((done) => (resolve = done));
      places.set(place, ended);
      return place;
    },
  };
};

/** The worker of this process. */
export interface OwnWorker {
  /** Null when it is full, or stops. */
  take(): JobPlace | null;
}

/**
 * Hands new jobs to the worker of the process that stores them, which saves the claim. When the process ends before the job does,
 * another worker claims the job after its lease.
 */
export const createHandover = () => {
  let own: OwnWorker | null = null;
  return {
    /** Null where the job has to be announced to all workers. */
    take: (): JobPlace | null => own?.take() ?? null,
    /** @returns detaches it */
    attach: (worker: OwnWorker): (() => void) => {
      own = worker;
      return () => {
        if (own === worker) own = null;
      };
    },
  };
};

export type Handover = ReturnType<typeof createHandover>;
