import type { Services } from "@/lib/composition";
import { startJobRunner } from "@/lib/platform/jobs/service";

export interface Worker {
  stop(): Promise<void>;
}

const RECONCILE_EVERY_MS = 1000;
const RECONCILE_LEASE_MS = 3000;
/**
 * Share of a task's interval after which the task is due again. It is less than 1, so that a worker
 * that checks after the interval does not treat its own last run as too recent.
 */
const DUE_SHARE = 0.9;
const SWEEP_EVERY_MS = 60_000;
/**
 * Time after the last sweep at which the next one is due. It is slightly less than the workers'
 * interval, so that no worker treats its own last sweep as too recent.
 */
const SWEEP_DUE_MS = 50_000;
const EXPIRE_EVERY_MS = 5000;
const SCHEDULES_EVERY_MS = 5000;
const AUDIT_LINKS_EVERY_MS = 1000;
const AUDIT_ANCHORS_EVERY_MS = 10 * 60_000;
const POLLS_PER_RECONCILE = 5;
const NOTIFY_EVERY_MS = 500;
const NOTICE_MAILS_EVERY_MS = 2000;
const GAS_EVERY_MS = 60_000;
const SIGNING_EVERY_MS = 2_000;
const GAS_LEASE_MS = 60_000;

/**
 * Runs `work` repeatedly, each time `everyMs` after it ended. `work` must not throw; it reports its
 * errors itself.
 */
const every = (everyMs: number, work: () => Promise<void>): (() => Promise<void>) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  let running = Promise.resolve();
  const turn = (): void => {
    running = work().finally(() => {
      if (!stopped) timer = setTimeout(turn, everyMs);
    });
  };
  timer = setTimeout(turn, everyMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
};

/**
 * Compares the stored state of the service's transactions with their chain. Only one worker at a
 * time runs this task.
 */
const reconcileEachTime = (
  { runAlone, transactions, signing, errorLog }: Services,
  { id: chainId, pollIntervalMs }: { readonly id: number; readonly pollIntervalMs: number },
): (() => Promise<void>) => {
  const everyMs = Math.max(RECONCILE_EVERY_MS, pollIntervalMs * POLLS_PER_RECONCILE);
  const task = {
    name: `reconcile:${String(chainId)}`,
    everyMs: everyMs * DUE_SHARE,
    leaseMs: RECONCILE_LEASE_MS,
  };
  return every(everyMs, async () => {
    const compare = async (): Promise<unknown> =>
      // While signing is off, no transaction may be sent or signed again.
      (await signing.state()).isAllowed ? transactions.reconcile(chainId) : 0;
    await runAlone(task, compare).catch((error: unknown) => {
      errorLog.warn(
        { err: error, chainId },
        "transactions could not be compared with the chain",
      );
    });
  });
};

/**
 * Creates and mails notifications, in parallel with other workers. Only one worker at a time checks
 * the balances of the accounts that pay network fees.
 */
const notifyEachTime = ({
  notifying,
  instances,
  runAlone,
  errorLog,
}: Services): (() => Promise<void>)[] => {
  const repeat = (
    everyMs: number,
    failed: string,
    work: () => Promise<unknown>,
  ): (() => Promise<void>) =>
    every(everyMs, async () => {
      await instances
        .start()
        .then(work)
        .catch((error: unknown) => errorLog.warn({ err: error }, failed));
    });
  const gas = { name: "gas-watch", everyMs: GAS_EVERY_MS * DUE_SHARE, leaseMs: GAS_LEASE_MS };
  return [
    repeat(NOTIFY_EVERY_MS, "notifications could not be made", () => notifying.makeDue()),
    repeat(NOTICE_MAILS_EVERY_MS, "notifications could not be mailed", () =>
      notifying.mailDue(),
    ),
    repeat(GAS_EVERY_MS, "coins for network fees could not be compared", () =>
      runAlone(gas, () => notifying.watchGas()),
    ),
  ];
};

/**
 * Logs when signing is turned off and on again. Each check also updates the time up to which the
 * database is known to be complete.
 */
const watchSigning = ({ signing, errorLog }: Services): (() => Promise<void>) => {
  let wasAllowed = true;
  return every(SIGNING_EVERY_MS, async () => {
    const state = await signing.state().catch(() => null);
    if (state === null || state.isAllowed === wasAllowed) return;
    wasAllowed = state.isAllowed;
    if (state.isAllowed) errorLog.warn({}, "signing is allowed again");
    else
      errorLog.error(
        { since: state.since, reason: state.reason },
        "nothing is signed until `npm run reconcile` has passed",
      );
  });
};

/**
 * Lease of one run of a search. After an outage a run may read many blocks and take longer, so its
 * lease is renewed while it runs.
 */
