// `npm start` and `npm run dev`: installs packages and builds when necessary, then starts and
// supervises all processes of the stack.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onParentEnd } from "../lib/platform/os/process.mjs";
import { phase } from "./phase.mjs";
import {
  checkNode,
  dataDir,
  endChildren,
  ensureInstalled,
  isBuilt,
  Refusal,
  report,
  ROOT,
  runningStack,
} from "./project.mjs";

const dev = process.argv.includes("--dev");

const main = async () => {
  process.chdir(ROOT);
  checkNode();
  if (existsSync(join(ROOT, ".env"))) process.loadEnvFile(join(ROOT, ".env"));
  const other = runningStack();
  // This check comes before the build, because a build would replace the files of the running
  // stack.
  if (other)
    throw new Refusal(
      `Causeway is already running: ${other.url ?? "starting"} (pid ${other.pid}).`,
    );
  await ensureInstalled(console.log);
  const { build, bundle, generate, SUPERVISOR } = await import("./build.mjs");
  if (dev) {
    await phase(console.log, { name: "Prisma's client, routes" }, generate);
    await phase(console.log, { name: "Supervisor" }, () => bundle(SUPERVISOR));
  } else if (!isBuilt()) {
    await build(console.log);
  }
  const { runStack } = await import(pathToFileURL(join(ROOT, "dist", "stack.js")).href);
  building = false;
  process.removeListener("SIGINT", interrupted);
  process.removeListener("SIGTERM", interrupted);
  process.exit(
    await runStack({ root: ROOT, dataDir: dataDir(), environment: process.env, dev }),
  );
};

const interrupted = () => {
  endChildren("SIGKILL");
  process.exit(130);
};
process.on("SIGINT", interrupted);
process.on("SIGTERM", interrupted);
// npm's shell ends on SIGTERM without passing the signal on. This handler ends the build when the
// shell has ended. A running stack watches its parent itself.
let building = true;
if (process.env.npm_lifecycle_event) onParentEnd(() => building && interrupted());

try {
  await main();
} catch (error) {
  report(error);
  process.exit();
}
