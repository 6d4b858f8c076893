import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServices, setServices, type Services } from "@/lib/composition";
import { loadConfig, type Config } from "@/lib/platform/config/env";
import { outageOf } from "@/lib/core/outage";
import { createFastServer, type FastServer } from "@/lib/http/fast-server";
import { createPageHeaders } from "@/lib/http/headers";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import { startMetricsServer } from "@/lib/http/metrics-server";
import { startPagesProcess, type PagesProcess } from "@/lib/http/pages-process";
import { createStaticFiles } from "@/lib/http/static-files";
import { requireWholeBuild } from "@/lib/http/whole-build";
import { fallbackPrefixes, routes } from "@/lib/routes.gen";
import { startTracing } from "@/lib/platform/telemetry/otlp";
import { startWorker } from "@/lib/workers/runner";

const CLOSE_DEADLINE_MS = 5_000;
/**
 * Deadline for the whole shutdown, even when the database does not answer. It is shorter than the
 * time after which the supervisor kills this process.
 */
const STOP_DEADLINE_MS = 8_000;

/**
 * Timeout of the readiness check of the pages. Next needs more time than a database does,
 * especially to render the first pages.
 */
const PAGE_TIMEOUT_MS = 5_000;
const BUILD_ADVICE =
  "Build it first: npm run build. A copy needs dist and all of .next, with .next/node_modules; its packages come from npm ci";

/**
 * A part of the service could not start. The message names the part and the reason; `advice` names
 * the remedy.
 */
