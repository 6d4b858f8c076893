// Deletes files of installed packages that nothing of Causeway loads. They are about 500 MB of what npm unpacks.
import { readdirSync, readFileSync, rmSync, existsSync } from "node:fs";
import { join } from "node:path";

/** Source maps of packages, states of their own compilers, and texts about them. Causeway's own source maps lie in dist/ and .next/. */
const NEVER_LOADED = /\.(map|tsbuildinfo|flow)$|^(readme|changelog|history)(\.[\w-]+)*\.(md|markdown)$/i;

/** Parts of packages that are never loaded, by the package's name: paths in it, or patterns of file names in a folder. */
const UNUSED_PARTS = {
  // Causeway runs on PostgreSQL alone; Prisma ships a query compiler for each engine, each in four forms.
  "@prisma/client": [
    { folder: "runtime", files: /\.(cockroachdb|mysql|sqlite|sqlserver)\./ },
    // The generated client asks for the compiler's fast form as an ES module.
    { folder: "runtime", files: /^query_compiler_(small_bg\.postgresql|fast_bg\.postgresql(\.wasm-base64)?\.js$)/ },
  ],
  prisma: [{ folder: "build", files: /\.(cockroachdb|mysql|sqlite|sqlserver)\.|^studio\./ }],
  // The proving keys are read from here; the code of that version may not be imported (see oxlint.config.mjs).
  "pp-artifacts": ["dist/esm", "dist/types", "src", { folder: "dist/node", files: /^index-.*\.js$/ }],
  // Only Node loads it, from dist/node.
  "@0xbow/privacy-pools-core-sdk": ["src", "dist/esm", { folder: "dist/types", files: /\.js$/ }],
  // What the compiler was given and said; the devnet reads the contracts' own artifacts.
  "@safe-global/safe-4337": ["build/artifacts/build-info"],
  "@safe-global/safe-contracts": ["build/artifacts/build-info"],
  "@uniswap/v2-core": ["build/Combined-Json.json"],
  // Icons are imported by their names alone.
  "lucide-react": [
    { folder: ".", files: /^dynamic.*\.d\.m?ts$/ },
    { folder: "dist", files: /\.(prefixed|suffixed)\.d\.ts$/ },
  ],
  // Served as it is: dist/browser/standalone.js holds everything.
  "@scalar/api-reference": [
    { folder: "dist", folders: /^(?!browser$)/ },
    { folder: "dist/browser", files: /^(?!standalone\.js$)/ },
  ],
  "@redocly/config": [{ folder: ".", files: /^root-config-schema\.d\.ts$/ }],
  // Their package.json names the built files alone; the sources lie beside them.
  viem: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  ox: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  permissionless: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  bintrees: ["test"],
  zod: ["src"],
  effect: ["src"],
  // Next loads the builds for React's experimental channel only when next.config.mjs asks for it.
  next: [
    "dist/docs",
    { folder: "dist/compiled", folders: /-experimental$/ },
    { folder: "dist/compiled/next-server", files: /experimental/ },
  ],
  // Translations of the compiler's messages.
  typescript: [{ folder: "lib", folders: /^([a-z]{2}|[a-z]{2}-[a-z]{2})$/ }],
};

/** Every installed package with its folder, also those in the node_modules of other packages. */
const packagesIn = (folder, scope = "") =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .flatMap(({ name }) => {
      const path = join(folder, name);
      if (name.startsWith("@")) return packagesIn(path, `${name}/`);
      const own = join(path, "node_modules");
      return [{ name: `${scope}${name}`, path }, ...(existsSync(own) ? packagesIn(own) : [])];
    });

const removeFiles = (folder, pattern) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(path, pattern);
    else if (pattern.test(entry.name)) rmSync(path);
  }
};

/** A package's TypeScript sources are of no use when its package.json names its built files alone. */
const removeSources = (path) => {
  const sources = join(path, "src");
  if (!existsSync(sources) || !existsSync(join(path, "package.json"))) return;
  const { main, module, types, typings, exports, browser, bin } = JSON.parse(
    readFileSync(join(path, "package.json"), "utf8"),
  );
  const entries = JSON.stringify([main, module, types, typings, exports, browser, bin]);
  if (main === undefined && exports === undefined) return;
  if (!entries.includes("src/")) removeFiles(sources, /^(?!.*\.d\.[cm]?ts$).*\.[cm]?tsx?$/);
};

const removePart = (path, part) => {
  if (typeof part === "string") return rmSync(join(path, part), { recursive: true, force: true });
  const folder = join(path, part.folder);
  if (!existsSync(folder)) return;
  if (part.files) return removeFiles(folder, part.files);
  for (const name of readdirSync(folder)) if (part.folders.test(name)) rmSync(join(folder, name), { recursive: true });
};

/** @param {string} root the project's folder */
export const trimPackages = (root) => {
  const modules = join(root, "node_modules");
  removeFiles(modules, NEVER_LOADED);
  for (const { name, path } of packagesIn(modules)) {
    removeSources(path);
    for (const part of UNUSED_PARTS[name] ?? []) removePart(path, part);
  }
};
