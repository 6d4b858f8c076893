import { fileURLToPath } from "node:url";

/**
 * Arguments for `node` to run an entry file: beside the bundle that asks in a build, from its source under tsx where sources run.
 * @param asking the `import.meta.url` of the file that asks @param source path of the entry, relative to it, without extension
 */
export const entryArguments = (asking: string, source: string): string[] => {
  if (asking.endsWith(".ts")) return ["--import", "tsx", fileURLToPath(new URL(`${source}.ts`, asking))];
  const name = source.slice(source.lastIndexOf("/") + 1);
  return ["--enable-source-maps", fileURLToPath(new URL(`./${name}.js`, asking))];
};
