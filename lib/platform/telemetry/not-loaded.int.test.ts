import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Inside the project, so that packages are found. */
const folder = mkdtempSync(join(ROOT, "node_modules", ".cache-telemetry-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LISTED = `
  import { createRequire } from "node:module";
  import { createServices } from "@/lib/composition";
  import { startTracing } from "@/lib/platform/telemetry/otlp";
  const loaded = () => {
    const files = Object.keys(createRequire(import.meta.url).cache);
    return [...new Set(files.flatMap((file) => /@opentelemetry\\/[^/]+/.exec(file) ?? []))].sort();
  };
  const before = loaded();
  await startTracing({ endpoint: "http://127.0.0.1:9", headers: {}, serviceName: "x" });
  console.log(JSON.stringify({ before, after: loaded(), made: typeof createServices }));
  process.exit(0);
`;

test("a process that traces nothing loads no package of OpenTelemetry but the interface that prom-client loads", async () => {
  const outfile = join(folder, "entry.mjs");
  // Bundled like server.ts in scripts/build.mjs, where a static import would be hoisted.
  await build({
    absWorkingDir: ROOT,
    stdin: { contents: LISTED, resolveDir: ROOT, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    alias: { "@/lib": join(ROOT, "lib") },
    logLevel: "warning",
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { cwd: ROOT });
  const { before, after } = JSON.parse(stdout) as { before: string[]; after: string[] };
  expect(before).toEqual(["@opentelemetry/api"]);
  expect(after).toContain("@opentelemetry/sdk-trace-base");
});
