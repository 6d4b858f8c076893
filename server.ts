import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServices, setServices, type Services } from "@/lib/composition";
import { loadConfig, type Config } from "@/lib/config/env";
import { outageOf } from "@/lib/core/outage";
import { createFastServer, type FastServer } from "@/lib/http/fast-server";
import { createPageHeaders } from "@/lib/http/headers";
import { getLogger, loggedError } from "@/lib/log/logger";
import { startMetricsServer } from "@/lib/http/metrics-server";
import { startPagesProcess, type PagesProcess } from "@/lib/http/pages-process";
import { createStaticFiles } from "@/lib/http/static-files";
import { fallbackPrefixes, routes } from "@/lib/routes.gen";
import { startTracing } from "@/lib/telemetry/otlp";
import { startWorker } from "@/lib/workers/runner";

const CLOSE_DEADLINE_MS = 5_000;
/** Limit for the whole stop, also when the database does not answer. Shorter than the supervisor's wait before it kills. */
const STOP_DEADLINE_MS = 8_000;

/** A part could not start. The message names the part and the remedy; the reason is the cause. */
class StartError extends Error {
  constructor(
    readonly part: string,
    readonly advice: string,
    cause: unknown,
  ) {
    super(`Causeway did not start. ${part}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StartError";
  }
}

/** Adds the name of the part that is starting to its failure. */
const starting = async <T>(part: string, advice: string, start: () => T | Promise<T>): Promise<T> => {
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
  // Rejects with the server's error, for instance EADDRINUSE.
  await once(fast.server, "listening");
  return (fast.server.address() as AddressInfo).port;
};

const startPages = (config: Config): Promise<PagesProcess> => {
  const logger = getLogger(config.logLevel);
  return startPagesProcess({
    entry: fileURLToPath(new URL("./pages.js", import.meta.url)),
    onEvent: (event) => {
      if (event.type === "ready") logger.info("the pages are there again");
      else logger.error({ reason: event.reason, pauseMs: event.pauseMs }, "the pages ended; they are started again");
    },
  });
};

const startWeb = async (services: Services): Promise<Part & { port: number }> => {
  const { config } = services;
  const pages = await starting("The web app", "Build it first: npm run build", () => startPages(config));
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
  const port = await starting("The web server", `Free ${config.host}:${String(config.port)}, or set PORT`, () =>
    listen(fast, config),
  );
  return {
    port,
    stop: async () => {
      await fast.close(CLOSE_DEADLINE_MS);
      await pages.stop();
    },
  };
};

/** For a worker without a web server. */
const startMetrics = async ({ config, metrics }: Services): Promise<Part | null> => {
  const { role, metricsPort: port, host, metricsToken: token } = config;
  if (role !== "worker" || port === null) return null;
  return starting("The metrics", `Free ${host}:${String(port)}, or set METRICS_PORT`, () =>
    startMetricsServer({ host, port, token, render: metrics.render }),
  );
};

const stopOnce = (parts: readonly Part[], services: Services, logLevel: string): (() => void) => {
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
      logger.error("not every part stopped in time; what they worked on is taken over by the next start");
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
};

/** An unavailable database must not prevent the start; keys are then checked when they are used. */
const requireKeysIfReachable = async (services: Services, config: Config): Promise<void> => {
  try {
    await services.requireKeys();
  } catch (error) {
    if (outageOf(error) !== "database") throw error;
    getLogger(config.logLevel).warn({ err: loggedError(error) }, "the keys were not checked: the database is away");
  }
};

const lines = (problems: readonly string[]): string => problems.map((problem) => `\n  - ${problem}`).join("");

/** @throws Error that lists everything that is wrong, when the configuration contradicts a chain or the database */
const requireSoundStart = async (services: Services, config: Config): Promise<void> => {
  const { faults, warnings } = await services.checkStart();
  if (faults.length > 0) throw new Error(`${String(faults.length)} fault(s):${lines([...faults, ...warnings])}`);
  if (warnings.length > 0) getLogger(config.logLevel).warn(`The start found:${lines(warnings)}`);
};

const main = async (): Promise<void> => {
  const config = await starting(
    "The configuration",
    "Correct the environment; docs/operations.md explains each variable",
    () => loadConfig(),
  );
  const tracing = config.tracing === null ? null : await startTracing(config.tracing);
  const services = await starting("The services", "See the reason; most often the database is not to be reached", () =>
    createServices(config),
  );
  setServices(services);
  // Reads the database's time. Without the database it is read later, before any work begins.
  await services.instances
    .start()
    .catch((error: unknown) => services.errorLog.warn({ err: error }, "the database does not answer yet"));
  await starting("The keys", "Configure every key that the database needs; see docs/operations.md", () =>
    requireKeysIfReachable(services, config),
  );
  await starting("The configured chains and database", "Correct CHAINS_FILE or the environment", () =>
    requireSoundStart(services, config),
  );
  // The web server starts first, so that a taken port leaves no work begun.
  const web = config.role === "worker" ? null : await startWeb(services);
  const metrics = await startMetrics(services);
  const worker =
    config.role === "web"
      ? null
      : await starting("The worker", "See the reason; it needs the database and its migrations", () =>
          startWorker(services),
        );
  const stop = stopOnce(
    [web, metrics, worker, tracing].filter((part) => part !== null),
    services,
    config.logLevel,
  );
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // A supervisor that was killed cannot say so; its channel closes, and nobody would stop us later.
  process.on("disconnect", stop);
  const port = web?.port ?? null;
  getLogger(config.logLevel).info({ ready: true, port, role: config.role }, "ready");
  process.send?.({ type: "ready", port });
};

/** Node.js would write the error with all its properties, and those of a failed call to a chain hold the URL with its key. */
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
