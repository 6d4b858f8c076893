// Builds everything that `npm start` runs: Prisma's client, the route table, the pages, the server
// and the supervisor.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { listBuildFiles } from "./build-files.mjs";
import { compressStatic } from "./compress-static.mjs";
import { phase } from "./phase.mjs";
import {
  bin,
  checkNode,
  ensureInstalled,
  Refusal,
  report,
  ROOT,
  run,
  sourceDigest,
  stampBuild,
} from "./project.mjs";

const expect = async (what, result) => {
  const { code, output } = await result;
  if (code === 0) return;
  throw new Refusal(`${output}\n${what} failed; see above.`);
};

/**
 * Generates Prisma's client and the table of routes. Git does not track the client, and the table
 * changes with the files below app/api, so both are generated before each build.
 */
export const generate = async () => {
  await expect("`prisma generate`", run(bin("prisma"), ["generate"], { quiet: true }));
  await expect("The route table", run(bin("tsx"), ["scripts/gen-routes.ts"], { quiet: true }));
};

/** Resolves `@/x` to the project's own file. All other bare names stay imports of packages. */
const ownFiles = {
  name: "own-files",
  setup: (build) => {
    build.onResolve({ filter: /^@\// }, ({ path, ...rest }) =>
      build.resolve(`./${path.slice(2)}`, { kind: rest.kind, resolveDir: ROOT }),
    );
  },
};

/** Entry points of the supervisor and of the processes that the supervisor and the server start. */
export const SUPERVISOR = ["stack", "chains-process", "checkpoint-process", "prover-process"];

/**
 * Returns the package of an import: "viem" for "viem/accounts", "@prisma/client" for
 * "@prisma/client/runtime/client".
 */
const packageOf = (path) =>
  path
    .replace(/^node:/, "")
    .split("/")
    .slice(0, path.startsWith("@") ? 2 : 1)
    .join("/");

/** Source files of the programs in dist/. */
const ENTRIES = {
  server: "server.ts",
  pages: "pages.ts",
  stack: "lib/stack/main.ts",
  "chains-process": "lib/stack/chains-process.ts",
  "checkpoint-process": "lib/dev/devnet/journal/checkpoint-process.ts",
  "prover-process": "lib/adapters/privacy-pools/prover-process.ts",
};

/** Name of the program of the operator's commands. */
const COMMANDS = "causeway";

/** Options of esbuild that all programs in dist/ share. */
const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  sourcemap: true,
  logLevel: "warning",
  metafile: true,
  plugins: [ownFiles],
};

/** Removes the files of an earlier build, whose names have other hashes. */
const removeCommands = (folder) => {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name.startsWith(`${COMMANDS}-`)) rmSync(join(folder, name));
};

/**
 * Bundles the operator's commands. Each command gets files of its own, so that it loads only the
 * packages that it needs. These files lie beside the programs, because code looks for the programs
 * that it starts in its own folder.
 */
const bundleCommands = (build, outdir) => {
  removeCommands(resolve(ROOT, outdir));
  return build({
    ...OPTIONS,
    outdir,
    entryPoints: { [COMMANDS]: "scripts/causeway.ts" },
    splitting: true,
    chunkNames: `${COMMANDS}-[name]-[hash]`,
  });
};

/** @throws Refusal when the bundles load a package that a production install lacks */
const requireProductionPackages = (metafiles) => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const loaded = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ imports }) => imports.filter(({ external }) => external))
    .map(({ path }) => packageOf(path));
  const missing = [...new Set(loaded)].filter(
    (name) => !builtinModules.includes(name) && !dependencies[name],
  );
  if (missing.length > 0)
    throw new Refusal(
      `A production install lacks what the programs load. Move to "dependencies": ${missing.join(", ")}.`,
    );
};

/**
 * Bundles programs into a folder as ES modules, without the packages.
 * @param {readonly string[]} names
 * @param {string} outdir absolute, or relative to the project's folder
 */
export const bundleInto = async (names, outdir) => {
  const { build } = await import("esbuild");
  const programs = names.filter((name) => name !== COMMANDS);
  const builds = [];
  if (programs.length > 0) {
    const entryPoints = Object.fromEntries(programs.map((name) => [name, ENTRIES[name]]));
    builds.push(build({ ...OPTIONS, outdir, entryPoints }));
  }
  if (names.includes(COMMANDS)) builds.push(bundleCommands(build, outdir));
  const results = await Promise.all(builds);
  requireProductionPackages(results.map(({ metafile }) => metafile));
};

/** Bundles the server, the operator's commands and the supervisor into dist/. */
export const bundle = async (names = [...Object.keys(ENTRIES), COMMANDS]) => {
  await bundleInto(names, "dist");
  // Stops esbuild's helper process, which would otherwise run as long as the stack.
  const { stop } = await import("esbuild");
  await stop();
};

const buildPagesAndServer = async () => {
  const results = await Promise.allSettled([
    expect(
      "`next build`",
      run(bin("next"), ["build"], { quiet: true, env: { NEXT_TELEMETRY_DISABLED: "1" } }),
    ),
    bundle(),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  await compressStatic(join(ROOT, ".next", "static"));
};

export const build = async (say) => {
  // The digest is computed before the build, so that a file that changes during the build causes
  // another build at the next start.
  const digest = sourceDigest();
  rmSync(join(ROOT, "dist", "build.stamp"), { force: true });
  await phase(say, { name: "Prisma's client, routes" }, generate);
  await phase(say, { name: "Pages and server", hint: "about a minute" }, buildPagesAndServer);
  listBuildFiles(ROOT);
  stampBuild(digest);
};

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    checkNode();
    await ensureInstalled(console.log);
    await build(console.log);
  } catch (error) {
    report(error);
  }
}
