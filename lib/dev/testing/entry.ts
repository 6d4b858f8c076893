import { basename, join } from "node:path";
import { inject } from "vitest";
import type { EntryName } from "./entries";

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder with the bundles of this run; see `bundleEntries`. */
    entries: string;
  }
}

/** Path of the bundle of a program. */
export const entryFile = (name: EntryName): string => join(inject("entries"), `${name}.js`);

/**
 * Replaces `lib/platform/os/entry.ts` in test processes: uses the bundle, as in a build, instead
 * of the source under tsx.
 */
export const entryArguments = (_asking: string, source: string): string[] => [
  "--enable-source-maps",
  join(inject("entries"), `${basename(source)}.js`),
];
