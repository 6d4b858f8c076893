import { readdirSync } from "node:fs";
import { join } from "node:path";

const NEXT_AUTH = "[...nextauth]";

/**
 * Every folder of `app/api` with a route file, as a path: `/api/operations/[id]`. Sorted, so that
 * the output is stable.
 */
const routePaths = (appFolder: string): string[] =>
  readdirSync(join(appFolder, "api"), { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith("/route.ts"))
    .map((file) => `/api/${file.slice(0, -"/route.ts".length)}`)
    .sort();

/** `/api/auth/api-keys/[id]` → `authApiKeysId`. */
const identifier = (path: string): string => {
  const words = path
    .slice("/api/".length)
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
  return words
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
};

const quoted = (values: readonly string[]): string =>
  values.map((value) => JSON.stringify(value)).join(", ");

/** Source of `lib/routes.gen.ts`, in the form that Prettier gives it. */
export const routesSource = (appFolder: string): string => {
  const all = routePaths(appFolder);
  const paths = all.filter((path) => !path.endsWith(NEXT_AUTH));
  const prefixes = all
    .filter((path) => path.endsWith(NEXT_AUTH))
    .map((path) => path.slice(0, -NEXT_AUTH.length));
  return [
    "// Written by scripts/gen-routes.ts from the folder app/api: `npm run generate`.",
    ...paths.map((path) => `import * as ${identifier(path)} from "@/app${path}/route";`),
    `import type { RouteEntry } from "@/lib/http/request-router";`,
    "",
    "export const routes: readonly RouteEntry[] = [",
    ...paths.map((path) => `  { path: ${JSON.stringify(path)}, module: ${identifier(path)} },`),
    "];",
    "",
    "/** Unknown paths below these are next-auth's. */",
    `export const fallbackPrefixes: readonly string[] = [${quoted(prefixes)}];`,
    "",
  ].join("\n");
};
