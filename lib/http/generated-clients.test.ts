/**
 * Two generators create clients from the OpenAPI document, and the bodies in the documents are
 * compiled against their types.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { codeFolder, compileProblems } from "@/lib/dev/testing/compile-typescript";
import { allFences } from "@/lib/dev/testing/documents";
import { callsOf, contractFor, type ShownCall } from "@/lib/dev/testing/shown-calls";
import { openApiDocument } from "./openapi";

/** Generating and compiling take some ten seconds of a free core. */
const TIMEOUT_MS = 180_000;

const folder = codeFolder();
/** Both files contain code instead of declarations, so that the compiler checks them too. */
const OPENAPI_TYPESCRIPT = join(folder, "openapi.ts");
const HEY_API = join(folder, "hey-api", "types.gen.ts");

beforeAll(async () => {
  const document = openApiDocument(namedContracts);
  writeFileSync(
    OPENAPI_TYPESCRIPT,
    astToString(
      await openapiTS(structuredClone(document) as unknown as OpenAPI3, { silent: true }),
    ),
  );
  await createClient({
    input: document,
    output: join(folder, "hey-api"),
    logs: { level: "silent" },
  });
}, TIMEOUT_MS);

/** The names of types and fields around a node, from the outermost. */
const placeOf = (node: ts.Node): string => {
  const names: string[] = [];
  for (let at = node; !ts.isSourceFile(at); at = at.parent)
    if (
      ts.isPropertySignature(at) ||
      ts.isTypeAliasDeclaration(at) ||
      ts.isInterfaceDeclaration(at)
    )
      names.unshift(at.name.getText());
  return names.join(".");
};

/** Places where the types of a file contain `unknown` or `any`. */
const untypedPlaces = (file: string): string[] => {
  const places: string[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.UnknownKeyword || node.kind === ts.SyntaxKind.AnyKeyword)
      places.push(placeOf(node));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true));
  return places;
};

describe("no type is unknown", () => {
  test("of openapi-typescript, but for the items of arrays in any JSON, and headers, which it always leaves open", () => {
    const places = untypedPlaces(OPENAPI_TYPESCRIPT);
    expect(places.filter((place) => !place.endsWith(".headers"))).toEqual([
      "components.schemas.JsonValue",
    ]);
  });

  test("of @hey-api/openapi-ts, but for the items of arrays in any JSON", () => {
    expect(untypedPlaces(HEY_API)).toEqual(["JsonValue"]);
  });
});

/** A program that assigns the body of a documented request to the types of both generators. */
const programOf = ({ path, method, body = "" }: ShownCall): string => {
  const shown = contractFor(method, path);
  const found = namedContracts.find(({ contract }) => contract === shown);
  if (found === undefined) throw new Error(`No operation has the path ${path}.`);
  const { operationId, contract } = found;
  const data = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Data`;
  const operation = `paths["${contract.path}"]["${contract.method.toLowerCase()}"]`;
  return [
    `import type { paths } from "./openapi";`,
    `import type { ${data} } from "./hey-api";`,
    `export const one: NonNullable<${operation}["requestBody"]>["content"]["application/json"] = ${body};`,
    `export const other: ${data}["body"] = ${body};`,
    "",
  ].join("\n");
};

const programs = new Map(
  allFences()
    .flatMap(callsOf)
    .filter(({ body }) => body !== undefined)
    .map((call, index) => [`body-${String(index)}.ts`, programOf(call)]),
);

test(
  "the generated clients compile in strict mode, and so do the bodies that the documents show",
  () => {
    const files = [...programs].map(([name, text]) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    });
    expect(
      compileProblems([OPENAPI_TYPESCRIPT, join(folder, "hey-api", "index.ts"), ...files]),
    ).toEqual([]);
    expect(programs.size).toBeGreaterThan(12);
  },
  TIMEOUT_MS,
);
