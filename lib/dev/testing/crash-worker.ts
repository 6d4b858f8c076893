import { createServices } from "@/lib/composition";
import { loadConfig } from "@/lib/platform/config/env";
import { startWorker } from "@/lib/workers/runner";

/*
 * Entry of a process that runs jobs like an instance with ROLE=worker, until the test that started
 * it kills it. It is loaded and connected in advance and begins on a message, so that a test does
 * not wait for its start.
 */
const services = createServices(loadConfig());
process.once("message", () => {
  startWorker(services);
  // Tests that search the workers' log for secrets need a log that is not empty.
  services.log.info("the worker began");
  process.send?.("working");
});
// Without the parent nobody would kill this process.
process.once("disconnect", () => process.exit(1));
await Promise.all([
  services.database.prisma.$queryRaw`SELECT 1`,
  services.database.pool.query("SELECT 1"),
]);
process.send?.("loaded");
