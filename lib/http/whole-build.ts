import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const LIST = join("dist", "build-files.json");
const files = z.array(z.string()).min(1);
const NAMED_MAX = 3;

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

const listed = (root: string): readonly string[] => {
  try {
    return files.parse(JSON.parse(readFileSync(join(root, LIST), "utf8")));
  } catch (cause) {
    throw new Error(`the build was not finished: ${LIST} cannot be read`, { cause });
  }
};

/**
 * Refuses a build that lacks a file. The pages load most files on first use, so a process of the
 * pages would start without them and then answer every request with 500. A copy without
 * `node_modules` folders lacks the links in `.next/node_modules`.
 * @throws Error that names the first missing files, and the links of the build that lead to no
 * package
 */
export const requireWholeBuild = (root: string): void => {
  const missing = listed(root).filter((path) => !existsSync(join(root, path)));
  if (missing.length === 0) return;
  const named = missing.slice(0, NAMED_MAX).join(", ");
  const more =
    missing.length > NAMED_MAX ? ` and ${String(missing.length - NAMED_MAX)} more` : "";
  const isPackage = missing.some((path) => isLink(join(root, path)));
  const reason = isPackage
    ? "packages that the build links to are not installed"
    : "the build is incomplete";
  throw new Error(`${reason}: ${named}${more} ${missing.length === 1 ? "is" : "are"} missing`);
};
