/**
 * Compares the packages of a lock file with advisories in the OSV format
 * (https://ossf.github.io/osv-schema/).
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const PRERELEASE_PART = /^\d+$/;

const parse = (version) => {
  const [core, pre = ""] = version.split("+")[0].split(/-(.*)/s);
  return { core: core.split(".").map(Number), pre: pre === "" ? [] : pre.split(".") };
};

const comparePart = (a, b) => {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  const [isNumberA, isNumberB] = [PRERELEASE_PART.test(a), PRERELEASE_PART.test(b)];
  if (isNumberA && isNumberB) return Math.sign(Number(a) - Number(b));
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
};

/** Compares two versions by SemVer 2.0. Returns a negative number when `left` is lower. */
export const compareVersions = (left, right) => {
  const [a, b] = [parse(left), parse(right)];
  for (let at = 0; at < 3; at++) {
    const order = Math.sign((a.core[at] ?? 0) - (b.core[at] ?? 0));
    if (order !== 0) return order;
  }
  // A release is higher than its prereleases.
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let at = 0; at < Math.max(a.pre.length, b.pre.length); at++) {
    const order = comparePart(a.pre[at], b.pre[at]);
    if (order !== 0) return order;
  }
  return 0;
};

/**
 * Whether the range of an OSV advisory contains the version. The events are sorted: each
 * `introduced` opens a range of affected versions, and `fixed` or `last_affected` closes it.
 */
const isInRange = ({ type, events = [] }, version) => {
  if (type !== "SEMVER" && type !== "ECOSYSTEM") return false;
  let isAffected = false;
  for (const { introduced, fixed, last_affected: last } of events) {
    if (
      introduced !== undefined &&
      (introduced === "0" || compareVersions(version, introduced) >= 0)
    )
      isAffected = true;
    if (fixed !== undefined && compareVersions(version, fixed) >= 0) isAffected = false;
    if (last !== undefined && compareVersions(version, last) > 0) isAffected = false;
  }
  return isAffected;
};

/**
 * Lists the packages of an npm lock file (version 2 or 3), without links and without the project
 * itself.
 */
export const packagesOf = (lock) =>
  Object.entries(lock.packages ?? {}).flatMap(([path, { name, version, link }]) => {
    if (!path.includes("node_modules/") || link === true || version === undefined) return [];
    return [
      {
        name: name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
        version,
      },
    ];
  });

/** Finds the advisories that affect the packages. Ignores withdrawn advisories. */
export const findAffected = (packages, advisories) => {
  const byName = Map.groupBy
    ? Map.groupBy(packages, ({ name }) => name)
    : packages.reduce(
        (all, one) => all.set(one.name, [...(all.get(one.name) ?? []), one]),
        new Map(),
      );
  const found = new Map();
  for (const { id, summary = "", withdrawn, affected = [] } of advisories) {
    if (withdrawn !== undefined) continue;
    for (const { package: about, versions = [], ranges = [] } of affected) {
      if (about?.ecosystem !== "npm") continue;
      for (const { name, version } of byName.get(about.name) ?? [])
        if (versions.includes(version) || ranges.some((range) => isInRange(range, version)))
          found.set(`${id} ${name}@${version}`, { id, name, version, summary });
    }
  }
  return [...found.values()];
};

/**
 * Reads the advisories of a folder: one JSON file each, as in the archive `npm/all.zip` of osv.dev.
 * @throws Error when the folder contains none
 */
export const readAdvisories = async (folder) => {
  const files = (await readdir(folder, { recursive: true })).filter((file) =>
    file.endsWith(".json"),
  );
  if (files.length === 0)
    throw new Error(`${folder} holds no advisory: a file *.json in the OSV format.`);
  const advisories = [];
  for (const file of files)
    advisories.push(JSON.parse(await readFile(join(folder, file), "utf8")));
  return advisories;
};
