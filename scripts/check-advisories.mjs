/**
 * `npm run check:advisories -- FOLDER`: exits with 1 when an advisory of the folder concerns a
 * package of the lock file.
 */
import { readFile } from "node:fs/promises";
import { findAffected, packagesOf, readAdvisories } from "./advisories.mjs";

const [folder, lockFile = "package-lock.json"] = process.argv.slice(2);
if (folder === undefined) {
  console.error(
    "Name the folder of an OSV database: npm run check:advisories -- FOLDER. Nothing was checked.",
  );
  process.exit(2);
}
const packages = packagesOf(JSON.parse(await readFile(lockFile, "utf8")));
const advisories = await readAdvisories(folder);
const affected = findAffected(packages, advisories);
for (const { id, name, version, summary } of affected)
  console.log(`${id}: ${name}@${version}. ${summary}`);
console.log(
  `${packages.length} packages, ${advisories.length} advisories, ${affected.length} affected.`,
);
process.exitCode = affected.length === 0 ? 0 : 1;