const DEPOSITS_LEASE_MS = 5000;
const DEPOSITS_EVERY_MS = 1000;
const COINS_EVERY_MS = 5000;
const POLLS_PER_COINS = 5;

/** Searches a chain for deposits. Only one worker at a time runs each of the two searches. */
const depositsOf = (
  { runAlone, deposits, instances, errorLog }: Services,
  { id: chainId, pollIntervalMs }: { readonly id: number; readonly pollIntervalMs: number },
): readonly (() => Promise<void>)[] => {
  const turn = (
    name: string,
    everyMs: number,
    work: () => Promise<void>,
  ): (() => Promise<void>) => {
    const task = {
      name: `${name}:${String(chainId)}`,
      everyMs: everyMs * DUE_SHARE,
      leaseMs: DEPOSITS_LEASE_MS,
    };
    return every(everyMs, async () => {
      await instances
        .start()
        .then(() => runAlone(task, work))
        .catch((error: unknown) => {
          errorLog.warn({ err: error, chainId }, "a chain could not be searched for deposits");
        });
    });
  };
  return [
    turn("deposits", Math.max(DEPOSITS_EVERY_MS, pollIntervalMs), () =>
      deposits.follow(chainId),
    ),
    turn("deposit-coins", Math.max(COINS_EVERY_MS, pollIntervalMs * POLLS_PER_COINS), () =>
      deposits.compareCoins(chainId),
    ),
  ];
};

/**
 * Periodic maintenance of the whole database. Each task may run in several workers at the same
 * time.
 */
const choresOf = (
  services: Services,
  signal: AbortSignal,
): readonly (() => Promise<void>)[] => {
  const { instances, errorLog } = services;
  const chore = (
    everyMs: number,
    failed: string,
    work: () => Promise<unknown>,
  ): (() => Promise<void>) =>
    every(everyMs, async () => {
      await work().catch((error: unknown) => errorLog.warn({ err: error }, failed));
    });
  return [
    chore(SWEEP_EVERY_MS, "expired rows could not be swept", () =>
      services.sweepWhenDue(SWEEP_DUE_MS, signal),
    ),
    chore(EXPIRE_EVERY_MS, "what ran out of time could not be ended", () =>
      instances.start().then(() => services.expireDue()),
    ),
    chore(SCHEDULES_EVERY_MS, "due schedules could not be run", () =>
      instances.start().then(() => services.runDueSchedules()),
    ),
    chore(AUDIT_LINKS_EVERY_MS, "audit rows could not be linked", () =>
      services.auditLinker.link(),
    ),
    chore(AUDIT_ANCHORS_EVERY_MS, "the audit log could not be anchored", () =>
      services.anchorAudit(),
    ),
  ];
};

interface WorkerOptions {
  readonly searchesDeposits?: boolean;
}

/** Drives operations, payouts and the service's transactions, in parallel with other instances. */
export const startWorker = (
  services: Services,
  { searchesDeposits = true }: WorkerOptions = {},
): Worker => {
  const { log, registry, instances } = services;
  instances.announceWorker();
  void services.distributorFaults().then((faults) => {
    for (const fault of faults) log.error(fault);
  });
  const jobs = startJobRunner({
    repository: {
      ...services.jobs,
      // The heartbeat must have started before a job is claimed, so that the database's time is
      // known.
      claim: async (input) => {
        await instances.start();
        return services.jobs.claim(input);
      },
    },
    handlers: services.measureJobs({
      operation: (id, signal) => services.operationDriver.drive(id, signal),
      privacy: (id, signal) => services.privacyRunner.run(id, signal),
      payout: (id, signal) => services.payoutRunner.run(id, signal),
      mail: (id) => services.mailOutbox.deliver(id),
      notification_channel: (id, signal) => services.channelDelivery.deliver(id, signal),
      push: (id, signal) => services.pushDelivery.deliver(id, signal),
      decision: (id) => services.decisionRunner.run(id),
      decided: (id) => services.decisionRunner.settle(id),
      export: (id, signal) => services.exportRunner.run(id, signal),
      contact_digest: (id) => services.contactDigest.run(id),
    }),
    workerId: instances.id,
    listener: services.listener,
    handover: services.handover,
    log: services.errorLog,
  });
  const stopping = new AbortController();
  const webhooks = services.startWebhooks(instances.id);
  const schedules = [
    ...registry
      .list()
      .flatMap((chain) => [
        reconcileEachTime(services, chain),
        ...(searchesDeposits ? depositsOf(services, chain) : []),
      ]),
    ...notifyEachTime(services),
    watchSigning(services),
    ...choresOf(services, stopping.signal),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([jobs.stop(), webhooks.stop(), ...schedules.map((stop) => stop())]);
      log.info("the worker stopped");
    },
  };
};
