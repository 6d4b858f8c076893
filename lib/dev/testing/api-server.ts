import type { AddressInfo } from "node:net";
import { createServices, setServices } from "@/lib/composition";
import { loadConfig } from "@/lib/platform/config/env";
import { createFastServer } from "@/lib/http/fast-server";
import { fallbackPrefixes, routes } from "@/lib/routes.gen";
import { startTracing } from "@/lib/platform/telemetry/otlp";
import { startWorker } from "@/lib/workers/runner";

/*
 * Entry of a process that serves the API and runs jobs like an instance, without the pages. It
 * sends its port to the test that started it.
 */
const config = loadConfig();
if (config.tracing !== null) await startTracing(config.tracing);
const services = createServices(config);
setServices(services);
const { server } = createFastServer({
  routes,
  fallbackPrefixes,
  pages: ({ outgoing }) => void outgoing.writeHead(404).end(),
  pageHeaders: () => ({}),
  services,
});
// With ROLE=web another process works on the jobs.
if (config.role !== "web") startWorker(services);
server.listen(0, "127.0.0.1", () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
// Without the parent nobody would end this process.
process.once("disconnect", () => process.exit(1));
