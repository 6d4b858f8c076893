// Deletes about 500 MB of installed packages' files that Causeway never loads.
import { readdirSync, readFileSync, rmSync, existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Source maps of packages, state files of compilers, and changelogs and similar texts. Causeway's
 * own source maps lie in dist/ and .next/ and are kept.
 */
const NEVER_LOADED =
  /\.(map|tsbuildinfo|flow)$|^(readme|changelog|history)(\.[\w-]+)*\.(md|markdown)$/i;

/**
 * Parts of packages that Causeway never loads, by the package's name: paths in the package, or
 * patterns of file names in a folder.
 */
const UNUSED_PARTS = {
  // Causeway uses only PostgreSQL. Prisma ships a query compiler for each database engine, each in
  // four forms.
  "@prisma/client": [
    { folder: "runtime", files: /\.(cockroachdb|mysql|sqlite|sqlserver)\./ },
    // The generated client imports the fast form of the compiler as an ES module; the other forms
    // stay unused.
    {
      folder: "runtime",
      files: /^query_compiler_(small_bg\.postgresql|fast_bg\.postgresql(\.wasm-base64)?\.js$)/,
    },
  ],
  prisma: [{ folder: "build", files: /\.(cockroachdb|mysql|sqlite|sqlserver)\.|^studio\./ }],
  // The privacy engine reads proving keys from this package; its code may not be imported (see
  // oxlint.config.mjs).
  "pp-artifacts": [
    "dist/esm",
    "dist/types",
    "src",
    { folder: "dist/node", files: /^index-.*\.js$/ },
  ],
  // Only Node loads this package, from dist/node.
  "@0xbow/privacy-pools-core-sdk": [
    "src",
    "dist/esm",
    { folder: "dist/types", files: /\.js$/ },
  ],
  // Input and full output of the compiler. The local chains read only the artifacts of each
  // contract.
  "@safe-global/safe-4337": ["build/artifacts/build-info"],
  "@safe-global/safe-contracts": ["build/artifacts/build-info"],
  "@uniswap/v2-core": ["build/Combined-Json.json"],
  // Icons are imported only by their plain names.
  "lucide-react": [
    { folder: ".", files: /^dynamic.*\.d\.m?ts$/ },
    { folder: "dist", files: /\.(prefixed|suffixed)\.d\.ts$/ },
  ],
  // The service sends dist/browser/standalone.js, which contains everything.
  "@scalar/api-reference": [
    { folder: "dist", folders: /^(?!browser$)/ },
    { folder: "dist/browser", files: /^(?!standalone\.js$)/ },
  ],
  "@redocly/config": [{ folder: ".", files: /^root-config-schema\.d\.ts$/ }],
  // The package.json of these packages refers only to built files; their sources lie beside them.
  viem: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  ox: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  permissionless: [{ folder: ".", files: /(?<!\.d)\.ts$/ }],
  bintrees: ["test"],
  zod: ["src"],
  effect: ["src"],
  // Next loads builds with React's experimental channel only when next.config.mjs requests it.
  next: [
    "dist/docs",
    { folder: "dist/compiled", folders: /-experimental$/ },
    { folder: "dist/compiled/next-server", files: /experimental/ },
  ],
  // Translations of the compiler's messages.
  typescript: [{ folder: "lib", folders: /^([a-z]{2}|[a-z]{2}-[a-z]{2})$/ }],
};

/** Lists every installed package with its folder, including nested node_modules. */
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

/**
 * Removes the TypeScript sources in a package's folder `src` when its package.json does not refer
 * to that folder. Keeps type declarations.
 */
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
  if (typeof part === "string")
    return rmSync(join(path, part), { recursive: true, force: true });
  const folder = join(path, part.folder);
  if (!existsSync(folder)) return;
  if (part.files) return removeFiles(folder, part.files);
  for (const name of readdirSync(folder))
    if (part.folders.test(name)) rmSync(join(folder, name), { recursive: true });
};

/**
 * Deletes the unused files from the project's node_modules.
 * @param {string} root the project's folder
 */
export const trimPackages = (root) => {
  const modules = join(root, "node_modules");
  removeFiles(modules, NEVER_LOADED);
  for (const { name, path } of packagesIn(modules)) {
    removeSources(path);
    for (const part of UNUSED_PARTS[name] ?? []) removePart(path, part);
  }
};