class StartError extends Error {
  constructor(
    readonly part: string,
    readonly advice: string,
    cause: unknown,
  ) {
    super(
      `Causeway did not start. ${part}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.name = "StartError";
  }
}

/** Runs `start`; turns its failure into a StartError that names the part and the remedy. */
const starting = async <T>(
  part: string,
  advice: string,
  start: () => T | Promise<T>,
): Promise<T> => {
  try {
    return await start();
  } catch (error) {
    throw new StartError(part, advice, error);
  }
};

interface Part {
  stop(): Promise<void>;
}

const listen = async (fast: FastServer, config: Config): Promise<number> => {
  fast.server.listen(config.port, config.host);
  // `once` rejects with the server's "error" event, for instance EADDRINUSE.
  await once(fast.server, "listening");
  return (fast.server.address() as AddressInfo).port;
};

const startPages = (config: Config): Promise<PagesProcess> => {
  const logger = getLogger(config.logLevel);
  return startPagesProcess({
    entry: fileURLToPath(new URL("./pages.js", import.meta.url)),
    publicUrl: config.publicUrl,
    onEvent: (event) => {
      if (event.type === "ready") logger.info("the pages are there again");
      else
        logger.error(
          { reason: event.reason, pauseMs: event.pauseMs },
          "the pages ended; they are started again",
        );
    },
  });
};

const startWeb = async (services: Services): Promise<Part & { port: number }> => {
  const { config } = services;
  const pages = await starting("The web app", BUILD_ADVICE, () => startPages(config));
  services.readiness.add({
    name: "pages",
    timeoutMs: PAGE_TIMEOUT_MS,
    check: (signal) => pages.check(signal),
  });
  const fast = createFastServer({
    routes,
    fallbackPrefixes,
    pages: (request) => pages.handle(request),
    files: createStaticFiles(join(process.cwd(), ".next", "static")),
    pageHeaders: createPageHeaders({
      publicUrl: config.publicUrl,
      chains: config.chains,
      walletConnect: config.walletConnectProjectId !== null,
    }),
    services,
  });
  const port = await starting(
    "The web server",
    `Free ${config.host}:${String(config.port)}, or set PORT`,
    () => listen(fast, config),
  );
  return {
    port,
    stop: async () => {
      await fast.close(CLOSE_DEADLINE_MS);
      await pages.stop();
    },
  };
};

/** Serves the metrics of a worker process. A web process serves them through its web server. */
const startMetrics = async ({ config, metrics }: Services): Promise<Part | null> => {
  const { role, metricsPort: port, host, metricsToken: token, publicUrl } = config;
  if (role !== "worker" || port === null) return null;
  return starting("The metrics", `Free ${host}:${String(port)}, or set METRICS_PORT`, () =>
    startMetricsServer({ host, port, token, publicUrl, render: metrics.render }),
  );
};

const stopOnce = (
  parts: readonly Part[],
  services: Services,
  logLevel: string,
): (() => void) => {
  const logger = getLogger(logLevel);
  let stopping = false;
  const stop = async (): Promise<void> => {
    logger.info("stopping");
    const results = await Promise.allSettled(parts.map((part) => part.stop()));
    for (const result of results)
      if (result.status === "rejected")
        logger.error({ err: loggedError(result.reason) }, "a part did not stop cleanly");
    await services.close();
    logger.info("stopped");
    logger.flush();
  };
  return () => {
    // A second signal ends the process at once.
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => {
      logger.error(
        "not every part stopped in time; what they worked on is taken over by the next start",
      );
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
};

/**
 * Checks that every key that the database needs is configured. An unavailable database does not
 * prevent the start: keys are then checked when they are first used.
 */
const requireKeysIfReachable = async (services: Services, config: Config): Promise<void> => {
  try {
    await services.requireKeys();
  } catch (error) {
    if (outageOf(error) !== "database") throw error;
    getLogger(config.logLevel).warn(
      { err: loggedError(error) },
      "the keys were not checked: the database is away",
    );
  }
};

const lines = (problems: readonly string[]): string =>
  problems.map((problem) => `\n  - ${problem}`).join("");

/**
 * Compares the configuration with the chains and the database.
 * @throws Error that lists every contradiction
 */
const requireSoundStart = async (services: Services, config: Config): Promise<void> => {
  const { faults, warnings } = await services.checkStart();
  if (faults.length > 0)
    throw new Error(`${String(faults.length)} fault(s):${lines([...faults, ...warnings])}`);
  if (warnings.length > 0)
    getLogger(config.logLevel).warn(`The start found:${lines(warnings)}`);
};

const MEASURE_EVERY_MS = 60 * 60_000;

/**
 * Measures the chains now and each hour, and warns about facts that the configuration misstates.
 * Local chains are not measured, because they make blocks when a test or a person wants them.
 */
const measureChains = (services: Services, config: Config): void => {
  if (config.devnet) return;
  const measure = (): void =>
    void services.measureChains().then((drifts) => {
      if (drifts.length > 0)
        getLogger(config.logLevel).warn(`Facts about chains differ:${lines(drifts)}`);
    });
  measure();
  setInterval(measure, MEASURE_EVERY_MS).unref();
};

const main = async (): Promise<void> => {
  const config = await starting(
    "The configuration",
    "Correct the environment; docs/operations.md explains each variable",
    () => loadConfig(),
  );
  if (config.role !== "worker")
    await starting("The web app", BUILD_ADVICE, () => requireWholeBuild(process.cwd()));
  const tracing = config.tracing === null ? null : await startTracing(config.tracing);
  const services = await starting(
    "The services",
    "See the reason; most often the database is not to be reached",
    () => createServices(config),
  );
  setServices(services);
  // Reads the database's time. When the database does not answer yet, the time is read later,
  // before any work begins.
  await services.instances
    .start()
    .catch((error: unknown) =>
      services.errorLog.warn({ err: error }, "the database does not answer yet"),
    );
  await starting(
    "The keys",
    "Configure every key that the database needs; see docs/operations.md",
    () => requireKeysIfReachable(services, config),
  );
  await starting(
    "The configured chains and database",
    "Correct CHAINS_FILE or the environment",
    () => requireSoundStart(services, config),
  );
  measureChains(services, config);
  // The web server starts before the worker, so that a port in use ends the process before any work
  // begins.
  const web = config.role === "worker" ? null : await startWeb(services);
  const metrics = await startMetrics(services);
  const worker =
    config.role === "web"
      ? null
      : await starting(
          "The worker",
          "See the reason; it needs the database and its migrations",
          () => startWorker(services),
        );
  const stop = stopOnce(
    [web, metrics, worker, tracing].filter((part) => part !== null),
    services,
    config.logLevel,
  );
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // A supervisor that is killed sends no signal, but its IPC channel closes. Without this handler,
  // the process would keep running and nothing would stop it.
  process.on("disconnect", stop);
  const port = web?.port ?? null;
  getLogger(config.logLevel).info({ ready: true, port, role: config.role }, "ready");
  process.send?.({ type: "ready", port });
};

/**
 * Prints only the message and stack of a fatal error. Node.js would print all properties, and the
 * error of a failed chain call contains the RPC URL with its API key.
 */
const endOn = (error: unknown): void => {
  const { stack, message } = loggedError(error);
  process.stderr.write(`${stack ?? message}\n`);
  process.exit(1);
};
process.on("uncaughtException", endOn);
process.on("unhandledRejection", endOn);

main().catch((error: unknown) => {
  const advice = error instanceof StartError ? `\nWhat to do: ${error.advice}` : "";
  process.stderr.write(`${loggedError(error).message}${advice}\n`);
  process.exit(1);
});
