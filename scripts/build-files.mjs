// Writes the list of the files that a build produced, so that the start can refuse an incomplete
// copy. lib/http/whole-build.ts reads the list.
import { readdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/**
 * Paths that are not listed: output of `next build` for the next build and for developers, which
 * the running service does not read.
 */
const NOT_SERVED = /^\.next\/(cache|diagnostics|types|turbopack|trace)/;
const LIST = "build-files.json";

/**
 * Writes the paths of the build's files to dist/build-files.json.
 * @param {string} root the project's folder
 */
export const listBuildFiles = (root) => {
  const files = [".next", "dist"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true }),
    )
    // Lists symbolic links too, because `.next/node_modules` links to the folders of packages.
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !NOT_SERVED.test(path) && !path.startsWith("dist/build"))
    .sort();
  writeFileSync(join(root, "dist", LIST), JSON.stringify(files));
};
