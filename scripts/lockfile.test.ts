/**
 * Checks that the lock file allows a fast installation, and does not depend on the registry that
 * its last author used.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, Locked>;
};
const fromRegistry = Object.entries(packages).filter(
  ([path, { version, link, inBundle }]) =>
    path.includes("node_modules/") && version && !link && !inBundle,
);

test("package-lock.json names the archive of each package and its hash, so that npm asks for no list of versions", () => {
  expect(fromRegistry.length).toBeGreaterThan(900);
  const unnamed = fromRegistry.filter(
    ([, { resolved, integrity }]) =>
      !resolved?.startsWith("https://registry.npmjs.org/") || !integrity,
  );
  expect(unnamed.map(([path]) => path)).toEqual([]);
});

test("each stage of the Dockerfile has the stubs that package-lock.json links to", () => {
  expect(
    Object.values(packages).some(
      ({ link, resolved }) => link && resolved === "vendor/unused-sdk",
    ),
  ).toBe(true);
  const stages = readFileSync("Dockerfile", "utf8")
    .split(/^FROM /m)
    .slice(1);
  expect(stages).toHaveLength(3);
  for (const stage of stages)
    expect(stage).toMatch(/^COPY (--from=packages \/app\/)?vendor \.\/vendor$/m);
});
