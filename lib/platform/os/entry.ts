import { fileURLToPath } from "node:url";

/**
 * Arguments for `node` to run an entry file. In a build the entry file is the bundle beside the
 * caller's bundle; otherwise it is the source file, which runs under tsx.
 * @param asking `import.meta.url` of the caller
 * @param source path of the entry relative to the caller, without extension
 */
export const entryArguments = (asking: string, source: string): string[] => {
  if (asking.endsWith(".ts"))
    return ["--import", "tsx", fileURLToPath(new URL(`${source}.ts`, asking))];
  const name = source.slice(source.lastIndexOf("/") + 1);
  return ["--enable-source-maps", fileURLToPath(new URL(`./${name}.js`, asking))];
};
