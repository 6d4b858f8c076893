import type { NamedContract } from "@/lib/contracts/all";

const kebab = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const entry = ({
  file,
  operationId,
  contract: { method, path, mediaType },
}: NamedContract): string => {
  const fields = [`method: "${method}"`, `path: "${path}"`];
  if (mediaType !== undefined) fields.push(`mediaType: "${mediaType}"`);
  return `export const ${operationId}: CallOf<typeof ${file}.${operationId}> = { ${fields.join(", ")} };`;
};

/**
 * Source of `lib/api-client/calls.gen.ts`: the path of each route with the types of its contract,
 * without its schemas.
 */
export const callsSource = (contracts: readonly NamedContract[]): string =>
  [
    "// Written by scripts/gen-routes.ts from the contracts: `npm run generate`. Pages call the API with these, so that they load no schemas.",
    `import type { CallOf } from "@/lib/contracts/contract";`,
    ...[...new Set(contracts.map(({ file }) => file))].map(
      (file) => `import type * as ${file} from "@/lib/contracts/${kebab(file)}";`,
    ),
    "",
    ...contracts.map(entry).sort(),
    "",
  ].join("\n");
