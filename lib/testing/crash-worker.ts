import { createServices } from "@/lib/composition";
import { loadConfig } from "@/lib/config/env";
import { startWorker } from "@/lib/workers/runner";

/*
 * Entry of a process that works on jobs as an instance with ROLE=worker does, and is killed by the test that started it.
 * It is loaded and connected ahead and begins when it is told to, so that a test does not wait for it to start.
 */
const services = createServices(loadConfig());
process.once("message", () => {
  startWorker(services);
  // Tests that look for secrets in the log of workers need a log that holds something.
  services.log.info("the worker began");
  process.send?.("working");
});
// Nobody is left to kill it.
process.once("disconnect", () => process.exit(1));
await Promise.all([services.database.prisma.$queryRaw`SELECT 1`, services.database.pool.query("SELECT 1")]);
process.send?.("loaded");
