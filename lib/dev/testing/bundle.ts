import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterFile } from "./after-file";

/**
 * Code at the beginning of each bundle. It defines `require`, `__filename` and `__dirname`, which
 * packages use that are not ES modules.
 */
const BANNER = [
  'import { createRequire as requireFrom } from "node:module";',
  'import { dirname as folderOf } from "node:path";',
  'import { fileURLToPath as pathOf } from "node:url";',
  "const require = requireFrom(import.meta.url);",
  "const __filename = pathOf(import.meta.url);",
  "const __dirname = folderOf(__filename);",
].join("\n");

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Bundles an entry into one file that `node` runs. The entry is a path (absolute, or relative to
 * the project's folder) or code. A bundled process starts with a quarter of the work that it needs
 * under tsx, so bundle programs that a test file starts several times. The folder of the bundle is
 * removed after the test file.
 */
export const bundled = async (entry: string | { readonly code: string }): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-bundle-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "entry.mjs");
  await build({
    absWorkingDir: ROOT,
    ...(typeof entry === "string"
      ? { entryPoints: [entry] }
      : { stdin: { contents: entry.code, resolveDir: ROOT, loader: "ts" as const } }),
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["pg-native"],
    banner: { js: BANNER },
    alias: { "@": ROOT.replace(/\/$/, "") },
    logLevel: "warning",
  });
  return outfile;
};
