import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { callsSource } from "../lib/api-client/calls-source";
import { namedContracts } from "../lib/contracts/all";
import { routesSource } from "../lib/http/routes-source";

const write = (target: string, source: string): void => {
  if (existsSync(target) && readFileSync(target, "utf8") === source) return;
  writeFileSync(target, source);
};

/**
 * Writes the list of route modules that server.ts serves, and the calls of the API client. Unit
 * tests compare both files with app/api and the contracts.
 */
const main = (): void => {
  write("lib/routes.gen.ts", routesSource("app"));
  write("lib/api-client/calls.gen.ts", callsSource(namedContracts));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  main();
