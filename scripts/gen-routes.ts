import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { routesSource } from "../lib/http/routes-source";

const TARGET = "lib/routes.gen.ts";

/** Writes the list of route modules that server.ts serves. A unit test holds the file to the folder app/api. */
const main = (): void => {
  const source = routesSource("app");
  if (existsSync(TARGET) && readFileSync(TARGET, "utf8") === source) return;
  writeFileSync(TARGET, source);
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main();
